"""The function map: what a head does, read from its weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.methods.function.method import FunctionMethod
from analysis.models.card import ModelCard
from analysis.results.provenance import Provenance
from analysis.results.scores import Scores
from dashboard.maps.columns import Column
from dashboard.maps.control import Control
from dashboard.maps.function import exports, head, legend, table
from dashboard.maps.function.best import best_relations
from dashboard.maps.function.colours import look
from dashboard.maps.function.controls import controls, relation_choices
from dashboard.maps.function.panels import panels
from dashboard.maps.function.state import FunctionState
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.look import Look
from dashboard.maps.map import Map, MapView
from dashboard.maps.panel import Panel
from dashboard.maps.section import Content, Section
from dashboard.maps.tooltip import Best
from dashboard.palette import Colours

Shown = MapView[FunctionState]

_DO = {"both": "promote or suppress", "promote": "promote", "suppress": "suppress"}


class FunctionMap(Map[FunctionState]):
    """A panel for all categories of relations and one for each."""

    name = FunctionMethod.name
    title = FunctionMethod.title
    part = FunctionState
    origin = "function map from the weights"
    help = (
        "Every square is one attention head. Its score for a relation, such as country → capital, is the share "
        "of word pairs for which the head's weights alone lift the right word to the top of the vocabulary "
        "(promote), or push it to the bottom (suppress). A head belongs to a category when a score is above τ."
    )

    def repaired(
        self, state: FunctionState, result: Scores | None, choices: Mapping[str, str], card: ModelCard
    ) -> tuple[FunctionState, list[str]]:
        """Only a relation that the model has scores for."""
        relations = result.items() if result is not None else []
        if not state.relation or state.relation in relations:
            return state, []
        notice = f"{card.id} has no scores for {state.relation!r}; all categories are shown."
        return replace(state, relation=""), [notice]

    def controls(self) -> Sequence[Control]:
        """Rule, effect, colours, threshold, relation, how many."""
        return controls()

    def offered(self, shown: Shown | None, choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """The relations of the model."""
        return {"relation": relation_choices(shown.whole if shown is not None else None)}

    def control_values(self, shown: Shown | None, state: FunctionState) -> dict[str, Any]:
        """An empty field stands for all heads."""
        return {**super().control_values(shown, state), "top": state.top or ""}

    def panels(self, shown: Shown) -> tuple[Panel, ...]:
        """All categories first, then each; one when a relation is asked for."""
        return panels(shown.result, shown.state)

    def looks(self, shown: Shown, palette: Colours) -> Sequence[Look]:
        """Categories above τ and tints below it, or the scores themselves."""
        return [look(panel, shown.state, palette) for panel in shown.panels]

    def best(self, shown: Shown) -> Best | None:
        """The relations that every head does best."""
        return best_relations(shown.result, shown.state.kinds)

    def subject(self, shown: Shown) -> str:
        """The relation that is shown alone."""
        return shown.panels[0].title if shown.state.relation else ""

    def sentence(self, shown: Shown) -> list[Any]:
        """When a square is coloured."""
        return legend.sentence(shown)

    def legend(self, shown: Shown, palette: Colours) -> list[Any]:
        """Categories and tints, or a colour bar."""
        return legend.legend(shown, palette)

    def sections(self) -> Sequence[Section]:
        """Layer profile, counts, relations that are not applicable."""
        return legend.SECTIONS

    def contents(self, shown: Shown, width: int, dark: bool) -> Mapping[str, Content]:
        """Of the panels on the page."""
        return legend.contents(shown, dark)

    def head_part(self, asked: AskedHead, shown: Shown | None) -> HeadPart | None:
        """All relations of the head."""
        return head.head_part(asked, shown, self.command(asked.card.id))

    def columns(self, shown: Shown) -> list[Column]:
        """What the head does, panels and relations."""
        return table.columns(shown)

    def cells(self, shown: Shown) -> dict[str, list[Any]]:
        """Their values."""
        return table.cells(shown)

    def swatches(self, shown: Shown, palette: Colours) -> list[tuple[str, str]]:
        """Categories and several of them, or the ends of the scores."""
        singles = [panel for panel in shown.panels if panel.belongs is None]
        categories = [(palette.of(panel.tone), panel.title) for panel in singles]
        whole = shown.panels[0]
        if shown.state.colour == "scores":
            first = [(palette.accent, f"{whole.title}: score 1")] if whole.belongs is not None else []
            return [*first, *((colour, f"{name}: score 1") for colour, name in categories), (palette.empty, "score 0")]
        several = [(palette.several[i], f"{i + 2} categories") for i in range(min(3, len(whole.categories) - 1))]
        return [*categories, *several, (palette.empty, "Unclassified")]

    def heading(self, shown: Shown) -> str:
        """Which heads are coloured."""
        state = shown.state
        rule = "any relation" if state.how == "any" else "always: every relation"
        rule += f", the best {state.top} of each category" if state.top else ""
        return f"heads that {_DO[state.kind]} ({rule}, τ = {state.tau:g})"

    def source(self, provenance: Provenance) -> list[str]:
        """The k of its top-k test."""
        settings = provenance.settings
        return [f"k = {settings['k_standard']} (copying {settings['k_copying']})"]

    def frame(self, shown: Shown) -> pd.DataFrame:
        """A row for each head and panel."""
        return exports.frame(shown)

    def scores_frame(self, result: Scores) -> pd.DataFrame:
        """A row for each score."""
        return exports.scores_frame(result)

    def reproduce(self, shown: Shown, title: str, address: str) -> str:
        """A script that computes the view again."""
        return exports.reproduce(shown, title, address)
