"""What a map is: all that the page, the exports and the API ask of it, with a default for every question.

A map belongs to the analysis method of the same name and shows its result, or the result of another method that
answers the same question. `dashboard.maps.register` adds one; nothing else in `dashboard` knows a map by its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from dash import html

from analysis import methods
from analysis.method import RequestSummary
from analysis.models.card import HeadId, ModelCard
from analysis.results.own_sets import OwnSet
from analysis.results.provenance import Provenance
from analysis.results.scores import Missing, Scores
from dashboard.cache import cached
from dashboard.maps import plain
from dashboard.maps.columns import Cells, Column
from dashboard.maps.control import Control
from dashboard.maps.counts import PanelCounts, ShareTable
from dashboard.maps.entry import LegendEntry
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadRows, row_of_numbers
from dashboard.maps.look import Look
from dashboard.maps.panel import Panel
from dashboard.maps.paper import Paper
from dashboard.maps.plain import PlainPanels
from dashboard.maps.profile import Profile
from dashboard.maps.script import Constant, repeating_script
from dashboard.maps.section import Content, Section
from dashboard.maps.sentences import Said, components
from dashboard.maps.swatch import Swatch
from dashboard.maps.tooltip import Best
from dashboard.palette import Colours, colours
from dashboard.setting import COUNT, Part, SettingValues, settings_of
from dashboard.state import ViewState

MapState = TypeVar("MapState", bound=Part)


@dataclass(frozen=True)
class Orientation:
    """How the maps lie."""

    across: bool  # heads go across and layers up or down, else layers across and heads down
    upward: bool  # layer 0 is at the bottom

    def cells(self, card: ModelCard) -> tuple[int, int]:
        """Cells across and down."""
        layers = len(card.layers)
        return (card.heads, layers) if self.across else (layers, card.heads)


@dataclass(frozen=True)
class MapView(Generic[MapState]):
    """One map of a view that has a result: what all that it says and draws is made of."""

    map: "Map[MapState]"
    whole: Scores  # the result that is shown
    result: Scores  # the part of it that the state asks for
    state: MapState  # the map's own part
    common: ViewState  # without pins, on which nothing here depends
    failure: str = ""  # why the scores that a job could not compute are missing
    by_method: tuple[tuple[str, Scores], ...] = ()  # all results that the map reads, by the name of their method
    sets: tuple[OwnSet, ...] = ()  # custom relation sets that the model has scores for

    @property
    def card(self) -> ModelCard:
        """The model."""
        return self.result.provenance.model

    @property
    def total(self) -> int:
        """Heads of the model."""
        return len(self.card.layers) * self.card.heads

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Its panels, made once however often they are asked for."""
        return _panels(cast("MapView[Any]", self))

    @property
    def plain(self) -> PlainPanels:
        """What a plain map says of itself, made once, too."""
        return _plain(cast("MapView[Any]", self))

    @property
    def orientation(self) -> Orientation:
        """How it lies."""
        return self.map.orientation(self.common)

    @property
    def named(self) -> ViewState:
        """The state of the view with the checkpoint's fingerprint: what links to other views are made of."""
        return replace(self.common, fingerprint=self.card.fingerprint[:8])

    def palette(self, dark: bool) -> Colours:
        """The colours of its page."""
        return colours(self.common.palette, dark)

    def link(self, words: str, **changes: Any) -> html.A:
        """A link to this map, with other values if there are any; where it is on the page, one setting changes at once.

        The scripts put the page's local settings into its address (assets/atlas/links.mjs): what it stands on stays
        while these change.
        """
        address = "/" + self.named.without_local().changed(view=self.map.name, **changes).to_query()
        name, value = next(iter(changes.items()), ("view", None))
        is_here = self.common.view == self.map.name and isinstance(value, str)
        return html.A(words, href=address, **({"data-set": f"{name} {value}"} if is_here else {"data-view": name}))


@cached(16)
def _panels(shown: MapView[Any]) -> tuple[Panel, ...]:
    """One change of the page asks three times: for the maps, for what is around them and for the cards."""
    return shown.map.panels(shown)


@cached(16)
def _plain(shown: MapView[Any]) -> PlainPanels:
    """Panels, looks, legend and numbers are made of it."""
    return shown.map.plain(shown)


class Map(Generic[MapState]):
    """A map with its defaults: a plain one needs a name, a title and a number for every head.

    One with rules of its own has panels, looks, legend and numbers instead, and a module in assets/atlas/maps.
    """

    name: str = ""  # of its method, and of its view in the address
    title: str = ""  # in the picker of views
    own_view: bool = True  # it has panels; else it is only a part of a head's card
    part: type[MapState] = cast("type[MapState]", Part)  # what it adds to the state of a view
    layers_upward: bool = False  # layer 0 is at the bottom when heads go across
    help: str = ""  # how to read it, in the page's help
    paper: Paper | None = None  # where its method was published

    # ---- The state ----------------------------------------------------------------------------------------------

    def methods(self) -> Sequence[str]:
        """The methods whose results it can show, by their names; none of a map that only reads other maps' results."""
        return (self.name,)

    def reads(self) -> Sequence[str]:
        """The methods whose results it is made of: its own, or those of other maps as they are shown there."""
        return self.methods()

    def method(self, state: MapState, results: Mapping[str, Scores]) -> str:
        """The one of them that the state asks for, given those results that the model has."""
        return self.name

    def choice(self, state: MapState) -> str:
        """Which of several results the state asks for; none goes first when empty."""
        return ""

    def with_own_set(
        self, state: MapState, sets: Sequence[OwnSet], first: OwnSet | None, card: ModelCard
    ) -> tuple[MapState, list[str]]:
        """The state with the custom relation set that it asks for, if the model has it, and notices.

        `first` stands for a model that has scores for nothing else.
        """
        return state, []

    def own_set(self, state: MapState) -> str:
        """The id of the custom relation set that the state asks for; empty for none."""
        return ""

    def repaired(
        self, state: MapState, results: Mapping[str, Scores], choices: Mapping[str, str], card: ModelCard
    ) -> tuple[MapState, list[str]]:
        """The state without what the model does not have, and a notice for each thing that is left out."""
        return state, []

    def narrowed(self, result: Scores, state: MapState, results: Mapping[str, Scores]) -> Scores:
        """The part of a result that the state asks for; `results` are all that the map reads."""
        return result

    def state_of_result(self, provenance: Provenance) -> MapState:
        """The state that shows one result of several."""
        return self.part()

    def state_of_job(self, asked: Mapping[str, RequestSummary]) -> MapState:
        """The state that shows what a job was asked for, by the names of the map's methods."""
        return self.part()

    # ---- Controls -----------------------------------------------------------------------------------------------

    def controls(self) -> Sequence[Control]:
        """The controls that set its part of the state."""
        return ()

    def offered(self, shown: "MapView[MapState] | None", choices: Mapping[str, str]) -> dict[str, list[Any]]:
        """What the pickers among its controls offer for the model on the page, by their keys."""
        return {}

    def control_values(self, shown: "MapView[MapState] | None", state: MapState) -> SettingValues:
        """What its controls say, by their keys; a field for a number is empty at 0."""
        values = {}
        for key, one in settings_of(type(state)).items():
            value = getattr(state, one.name)
            values[key] = value or "" if one.codec is COUNT else value
        return values

    def needless(self, shown: "MapView[MapState] | None", state: MapState, choices: Mapping[str, str]) -> set[str]:
        """The keys of those controls that would change nothing on the page; they are hidden.

        `choices` are the results that the model has.
        """
        return set()

    def idle(self, shown: "MapView[MapState]") -> dict[str, str]:
        """The keys of those controls that do nothing in this state, each with the reason; they are disabled."""
        return {}

    def called(self, shown: "MapView[MapState]") -> dict[str, dict[str, str]]:
        """The keys of those controls that call some of their values something else in this state: names by value."""
        return {}

    # ---- The maps on the page -----------------------------------------------------------------------------------

    def plain(self, shown: MapView[MapState]) -> PlainPanels:
        """For a plain map, the numbers and words of all panels, the same under all local settings."""
        raise NotImplementedError(self.name)

    def panels(self, shown: MapView[MapState]) -> tuple[Panel, ...]:
        """What each of its panels shows."""
        return plain.panels(shown.plain, shown.state)

    def orientation(self, common: ViewState) -> Orientation:
        """How its maps lie."""
        return Orientation(common.transpose, common.transpose and self.layers_upward)

    def tones(self, palette: Colours) -> Mapping[str, str]:
        """The colours that it calls by name, of a palette's scales or its own; names are not shared with other maps."""
        return {}

    def classes(self) -> Sequence[tuple[str, str]]:
        """For a map that puts heads into classes, the words and the tone of each, by its code."""
        return ()

    def looks(self, shown: MapView[MapState], palette: Colours) -> Sequence[Look]:
        """The colours of every panel: between empty and the panel's own."""
        return plain.looks(shown.plain, shown.panels, palette)

    def profile(self, panel: Panel, palette: Colours) -> Profile | None:
        """The share of each layer's heads that belong, to stand beside or below a panel of a grid."""
        return None

    def numbers(self, shown: MapView[MapState]) -> bytes:
        """All that the page's scripts need to follow local settings, whatever these are."""
        facts = {
            "map": self.name,
            "sentence": self.said(shown),
            "reasons": [reason.words for reason in Missing],
            "reason_words": [missing_words(shown, reason) for reason in Missing],
        }
        return plain.packed(shown.plain, shown.card, facts)

    def counts(self, shown: MapView[MapState], palette: Colours) -> PanelCounts | None:
        """How many heads each panel has, where the page has a section for it."""
        return None

    def shares(self, shown: MapView[MapState], palette: Colours) -> Sequence[ShareTable]:
        """How many heads are something, task by task, where the page has places for it."""
        return ()

    def layers(self, shown: MapView[MapState], palette: Colours) -> Profile | None:
        """All panels together, layer by layer, where the page has a section for it."""
        return None

    def compared(self, shown: MapView[MapState]) -> Sequence[ViewState]:
        """The views of two results whose heads a figure below the maps compares, if there is one."""
        return ()

    def best(self, shown: MapView[MapState]) -> Best | None:
        """What every head does best, for the tooltips of all maps."""
        return None

    # ---- Words --------------------------------------------------------------------------------------------------

    def subject(self, shown: MapView[MapState]) -> str:
        """What the page's title says after the map's, if there is more to say."""
        return ""

    def topic(self, shown: MapView[MapState]) -> str:
        """What it says last, of all that follows the controls in the browser."""
        return ""

    def said(self, shown: MapView[MapState]) -> list[Said]:
        """How to read what is on the page, in a sentence or two that follow the controls."""
        return [f"Each square is one attention head of {shown.card.id}."]

    def sentence(self, shown: MapView[MapState]) -> list[Any]:
        """The same on the page."""
        return components(self.said(shown))

    def warning(self, shown: MapView[MapState]) -> list[Any]:
        """What one must know before believing the map; it stands above all else."""
        return []

    def legend(self, shown: MapView[MapState], palette: Colours) -> list[LegendEntry]:
        """What the colours mean; reasons for missing scores are added by the page."""
        return plain.legend(shown.plain, shown.state, shown.panels, palette)

    def sections(self) -> Sequence[Section]:
        """Up to three pieces of the page below the maps."""
        return ()

    def contents(self, shown: MapView[MapState], width: int, dark: bool) -> Mapping[str, Content]:
        """What is shown in its sections, by their keys; one without content is hidden."""
        return {}

    def command(self, model: str) -> str:
        """What computes it on the command line."""
        return methods.method(self.name).command_line(model)

    def absent(self, card: ModelCard, state: MapState) -> list[Any]:
        """What the page says when the model has no result of what the state asks for."""
        return [
            html.H2(f"No {self.title.lower().removesuffix(' map')} map of {card.id} yet"),
            html.P(["Request it under ", html.B("Models and jobs"), ", or run"]),
            html.P(html.Code(self.command(card.id))),
        ]

    # ---- A head -------------------------------------------------------------------------------------------------

    def head_part(self, asked: AskedHead, shown: "MapView[MapState] | None") -> HeadPart | None:
        """Its part of a head's card, also when the model has no result of it."""
        return None

    def head_rows(self, heads: Sequence[HeadId], shown: MapView[MapState]) -> HeadRows | None:
        """Several heads side by side: a row for each panel, unless the map has something better."""
        if not self.own_view:
            return None
        places = [(shown.card.layers.index(head.layer), head.head) for head in heads]
        rows = []
        for panel in shown.panels:
            rows.append(row_of_numbers(shown.link(panel.title), [float(panel.value[place]) for place in places]))
        return HeadRows(self.title, tuple(rows))

    # ---- The table ----------------------------------------------------------------------------------------------

    def columns(self, shown: MapView[MapState]) -> list[Column]:
        """Its columns of the table, as AG Grid takes them; no two maps may have the same field."""
        return []

    def cells_follow(self) -> set[str]:
        """The keys of those local settings whose change makes the page ask for the table again.

        Of others the scripts know what becomes of the cells: see `of_panel` and `of_label` (dashboard.maps.columns).
        """
        return {key for key, one in settings_of(self.part).items() if one.local}

    def cells(self, shown: MapView[MapState]) -> dict[str, Cells]:
        """The values of its columns by field, for each head in the order of layers and heads."""
        return {}

    # ---- What is taken away -------------------------------------------------------------------------------------

    def swatches(self, shown: MapView[MapState], palette: Colours) -> list[Swatch]:
        """Colours and words of a picture's legend; reasons for missing scores are added by the picture."""
        return plain.swatches(shown.plain, shown.state, shown.panels, palette)

    def heading(self, shown: MapView[MapState]) -> str:
        """What a picture says of itself after the model's name."""
        return self.title.lower()

    def origin(self, provenance: Provenance) -> str:
        """What a picture's source line calls it."""
        return self.title.lower()

    def source(self, provenance: Provenance) -> list[str]:
        """How its scores were computed, for the last line of a picture."""
        return []

    def frame(self, shown: MapView[MapState]) -> pd.DataFrame:
        """What is shown in long format, a row for each head and panel."""
        frames = []
        for panel in shown.panels:
            rows = {
                "item": panel.key,
                **head_columns(shown.card),
                "score": panel.value.ravel(),
                "rank": panel.strongest.ravel(),
                "member": panel.member.ravel(),
            }
            frames.append(pd.DataFrame(rows))
        return with_source(with_model(pd.concat(frames, ignore_index=True), shown.result), shown.result)

    def everything(self, shown: MapView[MapState]) -> Scores:
        """What is taken away as *all scores*, whatever part of them is shown."""
        return shown.whole

    def scores_frame(self, result: Scores) -> pd.DataFrame:
        """All scores of a result in long format."""
        return with_source(result.to_frame(), result)

    def sources(self, shown: MapView[MapState]) -> Sequence[Scores]:
        """The results that it is made of, which a script computes again."""
        return (shown.result,)

    def summary_command(self, shown: MapView[MapState]) -> list[str]:
        """What says it on a terminal when these are there; nothing where each of them says enough of itself."""
        return []

    def reproduce(self, shown: MapView[MapState], title: str, address: str) -> str:
        """A Python script that computes what is shown again, and says whether the weights are the same."""
        commands, files = [], []
        for scores in self.sources(shown):
            facts = scores.provenance
            method = methods.method(facts.method)
            commands += method.commands_for(facts)
            files += method.files_of(facts)
        return repeating_script(
            f"Compute a {self.title.lower()} again. Run it where Head Atlas is installed: python reproduce.py",
            [Constant("TITLE", title), Constant("ADDRESS", address)],
            fingerprint=shown.card.fingerprint,
            commands=commands,
            files=files,
            summary=self.summary_command(shown),
        )


def with_model(frame: pd.DataFrame, result: Scores) -> pd.DataFrame:
    """First the columns that say which model and method."""
    facts = result.provenance
    frame.insert(0, "model", facts.model.id)
    frame.insert(1, "revision", facts.model.revision)
    frame.insert(2, "method", facts.method)
    frame.insert(list(frame.columns).index("head") + 1, "name", head_names(frame))
    return frame


def head_columns(card: ModelCard) -> dict[str, npt.NDArray[np.int64]]:
    """The layer and the number of every head, in the order of a map's cells."""
    return {
        "layer": np.repeat(np.asarray(card.layers), card.heads),
        "head": np.tile(np.arange(card.heads), len(card.layers)),
    }


def head_names(frame: pd.DataFrame) -> pd.Series:
    """The head of every row as people call it, such as L23H4."""
    return "L" + frame["layer"].astype(str) + "H" + frame["head"].astype(str)


def with_source(frame: pd.DataFrame, result: Scores) -> pd.DataFrame:
    """Columns that say which weights, on every row: a CSV has no other place that readers keep."""
    facts = result.provenance
    frame["fingerprint"] = facts.model.fingerprint
    frame["method_version"] = facts.version
    frame["computed"] = facts.date
    if "name" not in frame:
        frame["name"] = head_names(frame)
    return frame


def missing_words(shown: MapView[Any], reason: Missing) -> str:
    """Why there is no score; a failure says what went wrong."""
    if reason is Missing.FAILED and shown.failure:
        return f"{reason.words}: {shown.failure}"
    return reason.words
