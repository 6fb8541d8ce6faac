"""All results of a model together: what they support about a head, heads like it, heads that a question is about."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis import methods
from analysis.errors import HeadError
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.comparison import failing
from analysis.method import Method
from analysis.models.card import HeadId, ModelCard
from analysis.relations.judging import without_missed_pairs
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.provenance import JsonObject
from analysis.results.scores import Floats, Scores

MOST_ANSWERS = 40
_MOST_SENTENCES = 6  # in the paragraph about a head
_MOST_OF_A_METHOD = 3  # of them, so that what a head does leaves room for whether it matters
_MOST_ALIKE = 6
_MOST_REASONS = 2  # numbers for which two heads are alike
_AT_ONCE = 64  # heads that are compared with all of another model: more would fill the memory
_LEAST_ALIKE = 0.3  # cosine from which two heads are called alike


@dataclass(frozen=True)
class SimilarHead:
    """A head whose scores are like another's."""

    head: HeadId
    cosine: float
    by: tuple[str, ...]  # the numbers that add most to the cosine, the first one most

    def to_plain(self) -> JsonObject:
        """As returned by the API and `--json`."""
        return {"head": str(self.head), "cosine": round(self.cosine, 3), "by": list(self.by)}


@dataclass(frozen=True)
class Answer:
    """A head that a question is about, with all that was found of it, the strongest first."""

    head: HeadId
    findings: tuple[Finding, ...]

    @property
    def order(self) -> tuple[float, ...]:
        """The order of the first finding: answers are sorted by it."""
        return min((finding.order for finding in self.findings), default=(0.0,))

    def to_plain(self) -> JsonObject:
        """As returned by the API and `--json`."""
        return {"head": str(self.head), "findings": [finding.to_plain() for finding in self.findings]}


def results_of(catalogue: Catalogue, card: ModelCard, own: str | None = None) -> dict[str, Scores]:
    """The results of a model by the names of their methods, with a custom relation set or the default one."""
    results = {}
    for method in methods.METHODS:
        scores = catalogue.result(card, method.name, own=own)
        if scores is not None:
            results[method.name] = scores
    return results


def findings_of(results: Mapping[str, Scores], head: HeadId) -> list[Finding]:
    """What all results support about a head: method by method, the strongest first in each."""
    findings: list[Finding] = []
    for method in methods.METHODS:
        if method.name in results and _can_be_told(method, results):
            for finding in method.findings(results[method.name], head):
                findings.append(method.weighed(finding, results, methods.METHODS))
    return findings


def _can_be_told(method: Method, results: Mapping[str, Scores]) -> bool:
    """Not where it reads the weights alone of a model of which these say nothing."""
    return not remark(method, results)


def remark(method: Method, results: Mapping[str, Scores]) -> str:
    """What is to be said of all that a method tells of a model; mostly nothing."""
    return failing(results) if method.of_weights else ""


def summary(results: Mapping[str, Scores], head: HeadId) -> str:
    """What all results support about a head as one paragraph; what is not supported is not said."""
    findings = strongest_findings(results, head)
    if not findings:
        return f"Nothing stands out about {head}: none of its scores is above a threshold."
    chosen: list[Finding] = []
    for finding in findings:
        of_method = [other for other in chosen if other.method == finding.method]
        if len(chosen) < _MOST_SENTENCES and len(of_method) < _MOST_OF_A_METHOD:
            chosen.append(finding)
    chosen.sort(key=_place_in_paragraph)
    return " ".join(finding.text for finding in chosen)


def _place_in_paragraph(finding: Finding) -> tuple[bool, int]:
    """First what the head does, then whether it matters, then where it looks; what was not confirmed comes last."""
    method = methods.method(finding.method)
    place = 0 if method.answers_what else 1 if method.answers_whether else 2
    return finding.is_unconfirmed, place


def strongest_findings(results: Mapping[str, Scores], head: HeadId) -> list[Finding]:
    """One finding for each item and kind, the strongest first."""
    same: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings_of(results, head):
        same.setdefault((finding.item or finding.method, finding.kind), []).append(finding)
    joined = [_joined(findings) for findings in same.values()]
    return sorted(joined, key=lambda finding: finding.order)


def _joined(findings: list[Finding]) -> Finding:
    """One for those that several methods have of the same: the nearest to the running model; the others in brief."""
    chosen = sorted(findings, key=_trust)[-1]
    briefs = []
    for finding in findings:
        if finding is not chosen and finding.brief and not finding.is_unconfirmed:
            briefs.append(finding.brief)
    return chosen.with_remark(", ".join(briefs)) if briefs else chosen


def _trust(finding: Finding) -> tuple[bool, bool]:
    """By which of several findings of the same one is chosen, the last of equals."""
    return not finding.is_unconfirmed, methods.method(finding.method).judges


def head_evidence(results: Mapping[str, Scores], card: ModelCard, head: HeadId) -> JsonObject:
    """What all results together say of a head, as returned by the API and `--json`."""
    alike = heads_like(results, card, head)
    remarks = {name: remark(methods.method(name), results) for name in results}
    return {
        "remarks": {name: words for name, words in remarks.items() if words},
        "summary": summary(results, head),
        "findings": [finding.to_plain() for finding in findings_of(results, head)],
        "alike": [other.to_plain() for other in alike],
    }


def answers(results: Mapping[str, Scores], card: ModelCard, text: str) -> list[Answer]:
    """The heads that a search is about: a head's own name, or words that a method knows."""
    try:
        head = card.check(HeadId.parse(text))
    except HeadError:
        pass
    else:
        return [Answer(head, tuple(strongest_findings(results, head)))]
    question = SearchQuestion.of(text)
    by_head: dict[HeadId, list[Finding]] = {}
    for name, scores in results.items():
        method = methods.method(name)
        if not _can_be_told(method, results):
            continue
        for finding in method.answers(scores, question):
            by_head.setdefault(finding.head, []).append(method.weighed(finding, results, methods.METHODS))
    listed = []
    for head, findings in by_head.items():
        kept = without_missed_pairs(findings, methods.relation_methods())
        if kept:
            listed.append(Answer(head, _strongest_first(kept)))
    listed.sort(key=lambda answer: (answer.order, answer.head))
    return listed[:MOST_ANSWERS]


def _strongest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.order))


def heads_like(results: Mapping[str, Scores], card: ModelCard, head: HeadId) -> list[SimilarHead]:
    """The heads whose scores of all methods point in the same direction; a head without any score is like none."""
    profiles, titles = _profiles(results, card)
    mine = profiles[card.layers.index(head.layer) * card.heads + head.head]
    lengths = np.linalg.norm(profiles, axis=1) * np.linalg.norm(mine)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.nan_to_num(profiles @ mine / lengths)
    alike: list[SimilarHead] = []
    for place in np.argsort(-cosines, kind="stable"):
        other = _head_at(card, int(place))
        if cosines[place] < _LEAST_ALIKE or len(alike) == _MOST_ALIKE:
            break
        if other != head:
            alike.append(SimilarHead(other, float(cosines[place]), _most(profiles[place] * mine, titles)))
    return alike


def _most(shares: Floats, titles: list[str]) -> tuple[str, ...]:
    """The titles of the numbers that add most to a product."""
    first = np.argsort(-shares, kind="stable")[:_MOST_REASONS]
    return tuple(titles[place] for place in first if shares[place] > 0)


@dataclass(frozen=True)
class Match:
    """Two heads of two models whose scores are alike."""

    head: HeadId
    other: HeadId
    cosine: float


def matched_heads(
    results: Mapping[str, Scores], card: ModelCard, others: Mapping[str, Scores], other: ModelCard, most: int = 20
) -> list[Match]:
    """For each head the most similar one of another model, by the scores that both models have; the best first."""
    mine, theirs = _common_profiles(results, card, others, other)
    length, lengths = np.linalg.norm(mine, axis=1), np.linalg.norm(theirs, axis=1)
    best, cosines, strengths = np.zeros(len(mine), int), np.zeros(len(mine)), np.zeros(len(mine))
    for start in range(0, len(mine), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        with np.errstate(invalid="ignore", divide="ignore"):
            some = np.nan_to_num(mine[rows] @ theirs.T / (length[rows, None] * lengths))  # [head, head of the other]
        weighted = some * np.minimum(length[rows, None], lengths)
        best[rows] = weighted.argmax(axis=1)
        strengths[rows] = weighted.max(axis=1)
        cosines[rows] = some[np.arange(len(some)), best[rows]]
    matches = []
    for place in np.argsort(-strengths, kind="stable")[:most]:
        if cosines[place] >= _LEAST_ALIKE:
            heads = _head_at(card, int(place)), _head_at(other, int(best[place]))
            matches.append(Match(*heads, float(cosines[place])))
    return matches


def _head_at(card: ModelCard, place: int) -> HeadId:
    return HeadId(card.layers[place // card.heads], place % card.heads)


def _common_profiles(
    results: Mapping[str, Scores], card: ModelCard, others: Mapping[str, Scores], other: ModelCard
) -> tuple[Floats, Floats]:  # [head, number] of both models
    """The scores of the same methods, items and kinds."""
    mine: list[Floats] = []
    theirs: list[Floats] = []
    for name in results:
        if name not in others or not methods.method(name).tells_heads_apart:
            continue
        one, two = results[name], others[name]
        items = [item for item in one.items() if item in two.items()]
        kinds = [kind for kind in one.kinds if kind in two.kinds]
        mine.append(_block(one, card, items, kinds))
        theirs.append(_block(two, other, items, kinds))
    if not mine:
        return np.zeros((len(card.layers) * card.heads, 1)), np.zeros((len(other.layers) * other.heads, 1))
    return np.concatenate(mine, axis=1), np.concatenate(theirs, axis=1)


def _profiles(results: Mapping[str, Scores], card: ModelCard) -> tuple[Floats, list[str]]:  # [head, number]
    """Every head as the numbers that all methods have of it, and their titles; each method weighs the same."""
    blocks, titles = [], []
    for name, scores in results.items():
        if methods.method(name).tells_heads_apart:
            blocks.append(_block(scores, card, scores.items(), scores.kinds))
            for item in scores.items():
                titles += [f"{scores.item(item).title}, {kind} ({name})" for kind in scores.kinds]
    if not blocks:
        return np.zeros((len(card.layers) * card.heads, 1)), [""]
    return np.concatenate(blocks, axis=1), titles


def _block(scores: Scores, card: ModelCard, items: list[str], kinds: list[str]) -> Floats:  # [head, number]
    """The scores of one method; what all heads have is taken away, because it tells none apart."""
    mean = scores.score.sel(item=items, kind=kinds).mean("sample", skipna=True).values
    block: Floats = np.nan_to_num(mean).reshape(-1, len(card.layers) * card.heads).T
    block = block - np.median(block, axis=0)
    size = float(np.linalg.norm(block))
    return block / size if size > 0 else block
