"""The behaviour map: where each head looks, one panel per measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html

from analysis.methods.behaviour.measures import MEASURED, MEASURES, SCORE, SHARE
from analysis.methods.behaviour.method import BehaviourMethod
from analysis.results.provenance import Item
from analysis.results.scores import ONLY_SAMPLE, Floats, Missing, Scores
from dashboard.maps.columns import NUMBER, TWO_DIGITS, Column, numbers
from dashboard.maps.control import Control, slider
from dashboard.maps.entry import Entry
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.look import scale
from dashboard.maps.map import Map, MapView
from dashboard.maps.panel import Label, Measure, Panel
from dashboard.maps.said import Said
from dashboard.palette import Colours
from dashboard.setting import SHARE as SHARE_CODEC
from dashboard.setting import Part, setting

_DOES = {measure.name for measure in MEASURES if measure.threshold is not None}
_LEAST = 0.3  # of its attention, from which a head is said to do something
_DIFFUSE = "no clear pattern"


@dataclass(frozen=True)
class BehaviourState(Part):
    """From which share of its attention on a head is said to do something."""

    least: float = setting(_LEAST, SHARE_CODEC, key="attention")


Shown = MapView[BehaviourState]


class BehaviourMap(Map[BehaviourState]):
    """A panel per measure: previous token, duplicate token, induction, first token, entropy, distance."""

    name = BehaviourMethod.name
    title = BehaviourMethod.title
    part = BehaviourState
    help = (
        "The behaviour map says where a head looks. Previous token, duplicate token and induction are measured on "
        "random tokens that come twice, the first token, entropy and distance on text."
    )

    def controls(self) -> Sequence[Control]:
        """The threshold."""
        words = "A head is said to do something from this share of its attention on."
        return [Control("attention", "Attention", words, slider("attention", "Attention", _LEAST), has_number=True)]

    def panels(self, shown: Shown) -> tuple[Panel, ...]:
        """One per measure; all call a head by what it does."""
        made = [_panel(shown, item) for item in shown.result.provenance.items]
        label = _label(shown, made)
        return tuple(Panel(**{**vars(panel), "label": label}) for panel in made)

    def said(self, shown: Shown) -> list[Said]:
        """How to read it."""
        return [
            f"Each square is one attention head of {shown.card.id}; the stronger its colour, the more of its attention "
            "goes where the panel's title says. Entropy and distance are shares of the largest that is possible."
        ]

    def legend(self, shown: Shown, palette: Colours) -> list[Entry]:
        """A colour bar."""
        shades = tuple(scale(palette.empty, palette.accent, 9))
        return [Entry("share of attention, or of the largest value", kind="ramp", shades=shades, ends=("0", "1"))]

    def head_part(self, asked: AskedHead, shown: Shown | None) -> HeadPart | None:
        """Every measure of the head."""
        if shown is None:
            return None
        rows = [_row(shown, item, asked) for item in shown.result.provenance.items]
        names = ("Looks at", "", f"rank of {shown.total:,}")
        header = html.Tr([html.Th(name, scope="col", className="num" if "rank" in name else "") for name in names])
        table = html.Table([html.Thead(header), html.Tbody(rows)], className="counts")
        return HeadPart([html.Div([html.H3(self.title), table])])

    def columns(self, shown: Shown) -> list[Column]:
        """One per measure."""
        columns = []
        for item in shown.result.provenance.items:
            columns.append({"field": _field(item), "headerName": item.title, **NUMBER, **TWO_DIGITS})
        return columns

    def cells(self, shown: Shown) -> dict[str, list[Any]]:
        """Their values."""
        cells: dict[str, list[Any]] = {}
        for item, panel in zip(shown.result.provenance.items, shown.panels, strict=True):
            cells[_field(item)] = list(numbers(panel.value.ravel(), panel.reason.ravel()))
        return cells


def _field(item: Item) -> str:
    return f"behaviour_{item.name}"


def _value(scores: Scores, item: Item) -> Floats:  # [layer, head]
    chosen = scores.score.sel(item=item.name, kind=SCORE, sample=ONLY_SAMPLE)
    return np.asarray(chosen.values, dtype=np.float64)


def _panel(shown: Shown, item: Item) -> Panel:
    value = _value(shown.result, item)
    missing = shown.result.missing.sel(item=item.name, kind=SCORE, sample=ONLY_SAMPLE).values
    with np.errstate(invalid="ignore"):
        member = (value >= shown.state.least) & (item.name in _DOES)
    return Panel(
        key=item.name,
        title=item.title.capitalize(),
        value=value,
        member=member,
        reason=np.where(np.isnan(value), missing, Missing.PRESENT).astype(np.int8),
        measures=(Measure("", value),),
        remark="" if item.name in _DOES else "share of the largest",
    )


def _label(shown: Shown, panels: Sequence[Panel]) -> Label:
    """What every head does, by all measures that say what a head does."""
    words = []
    for layer in range(len(shown.card.layers)):
        for head in range(shown.card.heads):
            titles = [panel.title for panel in panels if panel.member[layer, head]]
            words.append(" · ".join(titles) or _DIFFUSE)
    return Label.of(words, panels[0].value.shape)


def _row(shown: Shown, item: Item, asked: AskedHead) -> html.Tr:
    cell = (shown.card.layers.index(asked.head.layer), asked.head.head)
    value = _value(shown.result, item)
    share = 0.0 if np.isnan(value[cell]) else float(value[cell])
    colour = asked.palette.accent if share >= shown.state.least else asked.palette.faint
    bar = html.I(style={"width": f"{100 * share:.1f}%", "background": colour})
    rank = shown.result.rank(item.name, asked.head, SCORE)
    number = html.Span([bar, html.Span(f"{share:.2f}{_unit(shown, item, cell)}")], className="bar")
    return html.Tr(
        [html.Th(item.title, scope="row"), html.Td(number), html.Td(str(rank), className="num")],
        className="strong" if item.name in _DOES and share >= shown.state.least else "",
    )


def _unit(shown: Shown, item: Item, cell: tuple[int, int]) -> str:
    """What was measured in its own unit, where that is no share."""
    measure = next((each for each in MEASURES if each.name == item.name), None)
    values = shown.result.part(MEASURED, item.name)
    if measure is None or measure.unit == SHARE or values is None or np.isnan(values[cell]):
        return ""
    return f" ({values[cell]:.1f} {measure.unit})"
