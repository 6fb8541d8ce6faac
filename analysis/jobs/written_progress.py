"""How far a job is, written down after every piece: what is being done, and how long it still takes."""

import time

from analysis.jobs.estimate import Estimate, doing, pending
from analysis.jobs.executor import Done
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.method import Method, Plan, Step
from analysis.results.store import Store


class WrittenProgress:
    """The progress of one method of a job."""

    def __init__(self, journal: Journal, job: Job, plan: Plan, store: Store, method: Method) -> None:
        self._journal, self._plan, self._store = journal, plan, store
        parts = len(job.asked) if len(job.asked) > 1 else 0
        part = job.methods.index(method.name) + 1 if parts else 0
        self._estimate = Estimate(time.monotonic())
        done = plan.total - plan.left(store)
        self.job = job.at(stage=method.title, part=part, parts=parts, done=done, total=plan.total, left=None)
        journal.save(self.job)

    def begun(self, step: Step) -> None:
        """A step is the next to be done."""
        words = doing(step)
        if words != self.job.doing:
            self.job = self.job.at(doing=words)
            self._journal.save(self.job)

    def piece_kept(self, done: Done, count: int, total: int) -> None:
        """A piece was kept."""
        more = count - self.job.done
        left = self.job.left
        if more:
            self._estimate.done(done.step, more, time.monotonic())
            seconds = self._estimate.left(pending(self._plan, self._store))
            left = None if seconds is None else round(seconds, 1)
        job = self.job.at(done=count, left=left)
        self.job = job.counted(done.worker, more) if more else job
        self._journal.save(self.job)
