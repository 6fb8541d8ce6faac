"""The maps packed for the browser, which draws them: colours and words of every head.

The numbers behind them come by themselves (`dashboard.numbers`); of these the scripts' rules make what a tooltip tells.
"""

import base64
from dataclasses import asdict
from typing import Any

import numpy as np

from analysis.results.scores import Codes, Floats, Missing
from dashboard.arrange import LARGEST
from dashboard.drawn import drawn_maps
from dashboard.maps import MAPS
from dashboard.maps.legend import entries, own_set_of
from dashboard.maps.look import Look
from dashboard.maps.panel import Panel, PanelLabel
from dashboard.maps.profile import Profile
from dashboard.maps.tooltip import Best
from dashboard.numbers import address_of, compared_addresses
from dashboard.palette import Colours
from dashboard.query import named
from dashboard.setting import settings_of
from dashboard.state import TABLE
from dashboard.view import View

PackedView = dict[str, Any]  # plain data for the browser's scripts


_LARGEST_BESIDE_TABLE = 14  # pixels of a cell


def packed(view: View, dark: bool) -> PackedView:
    """Every panel's looks and words, and what every head does best. Arrays run over layers, then heads."""
    drawn = drawn_maps(view, dark)
    labels: list[PanelLabel] = []
    for panel in view.panels:
        if panel.label is not None and panel.label not in labels:
            labels.append(panel.label)
    in_table = view.state.view == TABLE
    panels = []
    for panel, look, profile in zip(view.panels, drawn.looks, drawn.profiles, strict=True):
        panels.append({**_panel(panel, labels), "look": _look(look), "profile": _profile(profile)})
    return {
        "model": named(view.card),
        "view": view.state.view,
        "title": view.title_parts,
        "state": view.state.values(),
        "isDefault": view.is_default,
        "numbers": address_of(view),
        "compared": compared_addresses(view),
        "layersUpward": view.map.layers_upward,
        **_around(view, drawn.palette, dark),
        "named": view.named.shared.to_query(),
        "own": own_set_of(view.shown) if view.shown is not None else "",
        "layers": list(view.card.layers),
        "heads": view.card.heads,
        "across": view.orientation.across,
        "upward": view.orientation.upward,
        "onlyFirst": in_table,
        "drawn": 1 if in_table else len(panels),
        "largest": _LARGEST_BESIDE_TABLE if in_table else LARGEST,
        "reasons": [reason.words for reason in Missing],
        "labels": [{"words": list(label.words), "codes": _bytes(label.codes.astype("<u2"))} for label in labels],
        "panels": panels,
        "best": _best(view),
    }


def _around(view: View, palette: Colours, dark: bool) -> PackedView:
    """What stands around the maps and follows the controls; the scripts' rules make the same."""
    shown = view.shown
    if shown is None:
        nothing: PackedView = {"called": {}, "counts": None, "shares": [], "profile": None}
        idle = dict.fromkeys(_local_controls(view), f"There is no {view.map.title.lower()} yet.")
        return {"sentence": [], "legend": [], "topic": "", "idle": idle, **nothing}
    counts = view.map.counts(shown, palette)
    return {
        "sentence": view.map.said(shown),
        "legend": [entry.to_plain() for entry in entries(shown, dark)],
        "topic": view.map.topic(shown),
        "idle": view.map.idle(shown),
        "called": view.map.called(shown),
        "counts": asdict(counts) if counts is not None else None,
        "shares": [asdict(table) for table in view.map.shares(shown, palette)],
        "profile": _profile(view.map.layers(shown, palette)),
    }


def _local_controls(view: View) -> list[str]:
    """The keys of the map's controls that only say how a result is shown; the others may lead to one that there is."""
    settings = settings_of(view.map.part)
    return [control.key for control in view.map.controls() if settings[control.key].local]


def _panel(panel: Panel, labels: list[PanelLabel]) -> PackedView:
    return {
        "key": panel.key,
        "title": panel.title,
        "note": panel.note,
        "row": panel.row,
        "column": panel.column,
        "leads": panel.leads,
        "reason": _bytes(panel.reason.astype("u1")) if panel.reason.any() else "",
        "label": labels.index(panel.label) if panel.label is not None else None,
    }


def _look(look: Look) -> PackedView:
    return {
        "shades": list(look.shades),
        "codes": _bytes(look.codes),
        "marks": _bytes(look.marks) if look.marks is not None and look.marks.any() else "",
        "empty": look.empty,
        "ground": look.ground,
    }


def _profile(profile: Profile | None) -> PackedView | None:
    if profile is None:
        return None
    return {
        "names": list(profile.names),
        "colours": list(profile.colours),
        "shares": [_bytes(shares.astype("<f4")) for shares in profile.shares],
        "signed": profile.signed,
    }


def _best(view: View) -> PackedView | None:
    """From the first map that knows what heads do best; None where that is the map on the page, whose rules tell it."""
    for each in MAPS:
        shown = view.of(each)
        best = each.best(shown) if shown is not None else None
        if best is not None:
            return _packed_best(best) if each is not view.map else None
    return None


def _packed_best(best: Best) -> PackedView:
    return {
        "count": len(best.item),
        "titles": list(best.titles),
        "verbs": list(best.verbs),
        "item": _bytes(best.item.astype("u1")),
        "verb": _bytes(best.verb.astype("u1")),
        "score": _bytes(best.score.astype("<f4")),
        "low": _bytes(_hundredths(best.low)),
        "high": _bytes(_hundredths(best.high)),
        "remarks": list(best.remarks),
        "remark": _bytes(best.remark.astype("u1")),
    }


def _hundredths(shares: Floats) -> Codes:
    """As the scripts have the ends of intervals; 0 where there is none."""
    return np.round(100 * np.nan_to_num(shares)).astype(np.uint8)


def _bytes(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
