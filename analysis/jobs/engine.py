"""Where work runs: jobs, one after the other, cut into units that Dask's workers compute and the store keeps.

A unit's name is the hash of everything that its result depends on. What is in the store is not computed again, so a job
that was stopped, by a person, a crash or a power cut, goes on where it was; what two jobs share is computed once.
"""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import DeviceError, HeadAtlasError, QueueFull, SettingError, StoreError
from analysis.jobs.job import Job, Request
from analysis.jobs.worker import MODEST, Kept, Source, causal_step, count_layer, prepare, salient_layers
from analysis.methods.causal.plan import Step
from analysis.methods.function.plan import FunctionPlan, Settings, assembled, finish, salience_key
from analysis.models.card import ModelCard
from analysis.models.vocabulary import MIN_PAIRS
from analysis.results.inventory import remember
from analysis.results.provenance import now
from analysis.results.scores import Scores
from analysis.results.store import Store

QUEUE_LIMIT = 20  # jobs that may wait
SALIENT_LAYERS = 8  # layers a unit: each unit goes over the whole vocabulary once
RESOURCE = "GPU"  # what a Dask worker must have one of; the local worker has it on any device
DEATHS = 10  # times that a unit's worker, or the local worker as it starts, may die before the job fails
ALONE = 60.0  # seconds after which a local worker that is gone is taken not to come back
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where the units run."""

    scheduler: str = ""  # address of an existing Dask scheduler; empty: a local worker process
    device: str = "auto"
    models: Path | None = None  # folders that may be analysed by name


class Cancelled(Exception):
    """The job shall stop."""


class WorkerLost(Exception):
    """The local worker died while Dask started it again, which Dask does not try twice."""


class Engine:
    """Takes requests, works them off in a thread of its own, tells how far they are."""

    def __init__(self, store: Store, place: Place | None = None) -> None:
        self._store, self._place = store, place or Place()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._cancelled: set[str] = set()
        self._client: Any = None
        self._cluster: Any = None
        self._thread: threading.Thread | None = None
        self._last_seen = 0.0  # when the local worker was there

    # ---- What others call ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Go on with what was waiting or running when the last process ended."""
        for job in self.jobs():
            if job.state == "running":
                self._save(job.at(state="queued", stage="waiting"))
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and the local worker; jobs stay as they are and go on at the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=60)
        self._close_cluster()

    def submit(self, request: Request) -> Job:
        """A new job, or the one there is: asking twice changes nothing, asking for a failed one tries again."""
        with self._lock:
            job = self.job(request.id)
            if job is not None and (job.active or (job.state == "done" and self._has_result(job))):
                return job
            if sum(other.active for other in self.jobs()) >= QUEUE_LIMIT:
                raise QueueFull(f"{QUEUE_LIMIT} jobs are waiting already", "Try again when some are done.")
            job = Job(request)
            self._cancelled.discard(job.id)
            self._save(job)
        self._wake.set()
        return job

    def cancel(self, job_id: str) -> Job:
        """Stop a job; a running one stops within one unit. What it has computed is kept."""
        with self._lock:
            job = self.job(job_id)
            if job is None:
                raise SettingError(f"there is no job {job_id[:40]!r}", "See the list of jobs.")
            if job.state == "queued":
                job = job.at(state="cancelled", stage="cancelled", finished=now())
                self._save(job)
            elif job.state == "running":
                self._cancelled.add(job_id)
        self._wake.set()
        return job

    def job(self, job_id: str) -> Job | None:
        """A job by its name."""
        content = self._store.get(f"job/{job_id}")
        try:
            return None if content is None else Job.from_dict(json.loads(content))
        except (ValueError, KeyError, TypeError, SettingError):  # written by another version
            return None

    def jobs(self) -> list[Job]:
        """All jobs, the oldest first."""
        found = (self.job(name.removeprefix("job/")) for name in self._store.names("job/"))
        return sorted((job for job in found if job is not None), key=lambda job: (job.created, job.id))

    def partial(self, job: Job) -> Scores | None:
        """What a running job has so far, as scores whose other layers are not computed."""
        card = self._card(job)
        if card is None or "function" not in job.request.methods:
            return None
        return assembled(_plan(card, job.request), job.kept, self._store, "")

    def partial_causal(self, job: Job) -> Scores | None:
        """The seeds that a running job has fitted so far, and the loss curves of the others."""
        card = self._card(job)
        if card is None or "causal" not in job.request.methods:
            return None
        return job.request.causal.plan(card).assembled(self._store, "")

    # ---- The thread ------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                job = next((job for job in self.jobs() if job.state == "queued"), None)
            except StoreError:
                _log.exception("the store cannot be read")
                job = None
            if job is None:
                self._wake.wait(timeout=5)
                self._wake.clear()
            else:
                self._run(job)

    def _run(self, job: Job) -> None:
        try:
            job = self._begun(job)
            job = self._computed(job)
            self._save(job.at(state="done", stage="done", left=None, finished=now()))
        except Cancelled:
            if not self._stopping.is_set():
                self._cancelled.discard(job.id)
                self._end(job, "cancelled", "", "")
        except WorkerLost:
            self._close_cluster()
            self._end(job, "queued", "", "")  # goes on with a new one from the stored units
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
            job = job.at(state="running", stage="opening the model", message="", hint="", finished="")
            self._save(job)
        return job

    def _end(self, job: Job, state: Any, message: str, hint: str) -> None:
        while not self._stopping.is_set():
            try:
                current = self.job(job.id) or job
                self._save(current.at(state=state, stage=state, message=message, hint=hint, left=None, finished=now()))
                return
            except StoreError:  # a full disk: what failed is told as soon as there is room for it
                self._stopping.wait(2)

    def _computed(self, job: Job) -> Job:
        source = Source(job.request.model, job.request.revision, str(self._place.models or ""), self._place.device)
        card, kept = self._opened(job, source)
        job = job.at(fingerprint=card.fingerprint, kept=tuple(len(pairs) for pairs in kept))
        self._store.put(f"card/{card.fingerprint}/{job.id}", json.dumps(card.to_dict()).encode())
        if "function" in job.request.methods:
            job = self._function(job, source, card, kept)
        if "salience" in job.request.methods:
            job = self._salience(job, source, card)
        if "causal" in job.request.methods:
            job = self._causal(job, source, card)
        return job

    def _opened(self, job: Job, source: Source) -> tuple[ModelCard, Kept]:
        future = self._submit(prepare, source, job.request.relations, key=f"open-{job.id}-{time.time_ns()}")
        if not any(RESOURCE in worker["resources"] for worker in self._client.scheduler_info()["workers"].values()):
            self._save(job.at(stage=f"waiting for a Dask worker that has {RESOURCE}=1"))
        ((_, (card, kept)),) = self._finished(job, {future: ""})
        return ModelCard.from_dict(card), kept

    def _function(self, job: Job, source: Source, card: ModelCard, kept: Kept) -> Job:
        plan = _plan(card, job.request)
        absent = [layer for layer in plan.layers if self._store.get(plan.unit(layer)) is None]
        job = job.at(stage="function map", done=len(plan.layers) - len(absent), total=len(plan.layers))
        self._save(job)
        device = "stored layers"
        if any(len(pairs) >= MIN_PAIRS for pairs in kept):
            ks = [plan.settings.k(relation) for relation in plan.relations]
            same = (source, card.fingerprint, kept, ks, plan.settings.first_mlp)
            waiting = {self._submit(count_layer, *same, layer, key=plan.unit(layer)): layer for layer in absent}
            for further, layer, (hits, used, worker) in self._told(job, waiting):
                self._store.put(plan.unit(layer), hits)
                job, device = further, used
                job.workers[worker] = job.workers.get(worker, 0) + 1
        finish(plan, job.kept, self._store, device)
        return job

    def _salience(self, job: Job, source: Source, card: ModelCard) -> Job:
        names = {layer: salience_key(card.fingerprint, layer, True) for layer in card.layers}
        absent = [layer for layer in card.layers if self._store.get(names[layer]) is None]
        groups = [tuple(absent[i : i + SALIENT_LAYERS]) for i in range(0, len(absent), SALIENT_LAYERS)]
        job = job.at(stage="salient tokens", done=0, total=len(groups), left=None)
        self._save(job)
        waiting = {
            self._submit(salient_layers, source, card.fingerprint, group, key=f"{names[group[0]]}-{len(group)}"): group
            for group in groups
        }
        for further, _, found in self._told(job, waiting):
            for layer, content in found.items():
                self._store.put(names[layer], content)
            job = further
        remember(self._store, card)
        return job

    def _causal(self, job: Job, source: Source, card: ModelCard) -> Job:
        """Steps as they become possible; with one worker seed after seed, with several side by side."""
        plan = job.request.causal.plan(card)
        left = plan.left(self._store)
        job = job.at(stage="causal map", done=plan.total - left, total=plan.total, left=None)
        self._save(job)
        device = "stored fits"
        waiting: dict[Any, Step] = {}

        def start() -> None:
            for place, step in enumerate(plan.ready(self._store)):
                if step.key not in {other.key for other in waiting.values()}:
                    key = f"{step.key}-{hashlib.sha256(step.content).hexdigest()[:16]}"
                    arguments = (source, card.fingerprint, step)
                    waiting[self._submit(causal_step, *arguments, key=key, priority=-place)] = step

        start()
        for further, step, (content, used, worker) in self._told(job, waiting):
            plan.keep(step, content, self._store)
            job, device = further.at(stage=f"causal map, {step.task.title}: {step.what}"), used
            job.workers[worker] = job.workers.get(worker, 0) + 1
            start()
        plan.finish(self._store, device)
        return job

    def _told(self, job: Job, waiting: dict[Any, Any]) -> Iterator[tuple[Job, Any, Any]]:
        """Results as they arrive; the caller may add to what is waited for. Progress is saved after its work."""
        start, before = time.monotonic(), job.done
        for part, result in self._finished(job, waiting):
            done = job.done + 1
            left = (time.monotonic() - start) / (done - before) * (job.total - done)
            job = job.at(done=done, left=round(left, 1))
            yield job, part, result
            self._save(job)

    def _finished(self, job: Job, waiting: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """The results of futures as they come; all others are let go when one fails or the job is cancelled."""
        from distributed import as_completed

        left, self._last_seen = waiting, time.monotonic()
        try:
            while left:
                self._check(job)
                try:
                    done = next(iter(as_completed(list(left), timeout=0.5)))
                except TimeoutError:
                    continue
                yield left.pop(done), done.result()
        finally:
            if left:
                self._client.cancel(list(left), force=True)

    def _check(self, job: Job) -> None:
        if self._stopping.is_set() or job.id in self._cancelled:
            raise Cancelled
        if self._cluster is None or self._cluster.scheduler.workers:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > ALONE:
            raise WorkerLost

    # ---- Dask ------------------------------------------------------------------------------------------------------

    def _submit(self, work: Callable[..., Any], *arguments: Any, key: str, priority: int = 0) -> Any:
        return self._connected().submit(
            work, *arguments, key=key, pure=True, resources={RESOURCE: 1}, retries=0, priority=priority
        )

    def _connected(self) -> Any:
        if self._client is None or self._client.status != "running":
            self._close_cluster()
            self._client = self._connect()
        return self._client

    def _connect(self) -> Any:
        import dask
        from distributed import Client

        dask.config.set({"distributed.scheduler.allowed-failures": DEATHS, "distributed.admin.tick.limit": "60s"})
        if self._place.scheduler:
            return self._joined(Client)
        self._cluster = self._local_cluster()
        return Client(self._cluster)

    def _local_cluster(self, deaths: int = 0) -> Any:
        """A scheduler in this process and a worker process; one that dies while it starts is started again."""
        from distributed import LocalCluster

        try:
            return LocalCluster(
                n_workers=1, threads_per_worker=1, processes=True, memory_limit=0, resources={RESOURCE: 1},
                host="127.0.0.1", dashboard_address="127.0.0.1:0",  # loopback only
                scheduler_kwargs={"dashboard": False}, env={MODEST: "1"}, silence_logs=logging.ERROR,
            )  # fmt: skip
        except RuntimeError as error:
            if deaths < DEATHS and not self._stopping.is_set():
                return self._local_cluster(deaths + 1)
            raise DeviceError("the worker process does not start", "The server's log says more.") from error

    def _joined(self, client: Any) -> Any:
        try:
            return client(self._place.scheduler, timeout="20s", name="head-atlas")
        except (OSError, ValueError) as error:
            raise DeviceError(
                f"the Dask scheduler {self._place.scheduler} does not answer", "Start it, then try again."
            ) from error

    def _close_cluster(self) -> None:
        for part in (self._client, self._cluster):
            if part is not None:
                try:
                    part.close(timeout=10)
                except Exception:  # it may be gone already
                    _log.debug("closing Dask", exc_info=True)
        self._client = self._cluster = None

    # ---- The store -------------------------------------------------------------------------------------------------

    def _save(self, job: Job) -> None:
        self._store.put(f"job/{job.id}", json.dumps(job.to_dict()).encode())

    def _card(self, job: Job) -> ModelCard | None:
        content = self._store.get(f"card/{job.fingerprint}/{job.id}")
        try:
            return None if content is None else ModelCard.from_dict(json.loads(content))
        except (ValueError, KeyError, TypeError):  # written by another version
            return None

    def _has_result(self, job: Job) -> bool:
        card, names = self._card(job), []
        if card is None:
            return False
        if "function" in job.request.methods:
            names.append(_plan(card, job.request).key)
        if "salience" in job.request.methods:
            names += [salience_key(card.fingerprint, layer, True) for layer in card.layers]
        if "causal" in job.request.methods:
            names.append(job.request.causal.plan(card).key)
        return all(self._store.get(name) is not None for name in names)


def _plan(card: ModelCard, request: Request) -> FunctionPlan:
    return FunctionPlan(card, request.relations, Settings.default(card.vocabulary), card.layers)


def _words(error: Exception) -> tuple[str, str]:
    """What a person is told of an error that nobody foresaw."""
    if type(error).__name__ == "KilledWorker":
        return (
            f"the worker died {DEATHS} times on the same piece",
            "It probably ran out of memory: use a larger machine, or a GPU with more memory.",
        )
    return f"something unexpected happened: {type(error).__name__}: {str(error)[:200]}", "The server's log says more."
