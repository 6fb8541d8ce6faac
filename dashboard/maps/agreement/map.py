"""The agreement map: labelled and causal, labelled but irrelevant, causal but unlabelled, or neither."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from dash import html

from analysis import methods
from analysis.evidence.agreement import NAME, WORDS, LabelComparison, what_methods, whether_methods
from analysis.models.card import HeadId, ModelCard
from analysis.results.scores import Missing, Scores
from dashboard.maps.agreement import card as card_part
from dashboard.maps.agreement import scatter, words
from dashboard.maps.agreement.numbers import numbers
from dashboard.maps.agreement.panels import ORDER, TONES, colour, look, panels, tones
from dashboard.maps.agreement.sides import (
    AgreementView,
    comparisons_of,
    default_what,
    has_samples,
    shown_comparisons,
    sides,
    sides_of,
    tells_copying,
)
from dashboard.maps.agreement.state import AgreementState
from dashboard.maps.columns import TEXT, Cells, Column, group
from dashboard.maps.control import Choice, Control, picker, segments, slider
from dashboard.maps.counts import ShareTable
from dashboard.maps.entry import LegendEntry
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadRows
from dashboard.maps.look import Look
from dashboard.maps.map import Map, head_columns, with_model, with_source
from dashboard.maps.panel import Panel
from dashboard.maps.section import Content, Section
from dashboard.maps.sentences import Said
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours
from dashboard.setting import SettingValues

_COUNTS, _SCATTER = "agreement-counts", "agreement-scatter"


class AgreementMap(Map[AgreementState]):
    """A panel for each task or relation for which heads may matter."""

    name = NAME
    title = NAME.capitalize()
    part = AgreementState
    help = (
        "The agreement map compares two maps: does a head that is known for what it does also matter "
        "when the model works? For a task the labels of all relations count, for a relation its own."
    )

    # ---- The state ----------------------------------------------------------------------------------------------

    def methods(self) -> Sequence[str]:
        """None: it has no result of its own."""
        return ()

    def reads(self) -> Sequence[str]:
        """All methods that give labels of what heads do, or of whether they matter."""
        return [method.name for method in methods.METHODS if method.answers_what or method.answers_whether]

    def method(self, state: AgreementState, results: Mapping[str, Scores]) -> str:
        """The one whose labels are shown, where there are causes to hold them against."""
        two = sides_of(state, results)
        return two.what.name if two is not None else ""

    def repaired(
        self, state: AgreementState, results: Mapping[str, Scores], choices: Mapping[str, str], card: ModelCard
    ) -> tuple[AgreementState, list[str]]:
        """Only methods that the model has results of; its own defaults need not be named."""
        notices = []
        of_labels = [method.name for method in what_methods(results)]
        of_causes = [method.name for method in whether_methods(results)]
        for asked, there in ((state.what, of_labels), (state.whether, of_causes)):
            if asked and asked not in there:
                notices.append(f"{card.id} has no labels of {asked!r}; others are shown.")
        default = default_what(results)
        if state.what not in of_labels or (default is not None and state.what == default.name):
            state = replace(state, what="")
        if state.whether not in of_causes[1:]:
            state = replace(state, whether="")
        return state, notices

    # ---- Controls -----------------------------------------------------------------------------------------------

    def controls(self) -> Sequence[Control]:
        """Both sides, each with its threshold."""
        return [*_label_controls(), *_cause_controls()]

    def offered(self, shown: AgreementView | None, choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """The methods that the model has results of."""
        results = dict(shown.by_method) if shown is not None else {}
        return {"what": _choices(what_methods(results)), "whether": _choices(whether_methods(results))}

    def control_values(self, shown: AgreementView | None, state: AgreementState) -> SettingValues:
        """The two sides that are shown, chosen or not."""
        values = super().control_values(shown, state)
        if shown is None:
            return values
        return {**values, "what": sides(shown).what.name, "whether": sides(shown).whether.name}

    def needless(self, shown: AgreementView | None, state: AgreementState, choices: Mapping[str, str]) -> set[str]:
        """The threshold of the other unit; samples, where there are none."""
        if shown is None:
            return {"change", "replaced"}
        other = "change" if sides(shown).cause.unit == "share" else "cause"
        needless = {other}
        if not has_samples(shown):
            needless.add("matters")
        if not sides(shown).whether.replacements:
            needless.add("replaced")
        if not tells_copying(shown):
            needless.add("counted")
        return needless

    # ---- The maps on the page -----------------------------------------------------------------------------------

    def panels(self, shown: AgreementView) -> tuple[Panel, ...]:
        """One per task or relation."""
        return panels(shown)

    def tones(self, palette: Colours) -> Mapping[str, str]:
        """A colour for each class."""
        return tones(palette)

    def classes(self) -> Sequence[tuple[str, str]]:
        """Whether a head is labelled, and whether it is causal."""
        return [(words, TONES.get(code, "")) for code, words in enumerate(WORDS)]

    def looks(self, shown: AgreementView, palette: Colours) -> Sequence[Look]:
        """A colour for each class."""
        return [look(panel, palette) for panel in shown.panels]

    def numbers(self, shown: AgreementView) -> bytes:
        """Both strengths of every head."""
        return numbers(shown)

    def said(self, shown: AgreementView) -> list[Said]:
        """When a head is labelled and when it is causal."""
        return words.said(shown)

    def legend(self, shown: AgreementView, palette: Colours) -> list[LegendEntry]:
        """The four classes, counted."""
        return words.legend(shown, palette)

    def shares(self, shown: AgreementView, palette: Colours) -> Sequence[ShareTable]:
        """The same as a table."""
        return words.shares(shown, palette)

    def sections(self) -> Sequence[Section]:
        """Counts beside those of chance, and the heads as points."""
        hint = "By chance: the number expected if labels and causes were unrelated."
        points = (
            "One point per head, on average over the seeds where there are several. Hover to find a head on the maps, "
            "click to pin it."
        )
        return (
            Section(_COUNTS, "Heads of each class", hint),
            Section(_SCATTER, "Label against cause", points, is_figure=True, has_heads=True),
        )

    def contents(self, shown: AgreementView, width: int, dark: bool) -> Mapping[str, Content]:
        """A place for each panel, in which the scripts write: counts follow the thresholds."""
        comparisons = comparisons_of(shown, "mean", "all")
        if not comparisons:
            return {}
        addresses = [scatter.address(shown, each) for each in comparisons]
        figure = scatter.scatter(shown, width, shown.palette(dark))
        return {
            _COUNTS: Content(str(addresses), lambda: _task_sections(shown, comparisons)),
            _SCATTER: Content(json.dumps([figure["data"], figure["layout"]]), lambda: figure),
        }

    def command(self, model: str) -> str:
        """What counts them on the command line."""
        return f"python -m analysis agreement {model}"

    def absent(self, card: ModelCard, state: AgreementState) -> list[Any]:
        """What it takes."""
        of_labels = [method for method in methods.METHODS if method.answers_what]
        of_causes = [method for method in methods.METHODS if method.answers_whether]
        pieces: list[Any] = [
            html.H2(f"{card.id} has no labels and causes to compare yet"),
            html.P("It needs one map of what heads do and one of whether they matter."),
            html.P(["Request them under ", html.B("Models and jobs"), ", or run"]),
        ]
        for method in (of_labels[0], *of_causes):
            pieces.append(html.P(html.Code(method.command_line(card.id))))
        return pieces

    # ---- A head -------------------------------------------------------------------------------------------------

    def head_part(self, asked: AskedHead, shown: AgreementView | None) -> HeadPart | None:
        """Its class for every task or relation of every cause, and the two numbers that decide."""
        return None if shown is None else card_part.head_part(asked, shown, self.title)

    def head_rows(self, heads: Sequence[HeadId], shown: AgreementView) -> HeadRows:
        """The class of each head."""
        return card_part.head_rows(heads, shown, self.title)

    # ---- The table and what is taken away -----------------------------------------------------------------------

    def columns(self, shown: AgreementView) -> list[Column]:
        """One per panel."""
        listed: list[Column] = []
        for panel in shown.panels:
            listed.append({"field": f"agreement.{panel.key}", "headerName": panel.title, **TEXT, "width": 200})
        return [group("Label and cause", listed)] if listed else []

    def cells(self, shown: AgreementView) -> dict[str, Cells]:
        """The class in words."""
        cells: dict[str, Cells] = {}
        for panel in shown.panels:
            cells[f"agreement.{panel.key}"] = _class_words(panel).ravel().tolist()
        return cells

    def sources(self, shown: AgreementView) -> Sequence[Scores]:
        """Both sides."""
        results, two = dict(shown.by_method), sides(shown)
        return [results[method.name] for method in (two.what, two.whether)]

    def summary_command(self, shown: AgreementView) -> list[str]:
        """The counts of every pair of maps that the model then has."""
        return [NAME, shown.card.id]

    def swatches(self, shown: AgreementView, palette: Colours) -> list[Swatch]:
        """The four classes."""
        return [Swatch(colour(code, palette), WORDS[code]) for code in ORDER]

    def heading(self, shown: AgreementView) -> str:
        """Which two are held against each other."""
        about = words.facts(shown)
        rule = words.rule_words(shown.state, about)
        return f"labels ({about.what.lower()}) against causes ({about.whether.lower()}) · {rule}"

    def frame(self, shown: AgreementView) -> pd.DataFrame:
        """A row for each head and panel: both strengths and the class."""
        frames = []
        for panel, each in zip(shown.panels, shown_comparisons(shown), strict=False):
            rows = {
                "item": panel.key,
                **head_columns(shown.card),
                "label": each.label.ravel(),
                "cause": each.cause.ravel(),
                "class": _class_words(panel).ravel(),
                "labels_of": each.what,
                "causes_of": each.whether,
                "counted": shown.state.counted,
                "replaced": shown.state.replaced if sides(shown).whether.replacements else "",
            }
            frames.append(pd.DataFrame(rows))
        together = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["item", "layer", "head"])
        return with_source(with_model(together, shown.result), shown.result)


def _choices(listed: Sequence[Any]) -> list[Choice]:
    return [{"value": method.name, "label": method.title} for method in listed]


def _task_sections(shown: AgreementView, comparisons: Sequence[LabelComparison]) -> html.Div:
    parts = []
    for each in comparisons:
        holder = html.Div(className="shares-of", **{"data-task": words.TABLE.task + each.item})
        axes = f"{sides(shown).label.words} against {sides(shown).cause.words}"
        link = html.A(f"Compare {axes}, head by head", href=scatter.address(shown, each))
        parts.append(html.Section([html.H3(each.title), holder, html.P(link, className="hint")], className="task"))
    return html.Div(parts, className="tasks")


def _class_words(panel: Panel) -> Any:  # [layer, head] of texts
    """The class of every head, or why it has none."""
    missing = np.array([reason.words for reason in Missing], dtype=object)[panel.reason]
    if panel.label is None:
        return missing
    return np.where(panel.reason == Missing.PRESENT, np.array(WORDS, dtype=object)[panel.label.codes], missing)


def _label_controls() -> list[Control]:
    """What a head does."""
    default = AgreementState()
    return [
        Control("what", "Labels", "Which map says what a head does.", picker("what", "Labels", 230), is_picker=True),
        Control(
            "label",
            "Label τ",
            "A head is labelled when its score is above τ.",
            slider("label", "Label τ", default.label),
            has_number=True,
        ),
        Control(
            "counted",
            "Labels that count",
            "Beyond copying: only scores whose targets outrank the source itself in at least half of the hits, and of "
            "which shuffled targets score no more than the default τ. Copying relations are exempt from the first.",
            segments("counted", "Labels that count", default.counted, all="All", beyond="Beyond copying"),
            conditional=True,
        ),
    ]


def _cause_controls() -> list[Control]:
    """Whether it matters."""
    default = AgreementState()
    return [
        Control(
            "whether",
            "Causes",
            "Which map says whether a head matters.",
            picker("whether", "Causes", 150),
            is_picker=True,
        ),
        Control(
            "cause",
            "Cause θ",
            "A head is causal when the task needs it, or is hurt by it, at least this much.",
            slider("cause", "Cause θ", default.cause),
            has_number=True,
            conditional=True,
        ),
        Control(
            "change",
            "Cause Δ",
            "A head is causal when switching it off changes the log-probability of the right answer by at least "
            "so many nats, and is told from none (at most 5 % false discoveries among all heads).",
            slider("change", "Cause Δ", default.change),
            has_number=True,
            conditional=True,
        ),
        Control(
            "replaced",
            "Replaced by",
            "What stands in the place of a head that is switched off: zero, or its mean over the prompts. Both: the "
            "smaller of the two changes, where both go the same way.",
            segments("replaced", "Replaced by", default.replaced, zero="Zero", mean="Mean", both="Both"),
            conditional=True,
        ),
        Control(
            "matters",
            "Causal in",
            "Mean: on average over the seeds. Always: in every seed. Any: in at least one.",
            segments("matters", "Causal in", default.over, mean="Mean", always="Always", any="Any"),
            conditional=True,
        ),
    ]
