"""The ablation map: what a task or a relation loses, or gains, when a head is switched off."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from dash import html

from analysis.method import RequestSummary
from analysis.methods.ablation.method import AblationMethod
from analysis.methods.ablation.result import (
    ACCURACY,
    ERROR,
    POSITION_WORDS,
    WORDING_WORDS,
    ItemRecord,
    margin,
    part_name,
    place_words,
    record_of,
    run_words,
    told_from_none,
)
from analysis.models.card import HeadId, ModelCard
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Floats, Scores, ranks
from dashboard.maps import plain
from dashboard.maps.ablation.curve import HEIGHT, curves
from dashboard.maps.columns import NUMBER, SIGNED, Cells, Column, group, numbers
from dashboard.maps.control import Control, picker, segments
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadCell, HeadRow, HeadRows
from dashboard.maps.map import Map, MapView
from dashboard.maps.panel_choice import PanelChoice
from dashboard.maps.plain import PlainPanel, PlainPanels
from dashboard.maps.section import Content, Section
from dashboard.maps.sentences import Said
from dashboard.palette import ABOVE, BELOW, tone_name
from dashboard.setting import COUNT, NAME, Codec, Part, setting

Off = Literal["zero", "mean"]
_RUN = re.compile(f"(({'|'.join(POSITION_WORDS)})-[0-9]{{1,6}}-({'|'.join(WORDING_WORDS)}))?")
_CURVES = "ablation-curves"
_NUMBER = "change in log P"
_CHOICE = PanelChoice("item", "largest", "Task", "All tasks and relations", "The heads with the largest changes")
_OFF_WORDS = {"zero": "zero", "mean": "its mean over the prompts"}


def _run(text: str) -> str:
    if not _RUN.fullmatch(text):
        raise ValueError(text)
    return text


RUN: Codec[str] = Codec(_run, str)


@dataclass(frozen=True)
class AblationState(Part):
    """What stands in the place of a head's output, and which result, panels and heads are shown."""

    off: Off = setting("zero", Off, local=True)
    item: str = setting("", NAME, of_model=True, local=True)  # one task or relation instead of all
    largest: int = setting(0, COUNT, local=True)  # only so many heads of each panel in full colour; 0 is all
    run: str = setting("", RUN, of_model=True)  # in which way heads were switched off; empty: the most complete result


AblationView = MapView[AblationState]


class AblationMap(Map[AblationState]):
    """A panel per task or relation."""

    name = AblationMethod.name
    title = AblationMethod.title
    part = AblationState
    help = (
        "In the ablation map one head at a time is switched off, its output set to zero or to its mean, while the "
        "model does a task. What changes is the log-probability of the right answer."
    )

    def choice(self, state: AblationState) -> str:
        """The way in which heads were switched off."""
        return state.run

    def repaired(
        self, state: AblationState, results: Mapping[str, Scores], choices: Mapping[str, str], card: ModelCard
    ) -> tuple[AblationState, list[str]]:
        """Only an item and a way of which the model has a result; the only way need not be named."""
        state, notices = _CHOICE.repaired(state, results.get(self.name), card)
        if state.run and state.run not in choices:
            way = run_words(state.run)
            notices.append(f"{card.id} has no ablation with heads switched off {way}; another one is shown.")
        is_needed = state.run in choices and len(choices) > 1
        return (state if is_needed else replace(state, run="")), notices

    def state_of_result(self, provenance: Provenance) -> AblationState:
        """In its own way."""
        return AblationState(run=AblationMethod().choice(provenance))

    def state_of_job(self, asked: Mapping[str, RequestSummary]) -> AblationState:
        """In the way that was asked for."""
        return AblationState(run=asked[self.name].choice)

    def controls(self) -> Sequence[Control]:
        """Zero or mean; one item, how many heads; in which way heads were switched off, where there are several."""
        words = "What replaces a head's output: zero, or its mean over the prompts."
        off = Control("off", "Replaced by", words, segments("off", "Replaced by", "zero", zero="Zero", mean="Mean"))
        run = Control(
            "run",
            "Switched off",
            "At which tokens heads were switched off, on how many prompts, and how relations were asked for.",
            picker("run", "Switched off", 200, comboboxProps={"width": 420, "position": "bottom-start"}),
            is_picker=True,
            decides_choices=True,
            conditional=True,
        )
        return [off, run, *_CHOICE.controls()]

    def offered(self, shown: AblationView | None, choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """The ways of which the model has a result, and the items of the one that is shown."""
        ways = [{"value": name, "label": run_words(name)} for name in choices]
        items = _CHOICE.offered(shown.whole if shown is not None else None)
        return {"run": [{"value": "", "label": "Most complete"}, *ways], **items}

    def needless(self, shown: AblationView | None, state: AblationState, choices: Mapping[str, str]) -> set[str]:
        """The ways, where there is one; likewise the items."""
        needless = _CHOICE.needless(shown.whole if shown is not None else None)
        return needless if len(choices) > 1 else {*needless, "run"}

    def plain(self, shown: AblationView) -> PlainPanels:
        """A panel per item; heads belong whose change counts as one."""
        panels = []
        for item in shown.result.provenance.items:
            panels += [_panel(shown.result, item, off) for off in get_args(Off)]
        return PlainPanels(
            panels,
            chooses="off",
            alone=_CHOICE.alone,
            top=_CHOICE.top,
            signed=True,
            scale=f"{_NUMBER} without the head; full colour: the panel's largest change",
            ends=("loses", "gains"),
        )

    def topic(self, shown: AblationView) -> str:
        """The item that is shown alone."""
        return plain.topic(shown.plain, shown.state)

    def said(self, shown: AblationView) -> list[Said]:
        """How to read it."""
        return [
            f"Each square is one attention head of {shown.card.id}; its colour shows how the log-probability of the "
            "right answer changes when that head alone is switched off. If it falls, the task needs the head."
        ]

    def sections(self) -> Sequence[Section]:
        """The curves of the relations."""
        hint = (
            "Accuracy as a relation's heads are switched off one by one, in the order of each map's scores and "
            "at random: the sooner it falls, the better that order finds the heads that matter. Dotted (†): heads with "
            "equal scores, in the order of the layers, which says nothing of the map. Band: from the least to the "
            "most accurate of the random draws, in which labelled heads may be among the first."
        )
        return (Section(_CURVES, "Switching heads off one by one", hint, height=HEIGHT, is_figure=True),)

    def contents(self, shown: AblationView, width: int, dark: bool) -> Mapping[str, Content]:
        """Where there are any."""
        there = [item for item in shown.result.provenance.items if record_of(shown.result, item.name).curve]
        if not there:
            return {}
        depends = f"{shown.card.fingerprint} {[item.name for item in there]} {shown.common.palette} {dark}"
        return {_CURVES: Content(depends, lambda: curves(shown.result, there, shown.palette(dark)))}

    def head_part(self, asked: AskedHead, shown: AblationView | None) -> HeadPart | None:
        """What every item loses without the head."""
        if shown is None:
            return None
        rows = []
        for item in shown.result.provenance.items:
            rows += [_row(shown, item, asked, off) for off in get_args(Off)]
        names = {
            "Without it": "",
            "log P ± 95 %": "change in the right answer's log-probability, with its 95 % interval",
            "right answers": "change in the share of right answers, in percentage points",
            f"rank of {shown.total:,}": "1 for the largest loss; for a gain, 1 for the largest gain",
        }
        header = []
        for name, explained in names.items():
            header.append(html.Th(name, scope="col", className="num" if explained else "", title=explained))
        table = html.Table([html.Thead(html.Tr(header)), html.Tbody(rows)])
        return HeadPart([html.Div([html.H3(self.title), table])])

    def head_rows(self, heads: Sequence[HeadId], shown: AblationView) -> HeadRows:
        """What every item loses without each head, full colour at the largest change of any head."""
        rows = []
        for item in shown.result.provenance.items:
            rows += [_head_row(shown, item, heads, off) for off in get_args(Off)]
        return HeadRows(f"{self.title}, {_NUMBER}", tuple(rows))

    def columns(self, shown: AblationView) -> list[Column]:
        """One per item."""
        columns: list[Column] = []
        for item in shown.result.provenance.items:
            columns.append({"field": _field(item), "headerName": item.title, **NUMBER, **SIGNED, "width": 150})
        return [group("Log P without the head", columns)]

    def cells_follow(self) -> set[str]:
        """What replaces a head's output."""
        return {"off"}

    def cells(self, shown: AblationView) -> dict[str, Cells]:
        """The changes of log-probability."""
        cells: dict[str, Cells] = {}
        for item in shown.result.provenance.items:
            value = _values(shown.result, item, shown.state.off)
            missing = _missing(shown.result, item, shown.state.off)
            cells[_field(item)] = numbers(value.ravel(), missing.ravel())
        return cells

    def heading(self, shown: AblationView) -> str:
        """What is switched off, and how."""
        where = POSITION_WORDS[shown.result.provenance.settings["positions"]]
        by = f"{_OFF_WORDS[shown.state.off]}{_CHOICE.words(shown.state)}"
        return f"{_NUMBER} without each head, its output at {where} replaced by {by}"

    def frame(self, shown: AblationView) -> pd.DataFrame:
        """A row for each head and item: what replaced its output, the change with its standard error, its rank."""
        frame = super().frame(shown)
        off, items = shown.state.off, [shown.result.item(panel.key) for panel in shown.panels]
        frame.insert(list(frame.columns).index("item") + 1, "off", off)
        values = [_values(shown.result, item, off) for item in items]
        frame["rank"] = np.concatenate([ranks(-value).ravel() for value in values])  # 1 is the largest loss
        errors = [_errors(shown.result, item, off) for item in items]
        frame.insert(list(frame.columns).index("score") + 1, "error", np.concatenate([each.ravel() for each in errors]))
        frame["positions"] = shown.result.provenance.settings["positions"]
        return frame


def _field(item: ScoredItem) -> str:
    return f"ablation.{item.name}"


def _values(scores: Scores, item: ScoredItem, off: str) -> Floats:  # [layer, head]
    chosen = scores.score.sel(item=item.name, kind=off, sample=ONLY_SAMPLE)
    return np.asarray(chosen.values, dtype=np.float64)


def _missing(scores: Scores, item: ScoredItem, off: str) -> npt.NDArray[np.int8]:  # [layer, head]
    """Why there is no value."""
    return np.asarray(scores.missing.sel(item=item.name, kind=off, sample=ONLY_SAMPLE).values)


def _errors(scores: Scores, item: ScoredItem, off: str) -> Floats:  # [layer, head]
    """The standard errors of an item's changes; NaN where they are not known."""
    error = scores.part(part_name(ERROR, off), item.name)
    return np.full(_values(scores, item, off).shape, np.nan) if error is None else np.asarray(error, np.float64)


def _panel(scores: Scores, item: ScoredItem, off: str) -> PlainPanel:
    value = _values(scores, item, off)
    member = told_from_none(scores, off).sel(item=item.name).values
    record = record_of(scores, item.name)
    return PlainPanel(
        key=item.name,
        title=item.title,
        value=value,
        reason=_missing(scores, item, off),
        variant=off,
        member=member,
        number=_NUMBER,
        digits=3,
        ranked=False,
        remark=_untouched(record),
    )


def _untouched(record: ItemRecord) -> str:
    """How well the model does with all of its heads, where that was measured."""
    if record.accuracy is None:
        return ""
    return f"untouched: {record.accuracy * record.prompts:.0f} of {record.prompts} right"


def _head_row(shown: AblationView, item: ScoredItem, heads: Sequence[HeadId], off: str) -> HeadRow:
    """The row for one way of switching heads off; only the row of the chosen way is seen."""
    values = _values(shown.result, item, off)
    steepest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    cells = []
    for head in heads:
        value = float(values[shown.card.layers.index(head.layer), head.head])
        cells.append(_head_cell(value, steepest))
    return HeadRow(shown.link(item.title, item=item.name), tuple(cells), when=f"off {off}")


def _head_cell(value: float, steepest: float) -> HeadCell:
    if np.isnan(value):
        return HeadCell("")
    tone = ABOVE if value > 0 else BELOW
    return HeadCell(f"{value:+.3f}".replace("-", "−"), min(abs(value) / steepest, 1.0), tone_name(tone))


def _row(shown: AblationView, item: ScoredItem, asked: AskedHead, off: str) -> html.Tr:
    """The row for one way of switching the head off; only the row of the chosen way is seen."""
    cell = (shown.card.layers.index(asked.head.layer), asked.head.head)
    value = _values(shown.result, item, off)
    half = margin(shown.result, item.name, off, cell)
    accuracy = shown.result.part(part_name(ACCURACY, off), item.name)
    sure = "" if half is None else f" ± {half:.3f}"
    right = "" if accuracy is None or np.isnan(accuracy[cell]) else f"{100 * accuracy[cell]:+.1f} pp".replace("-", "−")
    return html.Tr(
        [
            html.Th(shown.link(item.title, item=item.name), scope="row"),
            html.Td("" if np.isnan(value[cell]) else f"{value[cell]:+.3f}{sure}".replace("-", "−"), className="num"),
            html.Td(right, className="num"),
            html.Td(place_words(value, cell), className="num"),
        ],
        hidden=off != shown.state.off,
        **{"data-when": f"off {off}"},
    )
