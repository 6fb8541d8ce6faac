"""What a Dask worker does: open a model, do steps on it. Runs in the worker's process; the last model stays open."""

import faulthandler
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import HeadAtlasError, ModelError, ModelNotFound
from analysis.method import Step
from analysis.models import builtin
from analysis.models.card import ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.models.sources import cached_models, fetched_file, listed_file, listed_folder, open_listed
from analysis.progress import silent
from analysis.results.store import cache_folder

MARGIN = 10.0  # seconds in which a server ends a question that took too long; after them the worker ends itself
LOW_PRIORITY = "HEAD_ATLAS_LOW_PRIORITY"  # set for workers beside the web server


@dataclass(frozen=True)
class ModelSource:
    """How a worker finds a model: by name, in its own cache and models directory."""

    model: str
    revision: str
    models: str  # the models directory, or empty
    device: str

    def open(self) -> Checkpoint:
        """The checkpoint on this worker's host."""
        return open_listed(self.model, self.revision or None, cache_folder(), self._folder)

    def is_here(self) -> bool:
        """Whether the weights are on this worker's host, so that nothing has to be downloaded."""
        places = (
            listed_folder(self.model, self._folder),
            listed_file(self.model, self._folder),
            fetched_file(self.model, cache_folder()),
        )
        if self.model == builtin.ID or any(place is not None for place in places):
            return True
        return self.model in cached_models()

    @property
    def _folder(self) -> Path | None:
        return Path(self.models) if self.models else None


@dataclass(frozen=True)
class Computed:
    """What a step gave, and who computed it."""

    pieces: tuple[tuple[str, bytes], ...]
    device: str
    worker: str


_open: dict[tuple[str, str], OpenModel] = {}  # the last model, by fingerprint and device


@dataclass(frozen=True)
class Refused:
    """In place of a result: an error that a person can do something about. Dask would log it with a traceback."""

    error: HeadAtlasError


def attempted(work: Callable[..., Any], *arguments: Any) -> Any:
    """What some work gives, or why it is refused."""
    try:
        return work(*arguments)
    except HeadAtlasError as error:
        return Refused(error)


def open_card(source: ModelSource) -> ModelCard:
    """The card of a model."""
    _lower_priority()
    return source.open().card


def run_step(source: ModelSource, fingerprint: str, step: Step) -> Computed:
    """Do a step on a model."""
    from distributed import get_worker

    _lower_priority()
    model = _opened(source, fingerprint)
    pieces = tuple(step.run(model, silent))
    return Computed(pieces, model.device_name, get_worker().address)


def answer(source: ModelSource, fingerprint: str, step: Step, patience: float) -> Computed:
    """Do a small step that a user is waiting for; weights that are not on this host are not fetched for it.

    A worker that is still at it when nobody waits any more ends itself, whatever holds it; its nanny starts another.
    """
    if (fingerprint, source.device) not in _open and not source.is_here():
        raise ModelNotFound(
            f"The weights of {source.model} are not on the worker's machine",
            "Put them where the worker can find them; make gallery fetches those of the models in the gallery.",
        )
    faulthandler.dump_traceback_later(patience + MARGIN, exit=True)
    try:
        return run_step(source, fingerprint, step)
    finally:
        faulthandler.cancel_dump_traceback_later()


def executing(dask_worker: Any) -> list[str]:
    """The keys of what a worker is at, as opposed to what waits there."""
    return [task.key for task in dask_worker.state.executing]


def _opened(source: ModelSource, fingerprint: str) -> OpenModel:
    """The model, if this host has the same weights as the others."""
    if (fingerprint, source.device) not in _open:
        _open.clear()
        checkpoint = source.open()
        if checkpoint.card.fingerprint != fingerprint:
            raise ModelError(f"{source.model} differs between hosts", "Give all workers the same files or revision.")
        _open[fingerprint, source.device] = OpenModel(checkpoint, source.device)
    return _open[fingerprint, source.device]


def _lower_priority() -> None:
    """On the web server's own machine the page comes first: work with what it leaves."""
    if os.environ.pop(LOW_PRIORITY, ""):
        os.nice(10)
