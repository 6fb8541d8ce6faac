"""The numbers behind the maps, packed for the browser: hovering asks no server."""

import base64
from typing import Any

import numpy as np

from analysis.results.scores import Missing
from dashboard.maps import MAPS
from dashboard.maps.panel import Label, Measure, Panel
from dashboard.maps.tooltip import Best
from dashboard.view import View

Packed = dict[str, Any]  # plain data for the browser's scripts


def packed(view: View) -> Packed:
    """Every panel's numbers and words, and what every head does best. Arrays run over layers, then heads."""
    labels: list[Label] = []
    for panel in view.panels:
        if panel.label is not None and panel.label not in labels:
            labels.append(panel.label)
    return {
        "model": f"{view.card.id}@{view.card.fingerprint[:8]}",
        "named": view.named.shared.to_query(),
        "layers": list(view.card.layers),
        "heads": view.card.heads,
        "across": view.orientation.across,
        "upward": view.orientation.upward,
        "reasons": [reason.words for reason in Missing],
        "labels": [{"words": list(label.words), "codes": _bytes(label.codes)} for label in labels],
        "panels": [_panel(panel, labels) for panel in view.panels],
        "best": _best(view),
    }


def _panel(panel: Panel, labels: list[Label]) -> Packed:
    return {
        "key": panel.key,
        "title": panel.title,
        "reason": _bytes(panel.reason.astype("u1")) if panel.reason.any() else "",
        "label": labels.index(panel.label) if panel.label is not None else None,
        "measures": [_measure(measure) for measure in panel.measures],
    }


def _measure(measure: Measure) -> Packed:
    """The numbers as they are, or in two bytes each, from `low` in steps of `step`."""
    told = {"name": measure.name, "digits": measure.digits, "ranked": measure.ranked, "interval": None}
    if measure.interval is not None:
        hundredths = [np.rint(100 * np.nan_to_num(ends)).astype("u1") for ends in measure.interval]
        told["interval"] = [_bytes(ends) for ends in hundredths]
    if measure.ends is None:
        return {**told, "type": "f4", "low": 0, "step": 1, "value": _bytes(measure.value.astype("<f4"))}
    low, high = measure.ends
    step = (high - low) / 65535 or 1.0
    steps = np.rint((np.nan_to_num(measure.value) - low) / step)
    return {**told, "type": "u2", "low": low, "step": step, "value": _bytes(steps.astype("<u2"))}


def _best(view: View) -> Packed | None:
    """From the first map that knows what heads do best."""
    for each in MAPS:
        shown = view.of(each)
        best = each.best(shown) if shown is not None else None
        if best is not None:
            return _packed_best(best)
    return None


def _packed_best(best: Best) -> Packed:
    return {
        "count": len(best.item),
        "titles": list(best.titles),
        "verbs": list(best.verbs),
        "item": _bytes(best.item.astype("u1")),
        "verb": _bytes(best.verb.astype("u1")),
        "score": _bytes(best.score.astype("<f4")),
    }


def _bytes(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
