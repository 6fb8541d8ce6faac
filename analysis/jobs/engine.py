"""Works off jobs, one after the other: cuts them into steps that Dask's workers compute and the store keeps.

What is in the store is not computed again, so a job that was stopped, by a person, a crash or a power cut, goes on
where it was; what two jobs share is computed once.
"""

import hashlib
import logging
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

from analysis.errors import HeadAtlasError, QueueFull, SettingError, StoreError, WorkerBusy
from analysis.jobs.cluster import DEATHS, RESOURCE, Cluster, Place, WorkerLost
from analysis.jobs.executor import Done, work_off
from analysis.jobs.job import Job, State
from analysis.jobs.journal import Journal
from analysis.jobs.request import Request
from analysis.jobs.worker import Source, answer, open_card, run_step
from analysis.jobs.written_progress import WrittenProgress
from analysis.methods.method import Method, Plan, Step
from analysis.models.card import ModelCard
from analysis.models.vocabulary import Vocabulary
from analysis.models.whereabouts import OPENING, find_model
from analysis.results.provenance import now
from analysis.results.scores import Scores
from analysis.results.store import Store, cache_folder

__all__ = ["Engine", "Place"]

QUEUE_LIMIT = 20  # jobs that may wait
ASKED_LIMIT = 4  # questions that may wait for an answer
PATIENCE = 30.0  # seconds that a question waits
_AT_ONCE = 1000  # the priority of questions: before all steps of jobs
_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """The job shall stop."""


class Engine:
    """Takes requests, works them off in a thread of its own, tells how far they are."""

    def __init__(self, store: Store, place: Place | None = None) -> None:
        self._store, self._place = store, place or Place()
        self._journal = Journal(store)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._cancelled: set[str] = set()
        self._asked = threading.Semaphore(ASKED_LIMIT)
        self.cluster = Cluster(self._place, self._stopping)
        self._thread: threading.Thread | None = None

    # ---- What others call ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Go on with what was waiting or running when the last process ended."""
        self._journal.upgrade()
        for job in self.jobs():
            if job.state == "running":
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
        """Refuse a request for a model that is nowhere, or with files of too few pairs for it; nothing is computed.

        Where workers are elsewhere only they know their models: then the job tells.
        """
        request.asked()  # what makes no sense is refused before the model is looked for
        request.check_files()
        if not self._place.scheduler:
            folder = find_model(request.model, request.revision, cache_folder(), self._place.models).folder
            if folder is not None and (folder / "tokenizer.json").is_file():
                request.check_files(Vocabulary.open(folder))

    def retry(self, job_id: str) -> Job:
        """Try a job again; it goes on from what it had."""
        job, request = self.job(job_id), self._journal.request(job_id)
        if job is None or request is None:
            raise SettingError(f"there is no job {job_id[:40]!r}", "See the list of jobs.")
        return self._submit(Job.of(request).at(id=job_id), request)

    def cancel(self, job_id: str) -> Job:
        """Stop a job; a running one stops within one step. What it has computed is kept."""
        with self._lock:
            job = self.job(job_id)
            if job is None:
                raise SettingError(f"there is no job {job_id[:40]!r}", "See the list of jobs.")
            if job.state == "queued":
                job = job.at(state="cancelled", stage="cancelled", finished=now())
                self._journal.save(job)
            elif job.state == "running":
                self._cancelled.add(job_id)
        self._wake.set()
        return job

    def job(self, job_id: str) -> Job | None:
        """A job by its name."""
        return self._journal.job(job_id)

    def jobs(self) -> list[Job]:
        """All jobs, the oldest first."""
        return self._journal.jobs()

    def requests(self) -> Iterator[Request]:
        """What was asked for, the newest first."""
        for job in reversed(self.jobs()):
            request = self._journal.request(job.id)
            if request is not None:
                yield request

    def partial(self, job: Job) -> list[Scores]:
        """What a job has so far, of each of its methods that has anything."""
        card, request = self._journal.card(job), self._journal.request(job.id)
        if card is None or request is None:
            return []
        results = []
        for method in request.chosen:
            scores = method.plan(card, request).assembled(self._store, "")
            if scores is not None:
                results.append(scores)
        return results

    def ask(self, card: ModelCard, step: Step, patience: float = PATIENCE) -> bytes:
        """What a small step gives, from the store or computed at once by a worker between the steps of jobs.

        The step gives one piece, under its key. Waits for it: not to be called where an event loop runs.
        """
        stored = self._store.get(step.key)
        if stored is not None:
            return stored
        if self._thread is None or self._stopping.is_set():
            raise WorkerBusy("nothing is computed here now", "Ask again when the server runs its jobs.")
        if not self._asked.acquire(blocking=False):
            raise WorkerBusy(f"{ASKED_LIMIT} questions are waiting already", "Ask again in a moment.")
        try:
            content = self._answer(card, step, patience)
        finally:
            self._asked.release()
        self._store.put(step.key, content)
        return content

    def knows(self, step: Step) -> bool:
        """Whether the answer is in the store."""
        return self._store.contains(step.key)

    def _answer(self, card: ModelCard, step: Step, patience: float) -> bytes:
        revision = "" if card.fingerprint.startswith(card.revision) else card.revision
        source = Source(card.id, revision, str(self._place.models or ""), self._place.device)
        key = f"ask-{step.key}-{time.time_ns()}"
        future = self.cluster.submit(answer, source, card.fingerprint, step, key=key, priority=_AT_ONCE)
        try:
            computed = future.result(timeout=patience)
        except TimeoutError as error:
            running = [job for job in self.jobs() if job.state == "running"]
            if running:
                told = f"the worker is busy with {running[0].model}: {running[0].stage}"
            else:
                told = f"no worker answered within {patience:g} seconds"
            raise WorkerBusy(told, "Ask again in a moment, or when the jobs are done.") from error
        except CancelledError as error:
            raise WorkerBusy("the worker stopped", "Ask again in a moment.") from error
        finally:
            self.cluster.cancel([future])
        return bytes(computed.pieces[0][1])

    def _submit(self, job: Job, request: Request) -> Job:
        with self._lock:
            before = self.job(job.id)
            if before is not None and (before.active or (before.state == "done" and self._has_results(before))):
                return before
            if sum(other.active for other in self.jobs()) >= QUEUE_LIMIT:
                raise QueueFull(f"{QUEUE_LIMIT} jobs are waiting already", "Try again when some are done.")
            self._cancelled.discard(job.id)
            self._journal.add(job, request)
        self._wake.set()
        return job

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
        while not self._stopping.is_set():
            job = self._next()
            if job is None:
                self._wake.wait(timeout=5)
                self._wake.clear()
            else:
                self._run(job)

    def _next(self) -> Job | None:
        """The job that has waited longest."""
        try:
            return next((job for job in self.jobs() if job.state == "queued"), None)
        except StoreError:
            _log.exception("the store cannot be read")
            return None

    def _run(self, job: Job) -> None:
        try:
            job = self._begun(job)
            job = self._computed(job)
            self._journal.save(job.at(state="done", stage="done", left=None, finished=now()))
        except Cancelled:
            if not self._stopping.is_set():
                self._cancelled.discard(job.id)
                self._end(job, "cancelled", "", "")
        except WorkerLost:
            self.cluster.close()
            self._end(job, "queued", "", "")  # goes on with a new one from the stored steps
        except HeadAtlasError as error:
            self._end(job, "failed", str(error), error.hint)
        except Exception as error:
            _log.exception("job %s failed", job.id)
            self._end(job, "failed", *_words(error))

    def _begun(self, job: Job) -> Job:
        """The job as running, unless it was cancelled since it was seen."""
        with self._lock:
            if (self.job(job.id) or job).state != "queued":
                raise Cancelled
            job = job.at(state="running", stage=OPENING, message="", hint="", finished="")
            self._journal.save(job)
        return job

    def _end(self, job: Job, state: State, message: str, hint: str) -> None:
        while not self._stopping.is_set():
            try:
                current = self.job(job.id) or job
                changes = {"state": state, "stage": state, "message": message, "hint": hint}
                self._journal.save(current.at(**changes, left=None, finished=now()))
                return
            except StoreError:  # a full disk: what failed is told as soon as there is room for it
                self._stopping.wait(2)

    def _computed(self, job: Job) -> Job:
        request = self._journal.request(job.id)
        if request is None:
            raise SettingError("the request of this job cannot be read", "Ask for it again.")
        source = Source(request.model, request.revision, str(self._place.models or ""), self._place.device)
        card = self._opened(job, source)
        asked = {method.name: method.asked(request, card) for method in request.chosen}
        job = job.at(fingerprint=card.fingerprint, asked=asked)
        self._journal.save_card(job, card)
        for method in request.chosen:
            job = self._method(job, method, method.plan(card, request), source)
        return job

    def _opened(self, job: Job, source: Source) -> ModelCard:
        stage = self._first_stage(source)
        if stage != job.stage:
            self._journal.save(job.at(stage=stage))
        future = self.cluster.submit(open_card, source, key=f"open-{job.id}-{time.time_ns()}")
        if not self.cluster.has_worker():
            self._journal.save(job.at(stage=f"waiting for a Dask worker that has {RESOURCE}=1"))
        waiting = {future: None}
        card: ModelCard = self.next_result(job, waiting)[1]
        return card

    def _first_stage(self, source: Source) -> str:
        """What opening the model begins with, as far as this machine knows."""
        if self._place.scheduler:
            return OPENING
        try:
            return find_model(source.model, source.revision, cache_folder(), self._place.models).stage
        except HeadAtlasError:  # opening it says why
            return OPENING

    def _method(self, job: Job, method: Method, plan: Plan, source: Source) -> Job:
        """Work off one method's plan; with one worker step after step, with several side by side."""
        names = list(job.asked)
        place = f" ({names.index(method.name) + 1} of {len(names)})" if len(names) > 1 else ""
        progress = WrittenProgress(self._journal, job, plan, self._store, f"{method.title}{place}")
        with _DaskCrew(self, job, source, plan.card.fingerprint, progress) as crew:
            work_off(plan, self._store, crew, progress.told)
        return progress.job.at(remarks=(*job.remarks, *plan.remarks(self._store)))

    def next_result(self, job: Job, waiting: dict[Any, Any]) -> tuple[Any, Any]:
        """What was waited for with the next future that is done, and its result; lets go of all when it fails."""
        from distributed import as_completed

        self.cluster.watch()
        try:
            while True:
                self._check(job)
                try:
                    future = next(iter(as_completed(list(waiting), timeout=0.5)))
                except TimeoutError:
                    continue
                return waiting.pop(future), future.result()
        except BaseException:
            self.cluster.cancel(list(waiting))
            raise

    def _check(self, job: Job) -> None:
        if self._stopping.is_set() or job.id in self._cancelled:
            raise Cancelled
        self.cluster.check()


class _DaskCrew:
    """Dask's workers, doing the steps of one job."""

    at_once = 1  # progress is seen step by step, and other workers can take the next

    def __init__(self, engine: Engine, job: Job, source: Source, fingerprint: str, progress: WrittenProgress) -> None:
        self._engine, self._job, self._progress = engine, job, progress
        self._source, self._fingerprint = source, fingerprint
        self._waiting: dict[Any, Step] = {}

    def __enter__(self) -> "_DaskCrew":
        return self

    def __exit__(self, *error: object) -> None:
        if self._waiting:
            self._engine.cluster.cancel(list(self._waiting))

    def busy(self) -> bool:
        """Some worker is at it, or will be."""
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
        step, computed = self._engine.next_result(self._job, self._waiting)
        for name, content in computed.pieces:
            yield Done(step, name, content, computed.device, computed.worker)


def _words(error: Exception) -> tuple[str, str]:
    """What a person is told of an error that nobody foresaw."""
    if type(error).__name__ == "KilledWorker":
        return (
            f"the worker died {DEATHS} times on the same step",
            "It probably ran out of memory: use a larger machine, or a GPU with more memory.",
        )
    return f"something unexpected happened: {type(error).__name__}: {str(error)[:200]}", "The server's log says more."
