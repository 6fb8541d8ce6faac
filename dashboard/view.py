"""A view, opened: the state that was asked for, the scores it shows, and what could not be had."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from analysis.errors import HeadAtlasError, HeadError
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.results.catalogue import Library
from analysis.results.scores import Scores
from dashboard.maps.causal.gates import USUAL_TASKS, first_seeds, gate_panels, seeds, task_names
from dashboard.maps.function.panels import Panel, panels
from dashboard.state import ReadState, ViewState

VIEW_NAMES = {"function": "Function map", "causal": "Causal map", "table": "Table", "models": "Models and jobs"}


@dataclass(frozen=True)
class View:
    """All that a page, an export or a picture is made of."""

    state: ViewState
    scores: Scores  # the function map
    panels: tuple[Panel, ...]
    notices: tuple[str, ...] = ()
    failure: str = ""  # why the scores that a job could not compute are missing
    usual: bool = False  # it shows what the default model's name alone stands for
    causal: Scores | None = None  # the causal map, if there is one

    @classmethod
    def of(cls, state: ViewState, scores: Scores, causal: Scores | None = None) -> "View":
        """A view with the panels that its state asks for."""
        return cls(state, scores, panels_of(state, scores, causal), causal=causal)

    @property
    def is_causal(self) -> bool:
        """It shows the causal map, or says that there is none."""
        return self.state.view == "causal"

    @property
    def shown(self) -> Scores:
        """The scores that the maps on the page are made of."""
        return self.causal if self.is_causal and self.causal is not None else self.scores

    @property
    def title(self) -> str:
        """What the browser's tab says."""
        parts = [self.scores.provenance.model.id, VIEW_NAMES[self.state.view]]
        if self.state.relation and not self.is_causal:
            parts.append(self.panels[0].title)
        return " · ".join(parts) + " – Head Atlas"

    @property
    def named(self) -> ViewState:
        """The state with the checkpoint's fingerprint, so that a link made of it keeps its meaning."""
        return replace(self.state, fingerprint=self.scores.provenance.model.fingerprint[:8])

    @property
    def query(self) -> str:
        """The address of the view without its pins: empty for the default one, with the fingerprint otherwise."""
        bare = replace(self.state, fingerprint="", pins=())
        return "" if bare == ViewState() and self.usual else replace(self.named, pins=()).to_query()


def panels_of(state: ViewState, scores: Scores, causal: Scores | None) -> tuple[Panel, ...]:
    """The panels of the map that a state asks for."""
    if state.view == "causal":
        return gate_panels(causal, state, scores.provenance.model)
    return panels(scores, state)


def open_view(library: Library, query: str) -> View:
    """The view of an address; whatever is wrong with it becomes a notice and a sane view. Never raises for its sake."""
    return _opened(library, ViewState.from_query(query))


def view_of_controls(library: Library, values: Mapping[str, Any]) -> View:
    """The view that the controls ask for; they go through the same reader as an address."""
    parts = {
        key: _text(value, "," if key == "tasks" else ".") for key, value in values.items() if value not in (None, "")
    }
    return _opened(library, ViewState.from_query("?" + urlencode(parts, errors="replace")))


def _text(value: Any, between: str) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return between.join(map(str, value)) if isinstance(value, list) else str(value)


def _opened(library: Library, read: ReadState) -> View:
    state, notices = read.state, list(read.notices)
    try:
        scores = library.scores(state.model, state.fingerprint)
    except HeadAtlasError as error:
        notices.append(_sentence(error))
        scores, state = _instead(library, state)
    if state.relation and state.relation not in scores.items():
        notices.append(f"{scores.provenance.model.id} has no scores for {state.relation!r}; all categories are shown.")
        state = replace(state, relation="")
    causal = library.causal(scores.provenance.model, state.fit)
    if state.fit and state.fit not in library.fits(scores.provenance.model):
        notices.append(f"{scores.provenance.model.id} has no fit {state.fit} here; the usual one is shown.")
        state = replace(state, fit="")
    state = _existing_gates(causal, state, notices)
    causal = first_seeds(causal, state.first_seeds) if causal is not None and state.first_seeds else causal
    pins = _existing(scores, state.pins, notices)
    state = replace(state, pins=pins, model=scores.provenance.model.id, fingerprint="")
    usual = library.scores(default_model.ID).provenance.model.fingerprint == scores.provenance.model.fingerprint
    failure = library.failure(scores.provenance.model)
    return View(state, scores, panels_of(state, scores, causal), tuple(notices), failure, usual, causal)


def _existing_gates(causal: Scores | None, state: ViewState, notices: list[str]) -> ViewState:
    """Only tasks and seeds that the model has; the usual tasks need not be named."""
    if causal is None:
        return state
    name, there = causal.provenance.model.id, task_names(causal)
    for task in state.tasks:
        if task not in there:
            notices.append(f"{name} has no gates for the task {task!r}.")
    tasks = tuple(task for task in state.tasks if task in there)
    if state.one_seed and state.one_seed not in seeds(causal):
        notices.append(f"{name} has no seed {state.one_seed}; all seeds are shown.")
        state = replace(state, seed="")
    if state.first_seeds >= len(seeds(causal)):
        state = replace(state, seed="")
    return replace(state, tasks=() if tasks == there[:USUAL_TASKS] else tasks)


def _sentence(error: HeadAtlasError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}. {error.hint}".strip()


def _instead(library: Library, state: ViewState) -> tuple[Scores, ViewState]:
    """Another checkpoint of the same name if there is one, else the default model."""
    try:
        return library.scores(state.model), state
    except HeadAtlasError:
        return library.scores(default_model.ID), replace(
            state, model=default_model.ID, relation="", tasks=(), seed="", fit="", pins=()
        )


def _existing(scores: Scores, pins: tuple[HeadId, ...], notices: list[str]) -> tuple[HeadId, ...]:
    kept = []
    for head in pins:
        try:
            kept.append(scores.provenance.model.check(head))
        except HeadError as error:
            notices.append(_sentence(error))
    return tuple(kept)
