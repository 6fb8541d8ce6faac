"""What scores for relations support about a head, in words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from analysis.data import relations
from analysis.data.relations import WordPair
from analysis.models.card import HeadId
from analysis.relations.labels import copy_like, unspecific
from analysis.relations.layer import part_name
from analysis.relations.pairs_file import Hits
from analysis.relations.scores import KINDS, TAU
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.intervals import wilson
from analysis.results.provenance import ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Scores, ranks

_VERBS = {"promote": "Promotes", "suppress": "Suppresses"}
_LISTED = 12  # heads of an item
_SHOWN_PAIRS = 2

HitsOf = Callable[[ScoredItem, str, HeadId], Hits | None]  # the hits of a label, by relation, kind and head


def no_hits(item: ScoredItem, kind: str, head: HeadId) -> None:
    """No pairs: for maps that do not have them at hand."""


def relation_findings(scores: Scores, head: HeadId, where: str) -> list[Finding]:
    """A sentence for each label of a head, that is, each score above τ; the strongest first.

    `where` says where the head does it, as a part of the sentence.
    """
    one = scores.over_samples("mean")
    of_head = one.score.sel(sample=ONLY_SAMPLE, layer=head.layer, head=head.head).to_series()
    findings = []
    for item in one.provenance.items:
        for kind in KINDS:
            if item.applicable and of_head[item.name, kind] > TAU:
                findings.append(_finding(one, item, kind, head, where))
    return sorted(findings, key=lambda finding: finding.order)


def relation_answers(scores: Scores, question: SearchQuestion, where: str, hits_of: HitsOf = no_hits) -> list[Finding]:
    """The best heads of the relations that a question names, by title, by category or by a word of a pair.

    A pair is only said of a head for which it is known to be a hit; one that is known to miss it says so in `has_pair`.
    """
    one = scores.over_samples("mean")
    kinds, asked = question.kinds, question.topic
    findings = []
    for item in one.provenance.items:
        if not item.applicable:
            continue
        pairs = _pairs_with(item.name, asked)
        is_named = asked.is_about(f"{item.title} {item.name} {item.category}")
        if is_named or pairs or (kinds and not asked.words):
            for kind in kinds or KINDS:
                labels = _labels(one, item, kind)
                if is_named or not pairs:
                    findings += [_finding(one, item, kind, head, where) for head in labels[:_LISTED]]
                else:
                    known = partial(_verdict, pairs, hits_of, item, kind, set(scores.samples))
                    findings += [_with_pairs(one, item, kind, head, where, pairs, known(head)) for head in labels]
    return sorted(findings, key=lambda finding: finding.order)


def _labels(scores: Scores, item: ScoredItem, kind: str) -> list[HeadId]:
    """The heads of a relation that are above τ, the best first."""
    above = int((scores.score.sel(item=item.name, kind=kind, sample=ONLY_SAMPLE).values > TAU).sum())
    return [head for head, _, _ in scores.top(item.name, above, kind)]


@dataclass(frozen=True)
class _PairVerdict:
    """What is known of some pairs of a head: the hits among them, and after which sample the first is one."""

    hits: tuple[WordPair, ...] = ()
    sample: str = ""
    is_known: bool = False  # of all samples: where there is no hit, the head misses them all


def _verdict(
    pairs: list[WordPair], hits_of: HitsOf, item: ScoredItem, kind: str, samples: set[str], head: HeadId
) -> _PairVerdict:
    hits = hits_of(item, kind, head)
    if hits is None:
        return _PairVerdict()
    first = {pair: hits.first_sample(pair) for pair in pairs}
    mine = tuple(pair for pair, sample in first.items() if sample is not None)
    return _PairVerdict(mine, first[mine[0]] or "" if mine else "", samples <= set(hits.samples))


def _with_pairs(
    scores: Scores, item: ScoredItem, kind: str, head: HeadId, where: str, pairs: list[WordPair], known: _PairVerdict
) -> Finding:
    """A head of a relation, with the pairs that are hits; else with what is not known of it."""
    if known.hits:
        after = f" after “{known.sample}”" if known.sample != ONLY_SAMPLE else ""
        about = f", such as {_pair_words(list(known.hits))}{after}"
        return replace(_finding(scores, item, kind, head, where, about), has_pair=True)
    about = f", a relation with the pair {_pair_words(pairs)}"
    finding = _finding(scores, item, kind, head, where, about)
    return replace(finding, is_near=True, has_pair=False if known.is_known else None)


def _finding(scores: Scores, item: ScoredItem, kind: str, head: HeadId, where: str, about: str = "") -> Finding:
    place = {"item": item.name, "kind": kind, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    score, hits = float(scores.score.sel(place)), float(scores.hits.sel(place))
    low, high = (float(end) for end in wilson(hits, item.kept))
    of_item = scores.score.sel(item=item.name, kind=kind, sample=ONLY_SAMPLE).values
    rank = int(ranks(of_item)[scores.provenance.model.layers.index(head.layer), head.head])
    shown = f"{hits:.0f} of {item.kept} pairs" if hits.is_integer() else f"on average {hits:.1f} of {item.kept} pairs"
    numbers = f"{shown}, {score:.2f} ({low:.2f}–{high:.2f}), rank {rank} of {of_item.size}"
    against = _against(scores, item, kind, head)
    remark = f"; {' and '.join(against)}" if against else ""
    text = f"{_does(item, kind)} {where}{about}: {numbers}{remark}."
    brief = f"{where} {score:.2f}"
    return Finding(head, text, score, scores.provenance.method, item.name, kind, brief=brief)


def _does(item: ScoredItem, kind: str) -> str:
    """What a head does, as a verb phrase; of people's own relations, and of suppressing, with the relation's title."""
    relation = relations.builtin().get(item.name)
    if relation is None or relation.category != item.category or kind != KINDS[0]:
        return f"{_VERBS[kind]} {item.title}"
    return relation.phrase


def _against(scores: Scores, item: ScoredItem, kind: str, head: HeadId) -> list[str]:
    """What is to be said against the label."""
    cell = (scores.provenance.model.layers.index(head.layer), head.head)
    remarks = []
    beyond = scores.part(part_name("beyond", kind), item.name)
    if beyond is not None and bool(copy_like(beyond[cell])):
        remarks.append("copy-like: the source itself mostly ranks higher")
    control = scores.part(part_name("control", kind), item.name)
    if control is not None and not np.isnan(control[cell]) and bool(unspecific(control[cell])):
        remarks.append("unspecific: shuffled targets score too")
    return remarks


@cache
def _words_of_pairs(name: str) -> dict[tuple[str, ...], list[WordPair]]:
    """The pairs of a built-in relation by the words of the source, of the target, and of both."""
    relation = relations.builtin().get(name)
    by_words: dict[tuple[str, ...], list[WordPair]] = {}
    for source, target in relation.pairs if relation is not None else ():
        for words in {SearchQuestion.of(text).words for text in (source, target, f"{source} {target}")}:
            by_words.setdefault(words, []).append((source, target))
    return by_words


def _pairs_with(name: str, question: SearchQuestion) -> list[WordPair]:
    """The pairs of a relation whose source, target or both are what a question has, capitals as they were typed."""
    pairs = []
    for source, target in _words_of_pairs(name).get(question.words, []):
        if any(question.is_exactly(text) for text in (source, target, f"{source} {target}")):
            pairs.append((source, target))
    return pairs


def _pair_words(pairs: list[WordPair]) -> str:
    return ", ".join(f"{source} → {target}" for source, target in pairs[:_SHOWN_PAIRS])
