"""The one loop over a plan's steps, whoever does them.

The command line does the steps in its own process, the engine gives them to Dask's workers. Both hand a `StepRunner` to
`work_off`, which keeps what comes back and asks the plan for more until nothing is left.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from analysis.errors import SettingError, StoreError
from analysis.method import Method, Plan, Step
from analysis.models.open_model import OpenModel
from analysis.progress import Progress, silent
from analysis.results.inventory import add_model
from analysis.results.scores import Scores
from analysis.results.store import Store


@dataclass(frozen=True)
class Done:
    """A piece that a step gave."""

    step: Step
    name: str
    content: bytes
    device: str  # that computed it
    worker: str = ""  # its address, if it is another process


class StepRunner(Protocol):
    """Runs steps."""

    at_once: int  # how many small steps may be joined into one

    def busy(self) -> bool:
        """Whether some step is still being done."""

    def start(self, step: Step, urgency: int) -> None:
        """Begin a step, unless it is being done already."""

    def finished(self) -> Iterator[Done]:
        """What the next step that is done has given."""


_ATTEMPTS = 5  # at putting a result together: stored pieces may turn out to be damaged

OnPiece = Callable[[Done, int, int], None]  # a piece that was kept, steps done, steps in all


def work_off(plan: Plan, store: Store, runner: StepRunner, on_piece: OnPiece) -> Scores:
    """Do all that the store does not have, put the whole together, keep it and list the model."""
    device = ""
    for _ in range(_ATTEMPTS):
        device = _do_steps(plan, store, runner, on_piece) or device
        scores = plan.assembled(store, device or "stored steps")
        if scores is not None and plan.left(store) == 0:  # else a stored piece was damaged, and reading it removed it
            if plan.is_whole:
                store.put(plan.key, scores.to_parquet())
            add_model(store, plan.card)
            return scores
    raise StoreError("the results of steps keep disappearing from the store", "Check the disk.")


def _do_steps(plan: Plan, store: Store, runner: StepRunner, on_piece: OnPiece) -> str:
    """One step after the other until none is left; says which device computed, or nothing when all was there."""
    device = ""
    total = plan.total
    _start_ready(plan, store, runner)
    while runner.busy():
        pieces = 0
        for done in runner.finished():
            plan.keep(done.step, done.name, done.content, store)
            device = done.device
            pieces += 1
            on_piece(done, total - plan.left(store), total)
        if not pieces:
            raise SettingError("a step returned nothing", "This is a bug in the method.")
        _start_ready(plan, store, runner)
    return device


def _start_ready(plan: Plan, store: Store, runner: StepRunner) -> None:
    for urgency, step in enumerate(plan.ready(store, runner.at_once)):
        runner.start(step, -urgency)


def stored_result(method: Method, plan: Plan, store: Store) -> Scores | None:
    """The finished result if the store has it, under the name by which the model was opened now: content decides."""
    content = store.get(plan.key)
    if content is None:
        return None
    try:
        scores = method.read(content)
    except StoreError:  # written by another version
        return None
    return replace(scores, provenance=replace(scores.provenance, model=plan.card))


AT_ONCE = 32  # small steps in one, where nobody waits for each of them


class LocalRunner:
    """The steps one after the other, here."""

    at_once = AT_ONCE

    def __init__(self, model: OpenModel, progress: Progress = silent) -> None:
        self._model, self._progress = model, progress
        self._step: Step | None = None

    def busy(self) -> bool:
        """A step is waiting to be done."""
        return self._step is not None

    def start(self, step: Step, urgency: int) -> None:
        """The most urgent one is done next; the others come again."""
        if self._step is None:
            self._step = step

    def finished(self) -> Iterator[Done]:
        """Do the step now."""
        step = self._step
        self._step = None
        if step is not None:
            for name, content in step.run(self._model, self._progress):
                yield Done(step, name, content, self._model.device_name)


def compute(
    method: Method, plan: Plan, model: OpenModel, store: Store, progress: Progress = silent
) -> tuple[Scores, bool]:
    """A plan's result, from the store or computed in this process; and whether it was stored already."""
    stored = stored_result(method, plan, store)
    if stored is not None:
        return stored, True

    def show(done: Done, count: int, total: int) -> None:
        if done.step.words:
            progress(done.step.words, count, total)

    return work_off(plan, store, LocalRunner(model, progress), show), False
