"""The jobs in the store: requests, which may be large, apart from progress, which changes often."""

import json
import threading
from collections.abc import Iterator
from typing import Literal

from analysis.errors import HeadAtlasError
from analysis.jobs.job import Job
from analysis.jobs.legacy import is_legacy, legacy_job, legacy_request
from analysis.jobs.request import Request, read_record
from analysis.models.card import ModelCard
from analysis.results.inventory import job_keys
from analysis.results.store import Store

KEPT = 100  # jobs that are over and stay listed; their results stay longer
_PARSED = 4_000_000  # bytes of the requests that stay parsed, as they are in the store
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, HeadAtlasError)  # written by another version

JobOrder = Literal["cancel", "again"]  # what somebody wants of a job that is being worked on


class Journal:
    """What was asked for, and how far it is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._jobs: dict[str, tuple[float, Job | None]] = {}  # as they were read, by name, with the time of writing
        self._requests: dict[str, tuple[int, Request]] = {}  # with the bytes of their records

    def upgrade(self) -> None:
        """Write the jobs of an older version as this one does, so that they are not parsed again and again."""
        for name in list(self._store.names("job/")):
            job_id = name.removeprefix("job/")
            if self._store.contains(f"request/{job_id}"):
                continue
            job, request = self.job(job_id), self._read_request(job_id)
            if job is not None and request is not None:
                self.add(job, request)

    def add(self, job: Job, request: Request) -> None:
        """Write down a new job."""
        self._store.put(f"request/{job.id}", request.to_record().encode())
        self.save(job)

    def save(self, job: Job) -> None:
        """Write down how far a job is."""
        self._store.put(f"job/{job.id}", json.dumps(job.to_plain()).encode())

    def save_request(self, job_id: str, request: Request) -> None:
        """Write down once more what a job was asked to do, if it is gone."""
        if not self._store.contains(f"request/{job_id}"):
            self._store.put(f"request/{job_id}", request.to_record().encode())

    def remove(self, job: Job) -> None:
        """Forget a job, but not what it has computed."""
        for key in (*job_keys(self._store, job.id), f"card/{job.fingerprint}/{job.id}"):
            self._store.delete(key)
        self._requests.pop(job.id, None)

    def prune(self) -> None:
        """Forget the oldest jobs that are over; those that failed or were cancelled before those that are done."""
        over = [job for job in self.jobs() if not job.active]
        over.sort(key=lambda job: (job.state == "done", job.finished, job.id))
        for job in over[: max(0, len(over) - KEPT)]:
            self.remove(job)

    def job(self, job_id: str) -> Job | None:
        """A job by its name."""
        content = self._store.get(f"job/{job_id}")
        if content is None:
            return None
        try:
            values = json.loads(content)
            job = legacy_job(job_id, values) if is_legacy(values) else Job.from_plain(values)
        except _UNREADABLE:
            return None
        return job if job.id == job_id else None

    def jobs(self) -> list[Job]:
        """All jobs, the oldest first; only those that were written since the last look are read."""
        with self._lock:
            return sorted(self._all(), key=lambda job: (job.created, job.id))

    def _all(self) -> Iterator[Job]:
        times = self._store.times("job/")
        for name in self._jobs.keys() - times.keys():
            del self._jobs[name]
        for name, written in times.items():
            if name not in self._jobs or self._jobs[name][0] != written:
                self._jobs[name] = (written, self.job(name.removeprefix("job/")))
            job = self._jobs[name][1]
            if job is not None:
                yield job

    def request(self, job_id: str) -> Request | None:
        """What a job was asked to do; it never changes, so it is parsed once."""
        known = self._requests.get(job_id)
        if known is not None:
            return known[1]
        request = self._read_request(job_id)
        if request is not None:
            size = len(request.to_record())
            if size + sum(other for other, _ in list(self._requests.values())) > _PARSED:
                self._requests.clear()
            self._requests[job_id] = size, request
        return request

    def _read_request(self, job_id: str) -> Request | None:
        try:
            content = self._store.get(f"request/{job_id}")
            if content is not None:
                return read_record(content)
            values = json.loads(self._store.get(f"job/{job_id}") or b"{}")
            return legacy_request(values["request"]) if is_legacy(values) else None
        except _UNREADABLE:
            return None

    def order(self, job_id: str) -> JobOrder | None:
        """What was ordered for a job (cancel, again), perhaps through another server on the same store."""
        content = self._store.get(f"order/{job_id}")
        if content == b"cancel":
            return "cancel"
        return "again" if content == b"again" else None

    def give_order(self, job_id: str, order: JobOrder) -> None:
        """Leave an order for whoever works on a job."""
        self._store.put(f"order/{job_id}", order.encode())

    def clear_order(self, job_id: str) -> None:
        """It was followed, or has no meaning any more."""
        self._store.delete(f"order/{job_id}")

    def save_card(self, job: Job, card: ModelCard) -> None:
        """Write down what model a job opened."""
        self._store.put(f"card/{card.fingerprint}/{job.id}", json.dumps(card.to_dict()).encode())

    def card(self, job: Job) -> ModelCard | None:
        """The model that a job opened."""
        content = self._store.get(f"card/{job.fingerprint}/{job.id}")
        try:
            return None if content is None else ModelCard.from_dict(json.loads(content))
        except _UNREADABLE:
            return None
