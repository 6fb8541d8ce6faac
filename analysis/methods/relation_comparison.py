"""Models of which two methods have scored the same relations: how far the quicker one's map holds, model by model."""

import math
from collections.abc import Iterator, Sequence

from analysis import methods
from analysis.errors import ModelNotFound
from analysis.methods.relation_agreement import agreement, in_words, label_counts
from analysis.methods.relation_method import RelationMethod
from analysis.methods.relation_scores import TAU
from analysis.models.card import ModelCard
from analysis.results.catalogue import Catalogue
from analysis.results.provenance import Data
from analysis.results.scores import Scores


def compared_models(catalogue: Catalogue, names: Sequence[str]) -> list[Data]:
    """A row for each of the named models, or for each that has both results."""
    if names:
        return [_row(*_both(catalogue, catalogue.card(name))) for name in names]
    rows = []
    for card in catalogue.models():
        results = list(_results(catalogue, card))
        if len(results) > 1:
            rows.append(_row(results[0], results[1]))
    return rows


def _results(catalogue: Catalogue, card: ModelCard) -> Iterator[Scores]:
    """A model's results of the methods that score relations, the quickest first."""
    for method in methods.METHODS:
        if isinstance(method, RelationMethod):
            scores = catalogue.result(card, method.name)
            if scores is not None:
                yield scores


def _both(catalogue: Catalogue, card: ModelCard) -> tuple[Scores, Scores]:
    results = list(_results(catalogue, card))
    if len(results) < 2:
        there = {scores.provenance.method for scores in results}
        lacking = [m for m in methods.METHODS if isinstance(m, RelationMethod) and m.name not in there]
        raise ModelNotFound(f"{card.id} has one map only", f"Compute: {lacking[0].command_line(card.id)}")
    return results[0], results[1]


def _row(quick: Scores, reference: Scores) -> Data:
    card, counts, found = quick.provenance.model, label_counts(quick, reference), agreement(quick, reference)
    return {
        "model": card.id,
        "heads": len(card.layers) * card.heads,
        "tau": TAU,
        "methods": [quick.provenance.method, reference.provenance.method],
        "labels": [counts.quick, counts.reference],
        "solid": counts.solid,
        "shared": counts.shared,
        "found": _known(counts.found),
        "right": _known(counts.right),
        "r": _known(found.overall),
        "relations": dict(found.relations),
    }


def _known(number: float) -> float | None:
    """None in place of NaN, which JSON does not have."""
    return None if math.isnan(number) else number


def compared_text(rows: Sequence[Data]) -> str:
    """A table for a terminal that is also one in Markdown."""
    if not rows:
        return "No model has both maps yet."
    lines = [
        "| model | heads | labels in the running model | beyond copying and specific | r "
        "| the weights find | labels from the weights | of them right |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        quick, reference = row["labels"]
        right = f"{row['right']:.0%}" if quick else "–"
        r = "–" if row["r"] is None else in_words(row["r"])
        found = f" ({row['found']:.0%})" if reference else ""
        lines.append(
            f"| {row['model']} | {row['heads']} | {reference} | {row['solid']} | {r} "
            f"| {row['shared']}{found} | {quick} | {right} |"
        )
    return "\n".join(lines)
