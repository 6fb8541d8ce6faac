"""Runs the steps of one job on Dask workers."""

import hashlib
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.jobs.executor import Done
from analysis.jobs.job import Job
from analysis.jobs.step_clock import StepClock
from analysis.jobs.worker import ModelSource, run_step
from analysis.jobs.written_progress import WrittenProgress
from analysis.method import Step

if TYPE_CHECKING:
    from analysis.jobs.engine import Engine


class DaskRunner:
    """Dask's workers, doing the steps of one job."""

    at_once = 1  # progress is seen step by step, and other workers can take the next

    def __init__(
        self, engine: "Engine", job: Job, source: ModelSource, fingerprint: str, progress: WrittenProgress
    ) -> None:
        self._engine, self._job, self._progress = engine, job, progress
        self._source, self._fingerprint = source, fingerprint
        self._waiting: dict[Any, Step] = {}
        self._clock = StepClock()

    def __enter__(self) -> "DaskRunner":
        return self

    def __exit__(self, *error: object) -> None:
        self._engine.cluster.release(list(self._waiting))

    def busy(self) -> bool:
        """Some worker is working on a step, or will be."""
        return bool(self._waiting)

    def start(self, step: Step, urgency: int) -> None:
        """Give a step to the next worker that is free."""
        if urgency == 0:
            self._progress.begun(step)
        if any(other.key == step.key for other in self._waiting.values()):
            return
        content = hashlib.sha256(pickle.dumps(step)).hexdigest()[:16]  # the same step of a fit that went on is new work
        arguments = (self._source, self._fingerprint, step)
        future = self._engine.cluster.submit(run_step, *arguments, key=f"{step.key}-{content}", priority=urgency)
        self._waiting[future] = step

    def finished(self) -> Iterator[Done]:
        """What the next step that is done has given."""
        step, computed = self._engine.next_result(self._job, self._waiting, self._clock)
        self._clock.gave(computed.worker)
        for name, content in computed.pieces:
            yield Done(step, name, content, computed.device, computed.worker)
