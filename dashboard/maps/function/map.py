"""The function map: what a head does, read from its weights or in the running model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from dash import html

from analysis.method import RequestSummary
from analysis.methods.function.method import FunctionMethod
from analysis.models.card import HeadId, ModelCard
from analysis.relations.agreement import in_words
from analysis.results.own_sets import OwnSet, own_items, set_id
from analysis.results.provenance import Provenance
from analysis.results.scores import OVER_SAMPLES, Scores
from dashboard.maps.columns import Cells, Column
from dashboard.maps.control import Control
from dashboard.maps.counts import PanelCounts
from dashboard.maps.entry import LegendEntry
from dashboard.maps.function import card as card_part
from dashboard.maps.function import exports, legend, matrix, own_set, table, words
from dashboard.maps.function.basis import (
    FunctionView,
    bases,
    basis_of,
    better,
    carrier_words,
    compared,
    default_basis,
    has_carriers,
    over_carriers,
)
from dashboard.maps.function.besides import offering, relations_only, with_categories
from dashboard.maps.function.best import best_relations
from dashboard.maps.function.colours import TINTS, look, tint, tones
from dashboard.maps.function.controls import carrier_choices, controls, relation_choices
from dashboard.maps.function.labels import BEYOND, is_measured
from dashboard.maps.function.numbers import numbers
from dashboard.maps.function.panels import panels
from dashboard.maps.function.profile import profile
from dashboard.maps.function.state import FunctionState
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadRows
from dashboard.maps.look import HALF, Look
from dashboard.maps.map import Map
from dashboard.maps.panel import Panel
from dashboard.maps.paper import Paper
from dashboard.maps.profile import Profile
from dashboard.maps.section import Content, Section
from dashboard.maps.sentences import Said
from dashboard.maps.swatch import Swatch
from dashboard.maps.tooltip import Best
from dashboard.palette import Colours
from dashboard.setting import SettingValues
from dashboard.state import ViewState

_DO = {"both": "promote or suppress", "promote": "promote", "suppress": "suppress"}


class FunctionMap(Map[FunctionState]):
    """A panel for all categories of relations and one for each."""

    name = FunctionMethod.name
    title = FunctionMethod.title
    part = FunctionState
    paper = Paper(
        "Elhelo & Geva 2025",
        "Elhelo & Geva, Inferring Functionality of Attention Heads from their Parameters, ACL 2025",
        "https://arxiv.org/abs/2412.11965",
    )
    help = (
        "Every square is one attention head. Its score for a relation, such as country → capital, is the share "
        "of word pairs for which the head lifts the right word to the top of the vocabulary (promote), or pushes it to "
        "the bottom (suppress). From the weights alone it is a guess, computed in seconds; in the running model the "
        "head reads what it would really read, after several carrier phrases such as “The story of”. A head belongs "
        "to a category when a score is above τ. On All categories a filled label decides a head's colour before a "
        "hollow one, which is copy-like or unspecific."
    )

    def methods(self) -> Sequence[str]:
        """All that score heads for relations."""
        return [method.name for method in bases()]

    def choice(self, state: FunctionState) -> str:
        """A result with settings of its own goes first."""
        return state.result

    def method(self, state: FunctionState, results: Mapping[str, Scores]) -> str:
        """The basis that was asked for, or the one by which the model is shown."""
        return state.basis or default_basis(results)

    def with_own_set(
        self, state: FunctionState, sets: Sequence[OwnSet], first: OwnSet | None, card: ModelCard
    ) -> tuple[FunctionState, list[str]]:
        """A set that the model has; none unless it is asked for."""
        return own_set.with_own_set(state, sets, first, card)

    def own_set(self, state: FunctionState) -> str:
        """The set that the view adds."""
        return own_set.set_id(state)

    def repaired(
        self, state: FunctionState, results: Mapping[str, Scores], choices: Mapping[str, str], card: ModelCard
    ) -> tuple[FunctionState, list[str]]:
        """Only a basis, carriers and a relation that the model has; its own basis need not be named."""
        notices = []
        if state.result and state.result not in choices:
            notices.append(f"{card.id} has no result {state.result[:40]!r} here; the default one is shown.")
            state = replace(state, result="")
        if state.basis and state.basis not in self.methods():
            known = f"There are: {', '.join(self.methods())}."
            notices.append(f"There is no function map from {state.basis!r}; the model's default is shown. {known}")
            state = replace(state, basis="")
        if state.basis == default_basis(results):
            state = replace(state, basis="")
        result = results.get(self.method(state, results))
        samples = result.samples if result is not None and has_carriers(result) else []
        if state.carriers not in (*OVER_SAMPLES, *samples):
            if samples or state.carriers not in self._carriers(results):
                notices.append(f"{card.id} was not run with the carrier {state.carriers!r}; the mean is shown.")
            state = replace(state, carriers=FunctionState().carriers)
        if state.labels != "all" and not is_measured(result):
            notices.append(f"Copying was not measured for {card.id}; all labels are shown.")
            state = replace(state, labels="all")
        relations = result.items() if result is not None else []
        if state.relation and state.relation not in relations:
            notices.append(f"{card.id} has no scores for {state.relation!r}; all categories are shown.")
            state = replace(state, relation="")
        return state, notices

    def _carriers(self, results: Mapping[str, Scores]) -> set[str]:
        """Every carrier of a model, whichever of its results is shown."""
        carriers: set[str] = set()
        for name in self.methods():
            if name in results and has_carriers(results[name]):
                carriers.update(results[name].samples)
        return carriers

    def reads(self) -> Sequence[str]:
        """Beside its own, the methods whose results offer a category."""
        return [*self.methods(), *(method.name for method in offering())]

    def narrowed(self, result: Scores, state: FunctionState, results: Mapping[str, Scores]) -> Scores:
        """One score in place of those after each carrier, and other categories where they are asked for."""
        relations = over_carriers(result, state.carriers)
        return with_categories(relations, results) if state.also else relations

    def state_of_result(self, provenance: Provenance) -> FunctionState:
        """Its own basis, whichever the model is shown by, and itself where it has settings of its own."""
        mine = own_items(provenance)
        chosen = set_id((item.name, item.hash) for item in mine) if mine else ""
        return FunctionState(basis=provenance.method, result=basis_of(provenance).choice(provenance), own=chosen)

    def state_of_job(self, asked: Mapping[str, RequestSummary]) -> FunctionState:
        """The only basis that was asked for; of several the one by which the model is shown. One relation alone."""
        items = {name for of_method in asked.values() for name in of_method.items}
        return FunctionState(
            basis=next(iter(asked)) if len(asked) == 1 else "",
            own=next((each.own for each in asked.values() if each.own), ""),
            result=next((each.choice for each in asked.values() if each.choice), ""),
            relation=next(iter(items)) if len(items) == 1 else "",
        )

    def controls(self) -> Sequence[Control]:
        """Basis, carriers, rule, effect, colours, threshold, relation, how many."""
        return controls()

    def offered(self, shown: FunctionView | None, choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """The relations of the model, and the carriers that it was run with."""
        whole = shown.whole if shown is not None else None
        return {
            "relation": relation_choices(whole),
            "carriers": carrier_choices(whole),
            "own": own_set.set_choices(shown),
        }

    def control_values(self, shown: FunctionView | None, state: FunctionState) -> SettingValues:
        """The basis that is shown, chosen or not."""
        basis = shown.whole.provenance.method if shown is not None else state.basis or self.name
        return {
            **super().control_values(shown, state),
            "basis": basis,
            "own": state.own or own_set.NONE,
        }

    def needless(self, shown: FunctionView | None, state: FunctionState, choices: Mapping[str, str]) -> set[str]:
        """Carriers, of a map with fewer than two; copying, where it was not measured; sets, where there is none."""
        has_several = shown is not None and has_carriers(shown.whole) and len(shown.whole.samples) > 1
        keys = set() if has_several else {"carriers"}
        keys |= set() if len(own_set.set_choices(shown)) > 1 else {"own"}
        offered = dict(shown.by_method) if shown is not None else {}
        keys |= set() if any(method.name in offered for method in offering()) else {"also"}
        return keys if shown is not None and is_measured(shown.whole) else keys | {"labels"}

    def idle(self, shown: FunctionView) -> dict[str, str]:
        """Rule and more categories, of one relation; which labels are uncertain, where all have scores' colours."""
        reasons = {}
        if shown.state.relation in shown.result.items():
            reasons["how"] = "One relation is shown: there are no others to combine it with."
            reasons["also"] = "One relation is shown: choose All, by category to add another category."
        if shown.state.colour == "scores":
            reasons["uncertain"] = "Scores are shown as they are; choose Category to see which labels are uncertain."
        return reasons

    def panels(self, shown: FunctionView) -> tuple[Panel, ...]:
        """All categories first, then each; one when a relation is asked for."""
        return panels(shown.result, shown.state)

    def numbers(self, shown: FunctionView) -> bytes:
        """All scores on the page."""
        return numbers(shown)

    def tones(self, palette: Colours) -> Mapping[str, str]:
        """A colour for each category, and for several at once."""
        return tones(palette)

    def looks(self, shown: FunctionView, palette: Colours) -> Sequence[Look]:
        """Categories above τ and tints below it, or the scores themselves."""
        return [look(panel, shown.state, palette) for panel in shown.panels]

    def counts(self, shown: FunctionView, palette: Colours) -> PanelCounts | None:
        """Heads above τ."""
        return legend.counts(shown, palette)

    def layers(self, shown: FunctionView, palette: Colours) -> Profile | None:
        """Each head counted once, by its colour."""
        return profile(shown.panels[0], palette) if shown.result.items() else None

    def compared(self, shown: FunctionView) -> Sequence[ViewState]:
        """The same relations by both bases."""
        pair = compared(shown)
        return [] if pair is None else [shown.named.changed(basis=scores.provenance.method) for scores in pair]

    def best(self, shown: FunctionView) -> Best | None:
        """The relations that every head does best."""
        return best_relations(relations_only(shown).result, shown.state.kinds, shown.state.tau)

    def subject(self, shown: FunctionView) -> str:
        """The basis when it is not the map's own."""
        return basis_of(shown.whole.provenance).basis if shown.whole.provenance.method != self.name else ""

    def topic(self, shown: FunctionView) -> str:
        """The relation that is shown alone."""
        there = shown.state.relation in shown.result.items()
        return shown.result.item(shown.state.relation).title if there else ""

    def warning(self, shown: FunctionView) -> list[Any]:
        """That a map which was only read from the weights does not hold."""
        return legend.warning(shown)

    def command(self, model: str) -> str:
        """What computes it in the quickest way."""
        return bases()[0].command_line(model)

    def absent(self, card: ModelCard, state: FunctionState) -> list[Any]:
        """What the page says when the model has no result of what the state asks for."""
        method = next((method for method in bases() if method.name == state.basis), bases()[0])
        return [
            html.H2(f"{card.id} has no function map {method.where} yet"),
            html.P(method.sentence),
            html.P(["Request it under ", html.B("Models and jobs"), f" ({method.title}), or run"]),
            html.P(html.Code(method.command_line(card.id))),
        ]

    def said(self, shown: FunctionView) -> list[Said]:
        """When a square is coloured."""
        return words.said(shown)

    def legend(self, shown: FunctionView, palette: Colours) -> list[LegendEntry]:
        """Categories and tints, or a colour bar."""
        return legend.legend(shown, palette)

    def sections(self) -> Sequence[Section]:
        """Layer profile, counts, relations that are not applicable."""
        return legend.SECTIONS

    def contents(self, shown: FunctionView, width: int, dark: bool) -> Mapping[str, Content]:
        """The sections' contents for the panels on the page."""
        return legend.contents(shown, dark)

    def head_part(self, asked: AskedHead, shown: FunctionView | None) -> HeadPart | None:
        """All relations of the head."""
        shown = relations_only(shown) if shown is not None else None
        return card_part.head_part(asked, shown, self.command(asked.card.id))

    def head_rows(self, heads: Sequence[HeadId], shown: FunctionView) -> HeadRows:
        """The relations that any of the heads does."""
        return matrix.head_rows(heads, shown)

    def columns(self, shown: FunctionView) -> list[Column]:
        """What the head does, panels and relations."""
        return table.columns(shown)

    def cells_follow(self) -> set[str]:
        """What relations' scores are made of, and which panels there are."""
        return {"kind", "relation"}

    def cells(self, shown: FunctionView) -> dict[str, Cells]:
        """Their values."""
        return table.cells(shown)

    def swatches(self, shown: FunctionView, palette: Colours) -> list[Swatch]:
        """Categories and several of them, or the ends of the scores."""
        singles = [panel for panel in shown.panels if panel.belongs is None]
        whole = shown.panels[0]
        half = [Swatch(palette.faint, "suppresses", palette.empty, HALF)] if legend.suppresses(shown) else []
        if shown.state.colour == "scores":
            first = [Swatch(palette.accent, f"{whole.title}: score 1")] if whole.belongs is not None else []
            ends = [Swatch(palette.of(panel.tone), f"{panel.title}: score 1") for panel in singles]
            return [*first, *ends, Swatch(palette.empty, "score 0"), *half]
        categories = [Swatch(palette.of(panel.tone), panel.title) for panel in singles]
        below = f"below τ = {shown.state.tau:g} ({palette.stronger} = closer)"
        return [
            *categories,
            *legend.several(shown, palette),
            *half,
            *legend.insides(shown, palette, short=True),
            Swatch(tint(palette, singles[0].tone, TINTS - 2), below),
            Swatch(palette.empty, "score 0"),
        ]

    def heading(self, shown: FunctionView) -> str:
        """Which heads are coloured, by what, and that another map holds where this one does not."""
        state, basis = shown.state, basis_of(shown.whole.provenance).basis.lower()
        rule = [f"τ = {state.tau:g}"] if state.colour == "categories" else ["by score"]
        rule += [f"the top {state.top} per category"] if state.top else []
        rule += [carrier_words(shown)] if has_carriers(shown.whole) else []
        rule += [BEYOND] if state.labels == "beyond" else []
        chosen = own_set.chosen_set(shown)
        rule += [f"with {chosen.name}"] if chosen is not None else []
        what = "any relation of a category" if state.how == "any" else "every relation of a category"
        what = shown.result.item(state.relation).title if state.relation else what
        holding = better(shown)
        standing = f" · does not hold for this model (r = {in_words(holding[1].overall)})" if holding else ""
        return f"heads that {_DO[state.kind]} {what} · {basis}{standing} · {', '.join(rule)}"

    def origin(self, provenance: Provenance) -> str:
        """What the scores are read from."""
        return f"{self.title.lower()}, {basis_of(provenance).basis.lower()}"

    def source(self, provenance: Provenance) -> list[str]:
        """The k of its top-k test."""
        settings = provenance.settings
        return [f"k = {settings['k_standard']} (copying {settings['k_copying']})"]

    def frame(self, shown: FunctionView) -> pd.DataFrame:
        """A row for each head and panel."""
        return exports.frame(shown)

    def scores_frame(self, result: Scores) -> pd.DataFrame:
        """One row per score."""
        return exports.scores_frame(result)

    def reproduce(self, shown: FunctionView, title: str, address: str) -> str:
        """A script that computes the view again."""
        return exports.reproduce(relations_only(shown), title, address)
