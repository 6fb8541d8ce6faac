"""The function map's columns of the table: what a head does, the panels' scores, and all that is known of relations."""

from typing import Any

import numpy as np

from analysis.relations.scores import categories
from analysis.results.scores import ONLY_SAMPLE, Floats, Scores
from dashboard.cache import cached
from dashboard.maps.columns import (
    NUMBER,
    TEXT,
    TWO_DIGITS,
    Cells,
    Column,
    group,
    measured,
    numbers,
    of_label,
    of_panel,
    unfolded,
)
from dashboard.maps.function.labels import SUPPRESS, Labels, chosen_labels, is_measured
from dashboard.maps.function.panels import UNCLASSIFIED, categories_of_heads
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView

_BEHIND = {
    "low": "95 % low",
    "high": "95 % high",
    "beyond": "β",
    "copied": "Copied",
    "control": "Control",
}  # by the name of the number
_SCORE = {**NUMBER, **TWO_DIGITS}
_NARROW = {**_SCORE, "width": 116}


def columns(shown: MapView[FunctionState]) -> list[Column]:
    """Categories and best relation, the panels' scores, then the relations by category, each to be unfolded."""
    definitions = [_summary(shown.result), _panels(shown)]
    for name in categories(shown.result):
        for item in shown.result.items(name):
            definitions.append(_relation(shown.result, item))
    return definitions


def _summary(scores: Scores) -> Column:
    does: Column = {"field": "does", "headerName": "Categories", **TEXT, "width": 190, **of_label(UNCLASSIFIED)}
    best: Column = {"field": "best", "headerName": "Best relation", **TEXT, "width": 190}
    behind = _behind("", scores)
    return group("What it does", [does, best, *behind] if scores.items() else [does])


def _panels(shown: MapView[FunctionState]) -> Column:
    scores: list[Column] = []
    for i, panel in enumerate(shown.panels):
        column: Column = {
            "field": f"panel.{panel.key}",
            "headerName": panel.title,
            **_SCORE,
            **of_panel(panel.key),
            "width": 132 if i else 160,
        }
        scores.append(column if i else {**column, "initialSort": "desc"})
    return group("Score on the map", scores)


def _relation(scores: Scores, item: str) -> Column:
    """The score of a relation; unfolded also its effect, interval, β, copied share and control.

    The category stands in the score's heading: groups within groups would leave a blank row above all other columns.
    """
    title, behind = scores.item(item).title, _behind(item, scores)
    heading = f"{scores.item(item).category.capitalize()} score"
    written = {**TWO_DIGITS["written"], "behind": [column["field"] for column in behind]}
    width = max(64 + 7 * len(heading), 56 + 7 * len(title))  # pixels, so that both are seen while the group is folded
    score: Column = {"field": f"score.{item}", "headerName": heading, **NUMBER, "written": written, "width": width}
    return group(title, [score, *behind])


def _behind(item: str, scores: Scores) -> list[Column]:
    """What is known of a score beside the number itself."""
    definitions = [unfolded({"field": _field("effect", item), "headerName": "Effect", **TEXT, "width": 118})]
    for name in _measured(scores):
        definitions.append(unfolded({"field": _field(name, item), "headerName": _BEHIND[name], **_NARROW}))
    return definitions


def _field(name: str, item: str) -> str:
    """The column of a number behind a relation's score; without a relation, behind the best one's."""
    return f"{name}.{item}" if item else f"best.{name}"


def _measured(scores: Scores) -> list[str]:
    return list(_BEHIND) if is_measured(scores) else ["low", "high"]


def cells(shown: MapView[FunctionState]) -> dict[str, Cells]:
    """The same columns' values."""
    values: dict[str, Cells] = {"does": categories_of_heads(shown.panels)}
    for panel in shown.panels:
        values[f"panel.{panel.key}"] = numbers(panel.value.ravel(), panel.reason.ravel())
    return values | _relations(shown.result, shown.state.kinds)


@cached(8)
def _relations(scores: Scores, kinds: tuple[str, ...]) -> dict[str, Cells]:
    """The columns of every relation: its score is the larger of the kinds that the view asks for."""
    items = scores.items()
    if not items:
        return {}
    labels = chosen_labels(scores, tuple(items), kinds)
    filled = np.nan_to_num(labels.score, nan=-1.0)  # [item, kind, layer, head]
    kind = filled.argmax(axis=1)  # [item, layer, head]
    places = np.indices(kind.shape)
    larger = labels.at(places[0], kind, places[1], places[2])
    missing = scores.missing.sel(item=items, kind=list(kinds), sample=ONLY_SAMPLE).max("kind").values
    values: dict[str, Cells] = {}
    for i, item in enumerate(items):
        of_item = larger.at(np.array(i))
        values[f"score.{item}"] = numbers(of_item.score.ravel(), missing[i].ravel())
        values |= _cells_behind(item, of_item, scores)
    best = filled.max(axis=1).argmax(axis=0)  # [layer, head]
    layer, head = np.indices(best.shape)
    strongest = larger.at(best, layer, head)
    titles = np.array(["", *(scores.item(item).title for item in items)], object)
    values["best"] = titles[np.where(_is_some(strongest), best + 1, 0)].ravel().tolist()
    return values | _cells_behind("", strongest, scores)


def _cells_behind(item: str, labels: Labels, scores: Scores) -> dict[str, Cells]:
    """What stands behind one score per head; a score of 0 has no effect, and is no best one."""
    is_some = _is_some(labels)
    effect = np.where(labels.suppresses, SUPPRESS, "promote")
    values: dict[str, Cells] = {_field("effect", item): np.where(is_some, effect, "").ravel().tolist()}
    for name in _measured(scores):
        number: Floats = getattr(labels, name)
        kept = number if item else np.where(is_some, number, np.nan)
        values[_field(name, item)] = measured(kept.ravel())
    return values


def _is_some(labels: Labels) -> Any:
    """Where a score is above 0."""
    with np.errstate(invalid="ignore"):
        return labels.score > 0
