"""Runs jobs, one after the other: cuts them into steps that Dask's workers compute and the store keeps.

What is in the store is not computed again, so a job that was stopped, by a person, a crash or a power cut, goes on
where it was; what two jobs share is computed once.
"""

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from analysis.errors import DeviceError, HeadAtlasError, QueueFull, SettingError, StoreError, WorkerBusy
from analysis.jobs.answers import Answers
from analysis.jobs.cluster import DEATHS, RESOURCE, Cluster, ClusterLost, NoScheduler, WorkerConfig
from analysis.jobs.dask_runner import DaskRunner
from analysis.jobs.executor import work_off
from analysis.jobs.job import Job, JobStatus
from analysis.jobs.journal import Journal
from analysis.jobs.lease import Lease, Leases
from analysis.jobs.request import Request
from analysis.jobs.step_clock import StepClock
from analysis.jobs.worker import ModelSource, answer, open_card
from analysis.jobs.written_progress import WrittenProgress
from analysis.method import Method, Plan, Step
from analysis.models.card import ModelCard
from analysis.models.checkpoint import check_files as check_regular
from analysis.models.location import OPENING, find_model, is_unconverted
from analysis.results.own_sets import without_pairs
from analysis.results.provenance import now
from analysis.results.scores import Scores
from analysis.results.store import Store, cache_folder

__all__ = ["Engine", "WorkerConfig"]

QUEUE_LIMIT = 20  # jobs that may wait
ASKED_LIMIT = 4  # questions that may wait for an answer
PATIENCE = 60.0  # seconds that a question waits, the first also for its model; a worker still busy with it is replaced
CONVERSION = 300.0  # seconds more for a question that finds the weights unconverted
RETURNS = 100  # times that a scheduler which went away in mid-job is looked for again
_PAUSE = 5.0  # seconds between two looks for jobs, or for a scheduler
_AT_ONCE = 1000  # the priority of questions: before all steps of jobs
_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """Raised to stop a job."""


class Engine:
    """Takes requests, runs them in its own thread, reports progress."""

    def __init__(self, store: Store, config: WorkerConfig | None = None) -> None:
        self._store, self._config = store, config or WorkerConfig()
        self._journal, self._answers = Journal(store), Answers(store)
        self._leases = Leases(store.folder / "leases")
        self._lock = threading.Lock()  # around what people ask for
        self._writing = threading.Lock()  # around the end of a job
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._unwritten: dict[str, Job] = {}  # ends of jobs that the store has no room for
        self._waiting: dict[str, Job] = {}  # as they were submitted here
        self._replaced = 0  # times that the store was, as far as is known
        self._returns: dict[str, int] = {}  # by job: looks for a scheduler that went away
        self._asked = threading.Semaphore(ASKED_LIMIT)
        self.cluster = Cluster(self._config, self._stopping)
        self._thread: threading.Thread | None = None

    # ---- What others call ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Go on with what was waiting or running when the last process ended."""
        self._journal.upgrade()
        self._journal.prune()
        for job in self.jobs():
            lease = self._leases.take(job.id) if job.state == "running" else None
            if lease is not None:  # else another server is working on it
                with lease:
                    self._journal.save(job.at(state="queued", stage="waiting"))
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and the local worker; jobs stay as they are and go on at the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=60)
        self.cluster.close()

    def submit(self, request: Request) -> Job:
        """A new job, or the one there is: asking twice changes nothing, asking for a failed one tries again."""
        return self._submit(Job.of(request), request)

    def look_up(self, request: Request) -> None:
        """Refuse a request whose model cannot be found, or whose files have too few pairs for it; computes nothing.

        Remote workers alone know their models: then the job reports it.
        """
        request.asked()  # impossible settings are refused before the model is looked for
        request.check_files()
        if not self._config.scheduler:
            folder = find_model(request.model, request.revision, cache_folder(), self._config.models).folder
            if folder is not None:
                check_regular(folder)
                request.check_files(folder)

    def retry(self, job_id: str) -> Job:
        """Retry a job; it resumes where it was."""
        self._existing(job_id)
        request = self._journal.request(job_id)
        if request is None:
            raise SettingError("the request of this job cannot be read", "Submit it again.")
        return self._submit(Job.of(request).at(id=job_id), request)

    def cancel(self, job_id: str) -> Job:
        """Stop a job, whichever server works on it; a step that does not end soon is ended. What it has is kept."""
        with self._lock:
            job = self._existing(job_id)
            if job.active:
                self._journal.give_order(job_id, "cancel")
                lease = self._leases.take(job_id)
                if lease is not None:  # nobody works on it
                    with lease:
                        self._finish(job, "cancelled", "", "")
                    job = self._existing(job_id)
        self._wake.set()
        return job

    def delete(self, job_id: str) -> Job:
        """Forget a job that is over; its results stay."""
        with self._lock:
            job = self._existing(job_id)
            if job.active:
                raise SettingError(f"the job {job_id} is {job.state}", "Cancel it first.")
            self._journal.remove(job)
        return job

    def _existing(self, job_id: str) -> Job:
        job = self.job(job_id)
        if job is None:
            raise SettingError(f"there is no job {job_id[:40]!r}", "See the list of jobs.")
        return job

    def job(self, job_id: str) -> Job | None:
        """A job by its name."""
        return self._unwritten.get(job_id) or self._journal.job(job_id)

    def jobs(self) -> list[Job]:
        """All jobs, the oldest first."""
        jobs = self._journal.jobs()
        if self._store.replaced != self._replaced:
            self._replaced = self._store.replaced
            self._tell_lost({job.id for job in jobs})
            jobs = self._journal.jobs()
        self._forget_begun(jobs)
        return [self._unwritten.get(job.id, job) for job in jobs]

    def _forget_begun(self, jobs: list[Job]) -> None:
        """A job that another server took does not wait any more."""
        for job in jobs:
            if job.state != "queued":
                self._waiting.pop(job.id, None)

    def _tell_lost(self, there: set[str]) -> None:
        """Say of the jobs that waited in a store that was deleted what became of them."""
        for job in list(self._waiting.values()):
            if job.id not in there:
                words = ("the store was deleted while this job waited", "Submit it again.")
                self._journal.save(_ended(job, "failed", *words, ""))
                self._waiting.pop(job.id, None)

    def requests(self, item: str) -> Iterator[Request]:
        """What was asked for about a relation or task by its name, the newest first."""
        for job in reversed(self.jobs()):
            is_asked = any(item in asked.items for asked in job.asked.values())
            request = self._journal.request(job.id) if is_asked else None
            if request is not None:
                yield request

    def partial(self, job: Job, only: str = "") -> list[Scores]:
        """What a job has so far, of each of its methods that has anything, or of one; the pairs stay in its request."""
        card = self._journal.card(job)
        request = None if card is None else self._journal.request(job.id)
        if card is None or request is None:
            return []
        results = []
        for method in request.chosen:
            if only in ("", method.name):
                scores = method.plan(card, request).assembled(self._store, "")
                if scores is not None:
                    results.append(without_pairs(scores))
        return results

    def ask(self, card: ModelCard, step: Step, patience: float = PATIENCE) -> bytes:
        """What a small step gives, from the store or computed at once by a worker between the steps of jobs.

        The step gives one piece, under its key. Waits for it: not to be called where an event loop runs.
        """
        stored = self._store.get(step.key)
        if stored is not None:
            return stored
        if self._thread is None or self._stopping.is_set():
            raise WorkerBusy("the engine is not running", "Ask again when the server runs its jobs.")
        if not self._asked.acquire(blocking=False):
            raise WorkerBusy(f"{ASKED_LIMIT} questions are waiting already", "Ask again in a moment.")
        try:
            content = self._answer(card, step, patience)
        finally:
            self._asked.release()
        self._answers.keep(step.key, content)
        return content

    def knows(self, step: Step) -> bool:
        """Whether the answer is in the store."""
        return self._store.contains(step.key)

    def _answer(self, card: ModelCard, step: Step, patience: float) -> bytes:
        revision = "" if card.fingerprint.startswith(card.revision) else card.revision
        source = ModelSource(card.id, revision, str(self._config.models or ""), self._config.device)
        if self._converts(source):
            patience += CONVERSION
        key = f"ask-{step.key}-{time.time_ns()}"
        arguments = (source, card.fingerprint, step, patience)
        future = self.cluster.submit(answer, *arguments, key=key, priority=_AT_ONCE)
        try:
            computed = self.cluster.result(future, timeout=patience)
        except TimeoutError as error:
            raise self._unanswered(future, patience) from error
        except CancelledError as error:
            raise WorkerBusy("the worker stopped", "Ask again in a moment.") from error
        finally:
            self.cluster.cancel([future])
        return bytes(computed.pieces[0][1])

    def _converts(self, source: ModelSource) -> bool:
        """Whether the worker will first convert the weights. Of remote workers that is not known."""
        if self._config.scheduler:
            return False
        return is_unconverted(source.model, source.revision, cache_folder(), self._config.models)

    def _unanswered(self, future: Any, patience: float) -> WorkerBusy:
        """Why a question got no answer in time; frees its place for others."""
        if self.cluster.abandon(future):
            message = f"the answer would have taken longer than {patience:g} seconds"
            return WorkerBusy(message, "Ask for less, or use a faster device.")
        running = [job for job in self.jobs() if job.state == "running"]
        message = f"no worker answered within {patience:g} seconds"
        if running:
            message = f"the worker is busy with {running[0].model}: {running[0].stage_words}"
        return WorkerBusy(message, "Ask again in a moment, or when the jobs are done.")

    def _submit(self, job: Job, request: Request) -> Job:
        with self._lock:
            before = self.job(job.id)
            if before is not None and self._is_about_to_end(before):
                return self._once_more(before)
            if before is not None and before.active:
                return before
            if before is not None and before.state == "done" and self._has_results(before):
                return before
            if sum(other.active for other in self.jobs()) >= QUEUE_LIMIT:
                raise QueueFull(f"{QUEUE_LIMIT} jobs are waiting already", "Try again when some are done.")
            self._journal.clear_order(job.id)
            self._journal.add(job, request)
            self._waiting[job.id] = job
            self._journal.prune()
        self._wake.set()
        return job

    def _is_about_to_end(self, job: Job) -> bool:
        """Whether somebody works on it, or could not write its end, and an order reaches it; else one is outdated."""
        return job.id in self._unwritten or (job.active and self._journal.order(job.id) is not None)

    def _once_more(self, job: Job) -> Job:
        """A job that is about to end, as cancelled or as failed, waits again instead."""
        self._journal.give_order(job.id, "again")
        if job.id in self._unwritten:
            self._unwritten[job.id] = job.at(state="queued", stage="waiting")
        return job.at(state="queued", stage="waiting")

    def _has_results(self, job: Job) -> bool:
        card, request = self._journal.card(job), self._journal.request(job.id)
        if card is None or request is None:
            return False
        for method in request.chosen:
            plan = method.plan(card, request)
            if not (self._store.contains(plan.key) if plan.is_whole else plan.left(self._store) == 0):
                return False
        return True

    # ---- The thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        """Go on until the server stops, whatever goes wrong: without this thread no job would ever run again."""
        while not self._stopping.is_set():
            try:
                was_busy = self._work_on_next()
            except Exception:
                _log.exception("looking for jobs failed; looking again in %g seconds", _PAUSE)
                was_busy = False
            if not was_busy:
                self._wake.wait(timeout=_PAUSE)
                self._wake.clear()

    def _work_on_next(self) -> bool:
        """Work off the next job; says whether there was one."""
        waiting = self._next()
        if waiting is None:
            return False
        job, lease = waiting
        with lease:
            self._run(job)
        return True

    def _next(self) -> tuple[Job, Lease] | None:
        """The job that has waited longest and that no other server works on; one whose server died is among them."""
        for job in self.jobs():
            lease = self._leases.take(job.id) if job.active else None
            if lease is not None:
                return job, lease
        return None

    def _run(self, job: Job) -> None:
        try:
            job = self._begun(job)
            job = self._computed(job)
            self._finish(job, "done", "", "")
        except Cancelled:
            if not self._stopping.is_set():
                self._end(job, "cancelled", "", "")
        except ClusterLost:
            self._returns.setdefault(job.id, 0)
            self.cluster.close()
            self._end(job, "queued", "", "")  # goes on with a new one from the stored steps
        except NoScheduler as error:
            self._wait_for_scheduler(job, error)
        except HeadAtlasError as error:
            self._end(job, "failed", str(error), error.hint)
        except Exception as error:
            _log.exception("job %s failed", job.id)
            self._end(job, "failed", *_words(error))

    def _begun(self, job: Job) -> Job:
        """The job as running, unless it was cancelled since it was seen."""
        with self._lock:
            now_there = self.job(job.id)
            if now_there is None or not now_there.active or self._journal.order(job.id) == "cancel":
                raise Cancelled
            job = job.at(state="running", stage=OPENING, message="", hint="", finished="")
            self._journal.save(job)
            self._waiting.pop(job.id, None)
        return job

    def _wait_for_scheduler(self, job: Job, error: NoScheduler) -> None:
        """One that was there before will come back; one that never answered is a wrong address."""
        tries = self._returns.get(job.id, RETURNS)
        if tries >= RETURNS:
            self._returns.pop(job.id, None)
            self._end(job, "failed", str(error), error.hint)
            return
        self._returns[job.id] = tries + 1
        self._end(job, "queued", "", "", f"{error}; retrying")
        self._stopping.wait(_PAUSE)

    def _end(self, job: Job, state: JobStatus, message: str, hint: str, stage: str = "") -> None:
        """Write down how a job ended; on a full disk report it at once, and write it when there is space."""
        while True:
            try:
                return self._finish(job, state, message, hint, stage)
            except StoreError as error:
                words = (message, hint) if message else (str(error), error.hint)
                self._unwritten[job.id] = _ended(job, state, *words, stage)
                if self._stopping.wait(2):
                    return None

    def _finish(self, job: Job, state: JobStatus, message: str, hint: str, stage: str = "") -> None:
        with self._writing:
            current = self._journal.job(job.id)
            if current is not None and not current.active:  # cancelled before it began
                self._journal.clear_order(job.id)
                return
            if state in {"cancelled", "failed"} and self._journal.order(job.id) == "again":
                state, message, hint = "queued", "", ""
            request = self._journal.request(job.id)
            if request is not None:
                self._journal.save_request(job.id, request)  # the store may have been deleted meanwhile
            last = job if state == "done" else current or job
            self._journal.save(_ended(last, state, message, hint, stage))
            self._journal.clear_order(job.id)
            self._unwritten.pop(job.id, None)
            self._waiting.pop(job.id, None)
        self._wake.set()

    def _computed(self, job: Job) -> Job:
        request = self._journal.request(job.id)
        if request is None:
            raise SettingError("the request of this job cannot be read", "Submit it again.")
        source = ModelSource(request.model, request.revision, str(self._config.models or ""), self._config.device)
        card = self._opened(job, source)
        asked = {method.name: method.asked(request, card) for method in request.chosen}
        job = job.at(fingerprint=card.fingerprint, asked=asked)
        self._journal.save_card(job, card)
        for method in request.chosen:
            job = self._method(job, method, method.plan(card, request), source)
        return job

    def _opened(self, job: Job, source: ModelSource) -> ModelCard:
        stage = self._first_stage(source)
        if stage != job.stage:
            self._journal.save(job.at(stage=stage))
        future = self.cluster.submit(open_card, source, key=f"open-{job.id}-{time.time_ns()}")
        if not self.cluster.has_worker():
            self._journal.save(job.at(stage=f"waiting for a Dask worker that has {RESOURCE}=1"))
        waiting = {future: None}
        card: ModelCard = self.next_result(job, waiting, StepClock())[1]
        return card

    def _first_stage(self, source: ModelSource) -> str:
        """What opening the model begins with, as far as this machine knows."""
        if self._config.scheduler:
            return OPENING
        try:
            return find_model(source.model, source.revision, cache_folder(), self._config.models).stage
        except HeadAtlasError:  # opening it says why
            return OPENING

    def _method(self, job: Job, method: Method, plan: Plan, source: ModelSource) -> Job:
        """Do the steps of one method's plan; with one worker step after step, with several side by side."""
        progress = WrittenProgress(self._journal, job, plan, self._store, method)
        with DaskRunner(self, job, source, plan.card.fingerprint, progress) as runner:
            work_off(plan, self._store, runner, progress.piece_kept)
        return progress.job.at(remarks=(*job.remarks, *plan.remarks(self._store)))

    def next_result(self, job: Job, waiting: dict[Any, Any], clock: StepClock) -> tuple[Any, Any]:
        """What was waited for with the next future that is done, and its result; lets go of all when it fails."""
        try:
            return self._waited(job, waiting, clock)
        except BaseException:
            self._give_up(job, waiting)
            raise

    def _waited(self, job: Job, waiting: dict[Any, Any], clock: StepClock) -> tuple[Any, Any]:
        self.cluster.watch()
        clock.begin()
        while True:
            self._check(job)
            self._check_time(waiting, clock)
            try:
                future = self.cluster.next_done(list(waiting), timeout=0.5)
                return waiting.pop(future), self.cluster.result(future)
            except TimeoutError:
                continue
            except CancelledError as error:  # not by us: the scheduler is gone
                raise ClusterLost from error

    def _check(self, job: Job) -> None:
        if self._stopping.is_set() or self._journal.order(job.id) == "cancel":
            raise Cancelled
        self.cluster.check()

    def _check_time(self, waiting: dict[Any, Any], clock: StepClock) -> None:
        """Raise when a step takes longer than it may."""
        limit, cluster = self._config.step_limit, self.cluster
        if not clock.is_over(limit, cluster.has_worker, lambda: cluster.workers_at(list(waiting))):
            return
        message = f"a step took longer than {limit / 60:g} minutes" if limit >= 60 else f"a step took over {limit:g} s"
        raise DeviceError(message, "Use a faster device, or allow more with app.py --step-limit SECONDS.")

    def _give_up(self, job: Job, waiting: dict[Any, Any]) -> None:
        """Release steps that are no longer needed, so that the next job finds its workers free."""
        if self._stopping.is_set():
            self.cluster.cancel(list(waiting))
        else:
            self._tell_stopping(job)
            for address in self.cluster.release(list(waiting)):
                _log.error("the Dask worker %s does not end its step and has no nanny: restart it", address)
        waiting.clear()

    def _tell_stopping(self, job: Job) -> None:
        with suppress(StoreError):
            current = self._journal.job(job.id)
            if current is not None and current.active:
                self._journal.save(current.at(stage="stopping"))


def _ended(job: Job, state: JobStatus, message: str, hint: str, stage: str) -> Job:
    return job.at(state=state, stage=stage or state, message=message, hint=hint, left=None, finished=now())


def _words(error: Exception) -> tuple[str, str]:
    """Message and hint for an unexpected error."""
    if type(error).__name__ == "KilledWorker":
        return (
            f"the worker died {DEATHS} times on the same step",
            "It probably ran out of memory: use a larger machine, or a GPU with more memory.",
        )
    return f"something unexpected happened: {type(error).__name__}: {str(error)[:200]}", "See the server's log."
