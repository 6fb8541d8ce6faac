"""A view, opened: the state that was asked for, the scores it shows, and what could not be had."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from analysis import default_model
from analysis.errors import HeadAtlasError, HeadError
from analysis.heads import HeadId
from analysis.scores import Scores
from dashboard.library import Library
from dashboard.select import Panel, panels
from dashboard.state import ReadState, ViewState

VIEW_NAMES = {"function": "Function map", "table": "Table", "models": "Models and jobs"}


@dataclass(frozen=True)
class View:
    """All that a page, an export or a picture is made of."""

    state: ViewState
    scores: Scores
    panels: tuple[Panel, ...]
    notices: tuple[str, ...] = ()
    failure: str = ""  # why the scores that a job could not compute are missing
    usual: bool = False  # it shows what the default model's name alone stands for

    @property
    def title(self) -> str:
        """What the browser's tab says."""
        parts = [self.scores.provenance.model.id, VIEW_NAMES[self.state.view]]
        if self.state.relation:
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


def open_view(library: Library, query: str) -> View:
    """The view of an address; whatever is wrong with it becomes a notice and a sane view. Never raises for its sake."""
    return _opened(library, ViewState.from_query(query))


def view_of_controls(library: Library, values: Mapping[str, Any]) -> View:
    """The view that the controls ask for; they go through the same reader as an address."""
    parts = {key: _text(value) for key, value in values.items() if value not in (None, "")}
    return _opened(library, ViewState.from_query("?" + urlencode(parts, errors="replace")))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


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
    pins = _existing(scores, state.pins, notices)
    state = replace(state, pins=pins, model=scores.provenance.model.id, fingerprint="")
    usual = library.scores(default_model.ID).provenance.model.fingerprint == scores.provenance.model.fingerprint
    failure = library.failure(scores.provenance.model)
    return View(state, scores, panels(scores, state), tuple(notices), failure, usual)


def _sentence(error: HeadAtlasError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}. {error.hint}".strip()


def _instead(library: Library, state: ViewState) -> tuple[Scores, ViewState]:
    """Another checkpoint of the same name if there is one, else the default model."""
    try:
        return library.scores(state.model), state
    except HeadAtlasError:
        return library.scores(default_model.ID), replace(state, model=default_model.ID, relation="", pins=())


def _existing(scores: Scores, pins: tuple[HeadId, ...], notices: list[str]) -> tuple[HeadId, ...]:
    kept = []
    for head in pins:
        try:
            kept.append(scores.provenance.model.check(head))
        except HeadError as error:
            notices.append(_sentence(error))
    return tuple(kept)
