"""The behaviour map: where each head looks, one panel per measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from dash import html

from analysis.methods.behaviour.measures import MEASURED, MEASURES, SCORE, SHARE
from analysis.methods.behaviour.method import BehaviourMethod
from analysis.models.card import HeadId, ModelCard
from analysis.results.provenance import ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Floats, Scores
from dashboard.maps import plain
from dashboard.maps.columns import NUMBER, TWO_DIGITS, Cells, Column, group, numbers
from dashboard.maps.control import Control, slider
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadRows, row_of_numbers
from dashboard.maps.map import Map, MapView
from dashboard.maps.panel_choice import PanelChoice
from dashboard.maps.plain import PlainPanel, PlainPanels
from dashboard.maps.sentences import Said, number
from dashboard.setting import COUNT, NAME, Part, setting
from dashboard.setting import SHARE as SHARE_CODEC

_DOES = {measure.name for measure in MEASURES if measure.threshold is not None}
_LEAST = 0.3  # of its attention, from which a head is said to do something
_KEY = "attention"  # of the threshold
_CHOICE = PanelChoice("measure", "strongest", "Measure", "All measures", "The heads with the highest numbers")
_DIFFUSE = "no clear pattern"
_OF_MOST = "share of the maximum"


@dataclass(frozen=True)
class BehaviourState(Part):
    """From which share of its attention on a head is said to do something, and which heads are shown."""

    least: float = setting(_LEAST, SHARE_CODEC, key=_KEY, local=True)
    measure: str = setting("", NAME, local=True)  # one instead of all
    strongest: int = setting(0, COUNT, local=True)  # only so many heads of each panel in full colour; 0 is all


BehaviourView = MapView[BehaviourState]


class BehaviourMap(Map[BehaviourState]):
    """A panel per measure: previous token, duplicate token, induction, first token, entropy, distance."""

    name = BehaviourMethod.name
    title = BehaviourMethod.title
    part = BehaviourState
    help = (
        "The behaviour map says where a head looks. Previous token, duplicate token and induction are measured on "
        "a random sequence, repeated; the first token, entropy and distance on text."
    )

    def repaired(
        self, state: BehaviourState, results: Mapping[str, Scores], choices: Mapping[str, str], card: ModelCard
    ) -> tuple[BehaviourState, list[str]]:
        """Only a measure that the model has."""
        return _CHOICE.repaired(state, results.get(self.name), card)

    def controls(self) -> Sequence[Control]:
        """The threshold, one measure, how many heads."""
        words = "A head counts as doing something if at least this share of its attention goes there."
        least = Control(_KEY, "Attention", words, slider(_KEY, "Attention", _LEAST), has_number=True)
        return [least, *_CHOICE.controls()]

    def offered(self, shown: BehaviourView | None, choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """The measures."""
        return _CHOICE.offered(shown.whole if shown is not None else None)

    def needless(self, shown: BehaviourView | None, state: BehaviourState, choices: Mapping[str, str]) -> set[str]:
        """The measures, of a result with one."""
        return _CHOICE.needless(shown.whole if shown is not None else None)

    def plain(self, shown: BehaviourView) -> PlainPanels:
        """A panel per measure; all call a head by what it does."""
        panels = [_panel(shown, item) for item in shown.result.provenance.items]
        return PlainPanels(
            panels,
            threshold=_KEY,
            alone=_CHOICE.alone,
            top=_CHOICE.top,
            otherwise=_DIFFUSE,
            scale="share of attention, or of the maximum",
        )

    def topic(self, shown: BehaviourView) -> str:
        """The measure that is shown alone."""
        return plain.topic(shown.plain, shown.state)

    def said(self, shown: BehaviourView) -> list[Said]:
        """How to read it."""
        return [
            f"Each square is one attention head of {shown.card.id}; the stronger its colour, the more of its attention "
            "goes where the panel's title says. Entropy and distance are relative to their maximum."
        ]

    def head_part(self, asked: AskedHead, shown: BehaviourView | None) -> HeadPart | None:
        """Every measure of the head."""
        if shown is None:
            return None
        rows = [_row(shown, item, asked) for item in shown.result.provenance.items]
        names = ("looks at", "share", f"rank of {shown.total:,}")
        header = html.Tr([html.Th(name, scope="col", className="num" if "rank" in name else "") for name in names])
        table = html.Table([html.Thead(header), html.Tbody(rows)], className="counts")
        return HeadPart([html.Div([html.H3(self.title), table])])

    def head_rows(self, heads: Sequence[HeadId], shown: BehaviourView) -> HeadRows:
        """Every measure of each head, whichever is on the map."""
        places = [(shown.card.layers.index(head.layer), head.head) for head in heads]
        rows = []
        for item in shown.result.provenance.items:
            value, title = _value(shown.result, item), item.title.capitalize()
            numbers_of_heads = [float(value[place]) for place in places]
            rows.append(row_of_numbers(shown.link(title, measure=item.name), numbers_of_heads))
        return HeadRows(self.title, tuple(rows))

    def columns(self, shown: BehaviourView) -> list[Column]:
        """One per measure."""
        columns: list[Column] = []
        for item in shown.result.provenance.items:
            columns.append({"field": _field(item), "headerName": item.title, **NUMBER, **TWO_DIGITS, "width": 150})
        return [group(self.title, columns)]

    def cells_follow(self) -> set[str]:
        """None: the numbers are always the same."""
        return set()

    def cells(self, shown: BehaviourView) -> dict[str, Cells]:
        """Their values."""
        cells: dict[str, Cells] = {}
        for item in shown.result.provenance.items:
            cells[_field(item)] = numbers(_value(shown.result, item).ravel(), _missing(shown.result, item).ravel())
        return cells

    def heading(self, shown: BehaviourView) -> str:
        """Where heads look, and from which share of their attention on that counts."""
        share = number(100 * shown.state.least)
        counts = f"a head counts with at least {share} % of its attention there"
        return f"where heads look ({counts}{_CHOICE.words(shown.state)})"

    def frame(self, shown: BehaviourView) -> pd.DataFrame:
        """A row for each head and measure, with the threshold from which a head belongs."""
        frame = super().frame(shown)
        frame[_KEY] = shown.state.least
        return frame


def _field(item: ScoredItem) -> str:
    return f"behaviour.{item.name}"


def _value(scores: Scores, item: ScoredItem) -> Floats:  # [layer, head]
    chosen = scores.score.sel(item=item.name, kind=SCORE, sample=ONLY_SAMPLE)
    return np.asarray(chosen.values, dtype=np.float64)


def _missing(scores: Scores, item: ScoredItem) -> npt.NDArray[np.int8]:  # [layer, head]
    """Why there is no value."""
    return np.asarray(scores.missing.sel(item=item.name, kind=SCORE, sample=ONLY_SAMPLE).values)


def _panel(shown: BehaviourView, item: ScoredItem) -> PlainPanel:
    missing = _missing(shown.result, item)
    value, title = _value(shown.result, item), item.title.capitalize()
    if item.name in _DOES:
        return PlainPanel(item.name, title, value, missing, called=title, number=SHARE)
    none = np.zeros(value.shape, bool)
    return PlainPanel(item.name, title, value, missing, member=none, number=_OF_MOST, remark="relative to the maximum")


def _row(shown: BehaviourView, item: ScoredItem, asked: AskedHead) -> html.Tr:
    cell = (shown.card.layers.index(asked.head.layer), asked.head.head)
    value = _value(shown.result, item)
    share = 0.0 if np.isnan(value[cell]) else float(value[cell])
    does = item.name in _DOES
    bar = html.I(style={"width": f"{100 * share:.1f}%"})
    rank = shown.result.rank(item.name, asked.head, SCORE)
    shown_share = html.Span([bar, html.Span(f"{share:.2f}")], className="bar")
    measured = html.Span(_unit(shown, item, cell), className="hint")
    return html.Tr(
        [
            html.Th([shown.link(item.title, measure=item.name), measured], scope="row"),
            html.Td(shown_share),
            html.Td(str(rank), className="num"),
        ],
        className="strong" if does and share >= shown.state.least else "",
        **({"data-reaches": f"{_KEY} {share}"} if does else {}),
    )


def _unit(shown: BehaviourView, item: ScoredItem, cell: tuple[int, int]) -> str:
    """What was measured in its own unit, where that is no share."""
    measure = next((each for each in MEASURES if each.name == item.name), None)
    values = shown.result.part(MEASURED, item.name)
    if measure is None or measure.unit == SHARE or values is None or np.isnan(values[cell]):
        return ""
    return f" ({values[cell]:.1f} {measure.unit})"
