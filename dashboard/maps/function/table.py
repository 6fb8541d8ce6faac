"""The function map's columns of the table: what a head does, the panels' scores, every relation's."""

from typing import Any

import numpy as np

from analysis.results.scores import ONLY_SAMPLE
from dashboard.maps.columns import NUMBER, TEXT, TWO_DIGITS, Column, numbers
from dashboard.maps.function.labels import deciding_labels, is_measured
from dashboard.maps.function.panels import titles_of_heads
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView
from dashboard.maps.panel import Bools

_BEHIND = {"low": "95 % low", "high": "95 % high", "beyond": "β", "control": "Control"}


def columns(shown: MapView[FunctionState]) -> list[Column]:
    """Categories, best relation, the panels' scores, then every relation."""
    definitions: list[Column] = [
        {"field": "does", "headerName": "Categories", **TEXT, "width": 220},
        {"field": "best", "headerName": "Best relation", **TEXT, "width": 200},
        {"field": "best_kind", "headerName": "Kind", **TEXT, "width": 110},
    ]
    for name in _known(shown):
        definitions.append({"field": f"best_{name}", "headerName": _BEHIND[name], **NUMBER, **TWO_DIGITS, "width": 116})
    for i, panel in enumerate(shown.panels):
        sort = None if i else "desc"
        definitions.append(
            {"field": f"panel_{i}", "headerName": panel.title, **NUMBER, **TWO_DIGITS, "initialSort": sort}
        )
    for i, name in enumerate(shown.result.items()):
        title = shown.result.item(name).title
        definitions.append({"field": f"item_{i}", "headerName": title, **NUMBER, **TWO_DIGITS, "width": 160})
    return definitions


def cells(shown: MapView[FunctionState]) -> dict[str, list[Any]]:
    """The same columns' values. A relation's score is the larger of the kinds that the view asks for."""
    scores, kinds, items = shown.result, list(shown.state.kinds), shown.result.items()
    single = [panel for panel in shown.panels if panel.belongs is None]
    values: dict[str, list[Any]] = {"does": [", ".join(titles) for titles in titles_of_heads(single)]}
    chosen = {"item": items, "kind": kinds, "sample": ONLY_SAMPLE}
    scored = np.nan_to_num(scores.score.sel(chosen).values, nan=-1.0).reshape(len(items), len(kinds), shown.total)
    missing = scores.missing.sel(chosen).max("kind").values.reshape(len(items), shown.total)
    if items:
        values |= _best(scored, [scores.item(name).title for name in items], kinds)
        values |= _behind(shown, np.array(values["best"]) != "")
    for n, panel in enumerate(shown.panels):
        values[f"panel_{n}"] = numbers(panel.value.ravel(), panel.reason.ravel())
    for n, (of_kinds, reasons) in enumerate(zip(scored, missing, strict=True)):
        larger = of_kinds.max(axis=0)
        values[f"item_{n}"] = numbers(np.where(larger < 0, np.nan, larger), reasons)
    return values


def _known(shown: MapView[FunctionState]) -> list[str]:
    """What is known of the best relation's score beside the number itself."""
    return list(_BEHIND) if is_measured(shown.result) else ["low", "high"]


def _behind(shown: MapView[FunctionState], some: Bools) -> dict[str, list[Any]]:
    """Interval, β and control of the best relation; nothing where the head does nothing."""
    label = deciding_labels(shown.result, tuple(shown.result.items()), "any", shown.state.kinds)
    columns: dict[str, list[Any]] = {}
    for name in _known(shown):
        numbers_of_heads = np.where(some, getattr(label, name).ravel(), np.nan).round(4).tolist()
        columns[f"best_{name}"] = [None if number != number else number for number in numbers_of_heads]
    return columns


def _best(scored: Any, titles: list[str], kinds: list[str]) -> dict[str, list[Any]]:
    """For each head the relation with the highest score and its kind; nothing where all are 0."""
    joined = scored.reshape(-1, scored.shape[-1])  # [relation and kind, head]
    best, some = joined.argmax(axis=0), joined.max(axis=0) > 0
    best_of_heads: dict[str, list[Any]] = {"best": [], "best_kind": []}
    for at, is_positive in zip(best, some, strict=True):
        best_of_heads["best"].append(titles[at // len(kinds)] if is_positive else "")
        best_of_heads["best_kind"].append(kinds[at % len(kinds)] if is_positive else "")
    return best_of_heads
