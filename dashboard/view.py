"""A view, opened: the state that was asked for, the results it shows, and what could not be had."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from analysis.errors import HeadAtlasError, HeadError
from analysis.evidence.catalogue import Catalogue
from analysis.models import builtin as default_model
from analysis.models.card import HeadId, ModelCard
from analysis.results.own_sets import OwnSet
from analysis.results.scores import Missing, Scores
from dashboard.cache import cached
from dashboard.maps import MAPS, map_of
from dashboard.maps.map import Map, MapState, MapView, Orientation
from dashboard.maps.panel import Panel, without_scores
from dashboard.state import MODELS, TABLE, ReadState, ViewState


def view_titles() -> dict[str, str]:
    """The views in words, in the order of the picker."""
    maps = {each.name: each.title for each in MAPS if each.own_view}
    return {**maps, TABLE: "Table", MODELS: "Models and jobs"}


@dataclass(frozen=True)
class View:
    """All that a page, an export or a picture is made of."""

    state: ViewState
    card: ModelCard
    by_method: tuple[tuple[str, Scores], ...]  # the results of the model, by the name of their method
    notices: tuple[str, ...] = ()
    failure: str = ""  # why the scores that a job could not compute are missing
    is_default: bool = False  # it shows what the default model's name alone stands for
    sets: tuple[OwnSet, ...] = ()  # custom relation sets that the model has scores for

    @property
    def results(self) -> Mapping[str, Scores]:
        """The results of the model by the name of their method."""
        return dict(self.by_method)

    @property
    def map(self) -> Map[Any]:
        """The map on the page; beside the table it is the first that has a result."""
        asked = map_of(self.state.view)
        if asked is not None:
            return asked
        with_result = [each for each in MAPS if each.own_view and self._whole(each) is not None]
        return with_result[0] if with_result else MAPS[0]

    @property
    def shown(self) -> MapView[Any] | None:
        """The map on the page, if the model has a result of it."""
        return self.of(self.map)

    def of(self, each: Map[MapState]) -> MapView[MapState] | None:
        """Any map of the model, if there is a result of it."""
        whole = self._whole(each)
        if whole is None:
            return None
        state = self.state.of(each.part)
        common = self.state.shared
        there = tuple((name, scores) for name, scores in self.by_method if name in each.reads())
        narrowed = each.narrowed(whole, state, dict(there))
        return MapView(each, whole, narrowed, state, common, self.failure, there, self.sets)

    def _whole(self, each: Map[Any]) -> Scores | None:
        """The result that a map shows."""
        return self.results.get(each.method(self.state.of(each.part), self.results))

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels of the map on the page; an empty one when there is no result."""
        if self.shown is not None:
            return self.shown.panels
        return (without_scores("", self.map.title, self.card, Missing.NOT_COMPUTED),)

    @property
    def orientation(self) -> Orientation:
        """How the maps on the page lie."""
        return self.map.orientation(self.state)

    @property
    def title(self) -> str:
        """What the browser's tab says."""
        topic = self.map.topic(self.shown) if self.shown is not None else ""
        return " · ".join([*self.title_parts, *([topic] if topic else [])]) + " – Head Atlas"

    @property
    def title_parts(self) -> list[str]:
        """The same without what follows the controls in the browser: model, view, and what the view is about."""
        subject = self.map.subject(self.shown) if self.shown is not None else ""
        return [self.card.id, view_titles()[self.state.view], *([subject] if subject else [])]

    @property
    def named(self) -> ViewState:
        """The state with the checkpoint's fingerprint, so that a link made of it keeps its meaning."""
        return replace(self.state, fingerprint=self.card.fingerprint[:8])

    @property
    def query(self) -> str:
        """The address of what the server decides: empty for the default view, with the fingerprint otherwise."""
        if self.is_default and self.state.shared == ViewState():
            return ""
        return self.named.shared.to_query()


def open_view(catalogue: Catalogue, query: str) -> View:
    """The view of an address; whatever is wrong with it becomes a notice and a sane view. Never raises for its sake."""
    return opened(catalogue, ViewState.from_query(query))


def view_of_controls(catalogue: Catalogue, values: Mapping[str, Any]) -> View:
    """The view that the controls ask for; they are read as an address is."""
    return opened(catalogue, ViewState.from_values(values))


def opened(catalogue: Catalogue, read: ReadState) -> View:
    """The view of a state that was read, with what the model has of it."""
    notices = list(read.notices)
    of_model: list[str] = []
    card, state = _checkpoint(catalogue, read.state, of_model)
    asked = f"{read.state.model}@{read.state.fingerprint}".rstrip("@")
    notices += [shown_instead(card, asked, notice) for notice in of_model]
    pins = _existing(card, state.pins, notices)
    bare = replace(state.shared, model=card.id, fingerprint="")
    view = _with_results(catalogue, catalogue.generation, bare, card)
    whole = replace(view.state, zoom=state.zoom, sort=state.sort, filter=state.filter, pins=pins)
    return replace(view, state=whole, notices=(*notices, *view.notices))


def chosen_model(catalogue: Catalogue, text: str) -> tuple[ModelCard, list[str]]:
    """The model that an address names, with or without a fingerprint; or else another, and what is wrong with the name.

    Without a name it is the default model.
    """
    read = ViewState.from_values({"model": text})
    notices = list(read.notices)
    card, _ = _checkpoint(catalogue, read.state, notices)
    return card, notices


def _checkpoint(catalogue: Catalogue, state: ViewState, notices: list[str]) -> tuple[ModelCard, ViewState]:
    """The model that a state names; when there is none, a notice says so and another takes its place."""
    try:
        return catalogue.card(state.model, state.fingerprint), state
    except HeadAtlasError as error:
        notices.append(_sentence(error))
        return _instead(catalogue, state)


@cached(32, light=True)
def _with_results(catalogue: Catalogue, generation: int, state: ViewState, card: ModelCard) -> View:
    """A view with the model's results, and its state repaired where the model has no such thing.

    One change of the page asks three times for the same view: for the maps, for what is around them, for the cards.
    It is opened once, until there are other results. Pins, which the three do not share, are no part of it.
    """
    results: dict[str, Scores] = {}
    notices: list[str] = []
    sets = catalogue.sets(card)
    first = catalogue.default_set(card)
    own = ""  # the set that one map asks for is shown by all
    for map_ in MAPS:
        part, said = map_.with_own_set(state.of(map_.part), sets, first, card)
        notices += said
        own = map_.own_set(part) or own
        for method in map_.methods():
            result = catalogue.result(card, method, map_.choice(part), own)
            if result is not None:
                results[method] = result
        state = state.with_part(part)
    for map_ in MAPS:
        part, said = map_.repaired(state.of(map_.part), results, choices_of(catalogue, map_, card), card)
        state = state.with_part(part)
        notices += said
    is_default = catalogue.card(default_model.ID).fingerprint == card.fingerprint
    failure = catalogue.failure(card)
    return View(state, card, tuple(results.items()), tuple(notices), failure, is_default, tuple(sets))


def choices_of(catalogue: Catalogue, map_: Map[Any], card: ModelCard) -> dict[str, str]:
    """The results that a map can choose from: short name and words."""
    choices: dict[str, str] = {}
    for method in map_.methods():
        choices |= catalogue.choices(card, method)
    return choices


def shown_instead(card: ModelCard, asked: str, notice: str) -> str:
    """A notice about a model that is not there, with the one that takes its place."""
    return f"{card.id} {card.fingerprint[:8]} is shown instead of {asked[:80]}. {notice}"


def _sentence(error: HeadAtlasError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}. {error.hint}".strip()


def _instead(catalogue: Catalogue, state: ViewState) -> tuple[ModelCard, ViewState]:
    """Another checkpoint of the same name if there is one, else the default model."""
    try:
        return catalogue.card(state.model), state
    except HeadAtlasError:
        return catalogue.card(default_model.ID), state.of_another_model(default_model.ID)


def _existing(card: ModelCard, pins: tuple[HeadId, ...], notices: list[str]) -> tuple[HeadId, ...]:
    kept = []
    for head in pins:
        try:
            kept.append(card.check(head))
        except HeadError as error:
            notices.append(f"{error}. {error.hint}")  # it begins with the model's name, which is written as it is
    return tuple(kept)
