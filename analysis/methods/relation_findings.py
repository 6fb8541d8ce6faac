"""What scores for relations support about a head, in words."""

from functools import cache

import numpy as np

from analysis.data import relations
from analysis.methods.relation_labels import copy_like, unspecific
from analysis.methods.relation_layer import part_name
from analysis.methods.relation_scores import KINDS, TAU
from analysis.models.card import HeadId
from analysis.results.findings import Finding, Question
from analysis.results.intervals import wilson
from analysis.results.provenance import Item
from analysis.results.scores import ONLY_SAMPLE, Scores, ranks

_VERBS = {"promote": "Promotes", "suppress": "Suppresses"}
_KIND_WORDS = {
    "promote": ("promote", "promotes", "promoting"),
    "suppress": ("suppress", "suppresses", "suppressing"),
}
_LISTED = 12  # heads of an item
_SHOWN_PAIRS = 2


def relation_findings(scores: Scores, head: HeadId, basis: str) -> list[Finding]:
    """A sentence for each label of a head, that is, each score above τ; the strongest first."""
    one = scores.over_samples("mean")
    findings = []
    for item in one.provenance.items:
        if item.applicable:
            findings += [
                _finding(one, item, kind, head, basis) for kind in KINDS if _score(one, item, kind, head) > TAU
            ]
    return sorted(findings, key=lambda finding: -finding.strength)


def relation_answers(scores: Scores, question: Question, basis: str) -> list[Finding]:
    """The best heads of the relations that a question names, by title, by category or by a word of a pair."""
    one = scores.over_samples("mean")
    kinds = [kind for kind in KINDS if any(word in _KIND_WORDS[kind] for word in question.words)]
    asked = question.without([word for words in _KIND_WORDS.values() for word in words])
    findings = []
    for item in one.provenance.items:
        if not item.applicable:
            continue
        pairs = _pairs_with(item.name, asked)
        is_named = asked.is_about(f"{item.title} {item.name} {item.category}")
        if is_named or pairs or (kinds and not asked.words):
            for kind in kinds or KINDS:
                findings += _best(one, item, kind, basis, "" if is_named else pairs)
    return sorted(findings, key=lambda finding: -finding.strength)


def _best(scores: Scores, item: Item, kind: str, basis: str, pairs: str) -> list[Finding]:
    """The heads of a relation that are above τ."""
    findings = []
    for head, score, _ in scores.top(item.name, _LISTED, kind):
        if score > TAU:
            findings.append(_finding(scores, item, kind, head, basis, pairs))
    return findings


def _score(scores: Scores, item: Item, kind: str, head: HeadId) -> float:
    where = {"item": item.name, "kind": kind, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    return float(scores.score.sel(where))


def _finding(scores: Scores, item: Item, kind: str, head: HeadId, basis: str, pairs: str = "") -> Finding:
    where = {"item": item.name, "kind": kind, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    score, hits = float(scores.score.sel(where)), float(scores.hits.sel(where))
    low, high = (float(end) for end in wilson(hits, item.kept))
    of_item = scores.score.sel(item=item.name, kind=kind, sample=ONLY_SAMPLE).values
    rank = int(ranks(of_item)[scores.provenance.model.layers.index(head.layer), head.head])
    numbers = f"{hits:.3g} of {item.kept} pairs, {score:.2f} ({low:.2f}–{high:.2f}), rank {rank} of {of_item.size}"
    against = _against(scores, item, kind, head)
    remark = f"; {' and '.join(against)}" if against else ""
    example = f", such as {pairs}," if pairs else ""
    text = f"{_VERBS[kind]} {item.title}{example} ({basis}): {numbers}{remark}."
    return Finding(head, text, score, scores.provenance.method, item.name, kind)


def _against(scores: Scores, item: Item, kind: str, head: HeadId) -> list[str]:
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
def _words_of_pairs(name: str) -> dict[str, list[str]]:
    """The pairs of a built-in relation by each word in them, in lower case."""
    relation = relations.builtin().get(name)
    by_word: dict[str, list[str]] = {}
    for source, target in relation.pairs if relation is not None else ():
        for word in {source.casefold(), target.casefold()}:
            by_word.setdefault(word, []).append(f"{source} → {target}")
    return by_word


def _pairs_with(name: str, question: Question) -> str:
    """The first pairs of a relation in which the words of a question stand as a whole; empty when there is none."""
    pairs = _words_of_pairs(name).get(" ".join(question.words), [])
    return ", ".join(pairs[:_SHOWN_PAIRS])
