"""What scores for relations support about a head, in words."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

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

    A pair is only said of a head for which it is known to be a hit.
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
                    findings += _with_pairs(one, item, kind, where, pairs, labels, hits_of)
    return sorted(findings, key=lambda finding: finding.order)


def _labels(scores: Scores, item: ScoredItem, kind: str) -> list[HeadId]:
    """The heads of a relation that are above τ, the best first."""
    above = int((scores.score.sel(item=item.name, kind=kind, sample=ONLY_SAMPLE).values > TAU).sum())
    return [head for head, _, _ in scores.top(item.name, above, kind)]


def _with_pairs(
    scores: Scores,
    item: ScoredItem,
    kind: str,
    where: str,
    pairs: list[WordPair],
    labels: list[HeadId],
    hits_of: HitsOf,
) -> list[Finding]:
    """The heads of a relation for which a pair is a hit; then those for which it is none, or nothing is known."""
    findings = []
    for head in labels:
        hits = hits_of(item, kind, head)
        mine = [pair for pair in pairs if hits is not None and pair in hits.pairs]
        words = _pair_words(mine or pairs)
        if mine and hits is not None:
            after = f" after “{hits.sample}”" if hits.sample != ONLY_SAMPLE else ""
            about = f", such as {words}{after}"
        else:
            about = f", a relation with the pair {words}"
        finding = _finding(scores, item, kind, head, where, about)
        findings.append(replace(finding, is_near=not mine))
    return sorted(findings, key=lambda finding: finding.order)[:_LISTED]


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
def _words_of_pairs(name: str) -> dict[str, list[WordPair]]:
    """The pairs of a built-in relation by each word in them, in lower case."""
    relation = relations.builtin().get(name)
    by_word: dict[str, list[WordPair]] = {}
    for source, target in relation.pairs if relation is not None else ():
        for word in {source.casefold(), target.casefold()}:
            by_word.setdefault(word, []).append((source, target))
    return by_word


def _pairs_with(name: str, question: SearchQuestion) -> list[WordPair]:
    """The pairs of a relation in which the words of a question stand as a whole."""
    return _words_of_pairs(name).get(" ".join(question.words), [])


def _pair_words(pairs: list[WordPair]) -> str:
    return ", ".join(f"{source} → {target}" for source, target in pairs[:_SHOWN_PAIRS])
