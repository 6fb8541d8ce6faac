"""Whether a map holds by another method's map of the same relations: methods of this family judge each other.

`family` are the methods that score relations, the quickest first.
"""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.data.relations import OWN
from analysis.relations.agreement import HOLDS, RelationAgreement, agreement, in_words, is_whole
from analysis.relations.scores import TAU
from analysis.results.findings import Finding
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores

if TYPE_CHECKING:
    from analysis.relations.method import RelationMethod


_agreed = lru_cache(32)(agreement)  # every page asks, and a head's page for every head that is like it


def method_that_holds(
    family: "Sequence[RelationMethod]",
    results: Mapping[str, Scores],
    agreed: Callable[[Scores, Scores], RelationAgreement] = _agreed,
) -> "RelationMethod":
    """Of results by method: the first that there is, unless a later one, computed in full, disagrees."""
    there = [method for method in family if method.name in results]
    if not there:
        return family[0]
    first = results[there[0].name]
    for later in there[1:]:
        scores = results[later.name]
        if can_judge(later, scores, first) and agreed(first, scores).fails:
            return later
    return there[0]


def failing(family: "Sequence[RelationMethod]", results: Mapping[str, Scores]) -> str:
    """That the quickest map of a model, which reads the weights alone, does not hold; empty where it does."""
    holding = method_that_holds(family, results)
    there = [method for method in family if method.name in results]
    if not there or holding is there[0]:
        return ""
    r = _agreed(results[there[0].name], results[holding.name]).overall
    return f"this model's {there[0].basis.lower()}-only map does not hold (r = {in_words(r)})"


def can_judge(method: "RelationMethod", later: Scores, first: Scores) -> bool:
    """Whether a method's result says if another holds: computed in full, of all its relations but one's own."""
    if not method.judges:
        return False
    there = set(later.items())
    return is_whole(later) and all(name in there for name in first.items() if first.item(name).category != OWN)


def weighed(finding: Finding, family: "Sequence[RelationMethod]", results: Mapping[str, Scores]) -> Finding:
    """A finding that says so where it is a label that a later map, which judges, does not have."""
    names = [method.name for method in family]
    for later in family[names.index(finding.method) + 1 :]:
        scores = results.get(later.name)
        if later.judges and scores is not None and _is_refuted(finding, scores):
            return replace(finding.with_remark(f"not seen {later.where}"), is_unconfirmed=True)
    return finding


def without_missed_pairs(findings: Sequence[Finding], family: "Sequence[RelationMethod]") -> list[Finding]:
    """Answers about a pair, of one head: those that miss it are left out, by the maps that know.

    A hit that a later map, which judges, knows to be a miss says so. A map that does not know is only believed where
    no other one knows better.
    """
    same: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        same.setdefault((finding.item, finding.kind), []).append(finding)
    kept = []
    for of_label in same.values():
        is_hit = any(finding.has_pair for finding in of_label)
        is_missed = not is_hit and any(finding.has_pair is False for finding in of_label)
        for finding in of_label:
            if finding.has_pair is not False and not is_missed:
                kept.append(_unless_later_missed(finding, of_label, family))
    return kept


def _unless_later_missed(finding: Finding, others: Sequence[Finding], family: "Sequence[RelationMethod]") -> Finding:
    """A hit of an earlier map that a later one knows to be none is unconfirmed."""
    names = [method.name for method in family]
    if not finding.has_pair or finding.method not in names:
        return finding
    missing = [other.method for other in others if other.has_pair is False]
    for later in family[names.index(finding.method) + 1 :]:
        if later.judges and later.name in missing:
            return replace(finding.with_remark(f"not this pair {later.where}"), is_unconfirmed=True)
    return finding


def _is_refuted(finding: Finding, scores: Scores) -> bool:
    """Whether a result has the same score, and it is no label."""
    if finding.item not in scores.items():
        return False
    mean = scores.over_samples("mean").score
    score = mean.sel(item=finding.item, kind=finding.kind, layer=finding.head.layer, head=finding.head.head)
    return bool((score <= TAU).all())  # NaN, not computed, is not


def judgement(
    method: "RelationMethod", family: "Sequence[RelationMethod]", model: str, results: Mapping[str, Scores]
) -> tuple[JsonObject, str]:
    """Whether a method's map of a model holds: fields of its summary, and a line for a terminal unless it does.

    `r` and `holds` are None while nothing is there to judge it by; `judged_by` computes or prints what does.
    """
    judges = [each for each in family[family.index(method) + 1 :] if each.judges]
    if not judges:
        return {}, ""
    judge = judges[0]
    first, second = results.get(method.name), results.get(judge.name)
    command, r = judge.command_line(shlex.quote(model)), math.nan
    if first is not None and second is not None and can_judge(judge, second, first):
        r = _agreed(first, second).overall
    if math.isnan(r):
        return _judged(None, command), f"Whether this holds in the {judge.basis.lower()}: {command}"
    words = f"This map does not hold for this model: r = {in_words(r)}; see: {command}"
    return _judged(r, command), "" if r >= HOLDS else words


def _judged(r: float | None, command: str) -> JsonObject:
    return {"r": r, "holds": None if r is None else r >= HOLDS, "judged_by": command}
