"""Models of which several methods have scored the same relations: how far their maps agree, model by model."""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from analysis import methods
from analysis.errors import ModelNotFound
from analysis.evidence.catalogue import Catalogue
from analysis.models.card import ModelCard
from analysis.relations import judging
from analysis.relations.agreement import agreement, in_words, label_counts
from analysis.relations.method import RelationMethod
from analysis.relations.scores import TAU
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


def _results(catalogue: Catalogue, card: ModelCard) -> Results:
    """A model's results of the methods that score relations, the quickest first."""
    results = {}
    for method in methods.relation_methods():
        scores = catalogue.result(card, method.name)
        if scores is not None:
            results[method] = scores
    return results


def failing(results: Mapping[str, Scores]) -> str:
    """That a model's weights-only map does not hold, in words; empty where it does."""
    return judging.failing(methods.relation_methods(), results)


def _judging(results: Results) -> list[Scores]:
    """Those of which a later one says whether the first holds."""
    return [scores for method, scores in results.items() if method.judges]


def _must_be_comparable(card: ModelCard, results: Results) -> None:
    if len(_judging(results)) < 2:
        lacking = [method for method in methods.relation_methods() if method.judges and method not in results]
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
        "copying": counts.copying,
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
        "| model | heads | labels in the running model | beyond copying and specific + of copying relations | r "
        "| the weights find | labels from the weights | of them right |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        quick, reference = row["labels"]
        right = f"{row['right']:.0%}" if quick else "–"
        r = "–" if row["r"] is None else in_words(row["r"])
        share = f" ({row['found']:.0%})" if reference else ""
        lines.append(
            f"| {row['model']} | {row['heads']} | {reference} | {row['solid']} + {row['copying']} | {r} "
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
