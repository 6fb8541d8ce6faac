"""Models of which several methods have scored the same relations: how far their maps agree, model by model."""

import math
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from analysis import methods
from analysis.data.relations import OWN
from analysis.errors import ModelNotFound
from analysis.models.card import ModelCard
from analysis.relations.agreement import HOLDS, RelationAgreement, agreement, in_words, is_whole, label_counts
from analysis.relations.method import RelationMethod
from analysis.relations.scores import TAU
from analysis.results.catalogue import Catalogue
from analysis.results.findings import Finding
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores, used_results

Results = dict[RelationMethod, Scores]
MethodPair = tuple[str, ...]  # what two methods read


def compared_models(catalogue: Catalogue, names: Sequence[str]) -> list[JsonObject]:
    """A row for each of the named models, or for each that has two maps, one of which judges the other."""
    if names:
        rows = []
        for name in names:
            card = catalogue.card(name)
            results = _results(catalogue, card)
            _must_be_comparable(card, results)
            rows.append(_row(results))
        return rows
    everything = [_results(catalogue, card) for card in catalogue.models()]
    return [_row(results) for results in everything if len(_judging(results)) > 1]


def _results(catalogue: Catalogue, card: ModelCard, own: str | None = None) -> Results:
    """A model's results of the methods that score relations, the quickest first."""
    results = {}
    for method in methods.METHODS:
        if isinstance(method, RelationMethod):
            scores = catalogue.result(card, method.name, own=own)
            if scores is not None:
                results[method] = scores
    return results


def default_method(catalogue: Catalogue, card: ModelCard, relation: str = "", own: str | None = None) -> RelationMethod:
    """The method whose map of a model holds; where only some maps have a relation, one of these."""
    results = {method.name: scores for method, scores in _results(catalogue, card, own).items()}
    having = {name: scores for name, scores in results.items() if relation in scores.items()}
    return method_that_holds(having or results)


def method_that_holds(
    results: Mapping[str, Scores], agreed: Callable[[Scores, Scores], RelationAgreement] = agreement
) -> RelationMethod:
    """Of results by method: the first that there is, unless a later one, computed in full, disagrees."""
    relation_methods = [method for method in methods.METHODS if isinstance(method, RelationMethod)]
    there = [method for method in relation_methods if method.name in results]
    if not there:
        return relation_methods[0]
    first = results[there[0].name]
    for later in there[1:]:
        scores = results[later.name]
        if can_judge(scores, first) and agreed(first, scores).fails:
            return later
    return there[0]


def can_judge(later: Scores, first: Scores) -> bool:
    """Whether a result says if another holds: computed in full, of all its relations but one's own."""
    method = methods.method(later.provenance.method)
    if not isinstance(method, RelationMethod) or not method.judges:
        return False
    there = set(later.items())
    return is_whole(later) and all(name in there for name in first.items() if first.item(name).category != OWN)


def weighed(finding: Finding, results: Mapping[str, Scores]) -> Finding:
    """A finding that says so where it is a label that a later map, which judges, does not have."""
    relation_methods = [method for method in methods.METHODS if isinstance(method, RelationMethod)]
    names = [method.name for method in relation_methods]
    if finding.method not in names:
        return finding
    for later in relation_methods[names.index(finding.method) + 1 :]:
        scores = results.get(later.name)
        if later.judges and scores is not None and _is_refuted(finding, scores):
            return replace(finding.with_remark(f"not seen {later.where}"), is_unconfirmed=True)
    return finding


def without_missed_pairs(findings: Sequence[Finding]) -> list[Finding]:
    """Answers about a pair, of one head: those that miss it are left out, by the maps that know.

    A hit that a later map, which judges, knows to be a miss says so. A map that does not know is only believed where
    no other one knows better.
    """
    same: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        same.setdefault((finding.item, finding.kind), []).append(finding)
    kept = []
    for of_label in same.values():
        is_missed = not any(finding.has_pair for finding in of_label) and any(
            finding.has_pair is False for finding in of_label
        )
        for finding in of_label:
            if finding.has_pair is not False and not is_missed:
                kept.append(_unless_later_missed(finding, of_label))
    return kept


def _unless_later_missed(finding: Finding, others: Sequence[Finding]) -> Finding:
    """A hit of an earlier map that a later one knows to be none is unconfirmed."""
    if not finding.has_pair:
        return finding
    names = methods.names()
    for other in others:
        later = methods.method(other.method)
        is_later = names.index(other.method) > names.index(finding.method)
        if other.has_pair is False and is_later and isinstance(later, RelationMethod) and later.judges:
            return replace(finding.with_remark(f"not this pair {later.where}"), is_unconfirmed=True)
    return finding


def _is_refuted(finding: Finding, scores: Scores) -> bool:
    """Whether a result has the same score, and it is no label."""
    if finding.item not in scores.items():
        return False
    mean = scores.over_samples("mean").score
    score = mean.sel(item=finding.item, kind=finding.kind, layer=finding.head.layer, head=finding.head.head)
    return bool((score <= TAU).all())  # NaN, not computed, is not


def judgement(method: RelationMethod, model: str, results: Mapping[str, Scores]) -> tuple[JsonObject, str]:
    """Whether a method's map of a model holds: fields of its summary, and a line for a terminal unless it does.

    `r` and `holds` are None while nothing is there to judge it by; `judged_by` computes or prints what does.
    """
    relation_methods = [each for each in methods.METHODS if isinstance(each, RelationMethod)]
    judges = [each for each in relation_methods[relation_methods.index(method) + 1 :] if each.judges]
    if not judges:
        return {}, ""
    judge = judges[0]
    first, second = results.get(method.name), results.get(judge.name)
    command, r = judge.command_line(shlex.quote(model)), math.nan
    if first is not None and second is not None and can_judge(second, first):
        r = agreement(first, second).overall
    if math.isnan(r):
        return _judged(None, command), f"Whether this holds in the {judge.basis.lower()}: {command}"
    words = f"This map does not hold for this model: r = {in_words(r)}; see: {command}"
    return _judged(r, command), "" if r >= HOLDS else words


def _judged(r: float | None, command: str) -> JsonObject:
    return {"r": r, "holds": None if r is None else r >= HOLDS, "judged_by": command}


def _judging(results: Results) -> list[Scores]:
    """Those of which a later one says whether the first holds."""
    return [scores for method, scores in results.items() if method.judges]


def _must_be_comparable(card: ModelCard, results: Results) -> None:
    if len(_judging(results)) < 2:
        relation_methods = [method for method in methods.METHODS if isinstance(method, RelationMethod)]
        lacking = [method for method in relation_methods if method.judges and method not in results]
        raise ModelNotFound(f"{card.id} has one map only", f"Compute: {lacking[0].command_line(card.id)}")


def _row(results: Results) -> JsonObject:
    quick, reference = _judging(results)[:2]
    card, counts, agreed = quick.provenance.model, label_counts(quick, reference), agreement(quick, reference)
    return {
        "model": card.id,
        "fingerprint": card.fingerprint,
        "results": used_results({method.name: scores for method, scores in results.items()}),
        "heads": len(card.layers) * card.heads,
        "tau": TAU,
        "methods": [quick.provenance.method, reference.provenance.method],
        "labels": [counts.quick, counts.reference],
        "solid": counts.solid,
        "shared": counts.shared,
        "found": _or_none(counts.recall),
        "right": _or_none(counts.precision),
        "r": _or_none(agreed.overall),
        "relations": dict(agreed.relations),
        "correlations": _correlations(results),
    }


def _or_none(number: float) -> float | None:
    """None in place of NaN, which JSON does not have."""
    return None if math.isnan(number) else number


def _correlations(results: Results) -> list[JsonObject]:
    """Pearson's r of every two maps of a model, over all and for each relation."""
    rows = []
    for (one, first), (other, second) in combinations(results.items(), 2):
        agreed = agreement(first, second)
        titles = {name: first.item(name).title for name in agreed.relations}
        rows.append(
            {
                "methods": [one.name, other.name],
                "titles": [one.basis, other.basis],
                "r": _or_none(agreed.overall),
                "relations": dict(agreed.relations),
                "relation_titles": titles,
            }
        )
    return rows


def compared_text(rows: Sequence[JsonObject], by_relation: bool = False) -> str:
    """Tables for a terminal that are also Markdown: labels, then correlations."""
    if not rows:
        return "No model has both maps yet."
    lines = [*_label_table(rows), "", *_correlation_table(rows)]
    if by_relation:
        for row in rows:
            lines += ["", *_relation_table(row)]
    return "\n".join(lines)


def _label_table(rows: Sequence[JsonObject]) -> list[str]:
    lines = [
        "| model | heads | labels in the running model | beyond copying and specific | r "
        "| the weights find | labels from the weights | of them right |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        quick, reference = row["labels"]
        right = f"{row['right']:.0%}" if quick else "–"
        r = "–" if row["r"] is None else in_words(row["r"])
        share = f" ({row['found']:.0%})" if reference else ""
        lines.append(
            f"| {row['model']} | {row['heads']} | {reference} | {row['solid']} | {r} "
            f"| {row['shared']}{share} | {quick} | {right} |"
        )
    return lines


def _correlation_table(rows: Sequence[JsonObject]) -> list[str]:
    """One line per model, one column for every two maps that some model has."""
    columns: dict[MethodPair, None] = {}
    for row in rows:
        columns |= {tuple(pair["titles"]): None for pair in row["correlations"]}
    lines = _heading("r, mean of relations", columns)
    for row in rows:
        numbers = {tuple(pair["titles"]): pair["r"] for pair in row["correlations"] if pair["r"] is not None}
        lines.append(_line(row["model"], columns, numbers))
    return lines


def _relation_table(row: JsonObject) -> list[str]:
    """One line per relation of a model."""
    columns = {tuple(pair["titles"]): pair["relations"] for pair in row["correlations"]}
    titles: dict[str, str] = {}
    for pair in row["correlations"]:
        titles |= pair["relation_titles"]
    lines = _heading(row["model"], columns)
    for name, title in titles.items():
        numbers = {pair: relations[name] for pair, relations in columns.items() if name in relations}
        lines.append(_line(title, columns, numbers))
    return lines


def _heading(first: str, columns: Collection[MethodPair]) -> list[str]:
    names = " | ".join(" – ".join(pair).lower() for pair in columns)
    return [f"| {first} | {names} |", f"|---|{'---|' * len(columns)}"]


def _line(first: str, columns: Collection[MethodPair], numbers: Mapping[MethodPair, float]) -> str:
    shown = [in_words(numbers[pair]) if pair in numbers else "" for pair in columns]
    return f"| {first} | {' | '.join(shown)} |"
