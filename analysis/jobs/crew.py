"""Dask's workers at the steps of one job, and how far they are."""

import hashlib
import pickle
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.jobs.executor import Done
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.jobs.worker import Source, run_step
from analysis.methods.method import Step

if TYPE_CHECKING:
    from analysis.jobs.engine import Engine


class WrittenProgress:
    """Writes down how far a job is after every piece, with an estimate of the time that is left."""

    def __init__(self, journal: Journal, job: Job, stage: str) -> None:
        self._journal, self._stage = journal, stage
        self._start, self._before = time.monotonic(), job.done
        self.job = job
        journal.save(job)

    def told(self, done: Done, count: int, total: int) -> None:
        """A piece was kept."""
        more = count - self.job.done
        stage = f"{self._stage}, {done.step.words}" if done.step.words else self._stage
        left = None
        if count > self._before:
            seconds = time.monotonic() - self._start
            left = round(seconds / (count - self._before) * (total - count), 1)
        job = self.job.at(stage=stage, done=count, left=left)
        self.job = job.counted(done.worker, more) if more else job
        self._journal.save(self.job)


class DaskCrew:
    """Dask's workers, doing the steps of one job."""

    at_once = 1  # progress is seen step by step, and other workers can take the next

    def __init__(self, engine: "Engine", job: Job, source: Source, fingerprint: str) -> None:
        self._engine, self._job = engine, job
        self._source, self._fingerprint = source, fingerprint
        self._waiting: dict[Any, Step] = {}

    def __enter__(self) -> "DaskCrew":
        return self

    def __exit__(self, *error: object) -> None:
        self._engine.cluster.release(list(self._waiting))

    def busy(self) -> bool:
        """Some worker is at it, or will be."""
        return bool(self._waiting)

    def start(self, step: Step, urgency: int) -> None:
        """Give a step to the next worker that is free."""
        if any(other.key == step.key for other in self._waiting.values()):
            return
        content = hashlib.sha256(pickle.dumps(step)).hexdigest()[:16]  # the same step of a fit that went on is new work
        arguments = (self._source, self._fingerprint, step)
        future = self._engine.cluster.submit(run_step, *arguments, key=f"{step.key}-{content}", priority=urgency)
        self._waiting[future] = step

    def finished(self) -> Iterator[Done]:
        """What the next step that is done has given."""
        step, computed = self._engine.next_result(self._job, self._waiting)
        for name, content in computed.pieces:
            yield Done(step, name, content, computed.device, computed.worker)
