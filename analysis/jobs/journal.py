"""The jobs in the store: requests, which may be large, apart from progress, which changes often."""

import json
from collections.abc import Iterator

from analysis.errors import HeadAtlasError
from analysis.jobs.job import Job
from analysis.jobs.older import is_older, older_job, older_request
from analysis.jobs.request import Request, read_record
from analysis.models.card import ModelCard
from analysis.results.store import Store

_PARSED = 8  # requests that stay parsed
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, HeadAtlasError)  # written by another version


class Journal:
    """What was asked for, and how far it is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._requests: dict[str, Request] = {}

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

    def job(self, job_id: str) -> Job | None:
        """A job by its name."""
        content = self._store.get(f"job/{job_id}")
        if content is None:
            return None
        try:
            values = json.loads(content)
            return older_job(job_id, values) if is_older(values) else Job.from_plain(values)
        except _UNREADABLE:
            return None

    def jobs(self) -> list[Job]:
        """All jobs, the oldest first."""
        return sorted(self._jobs(), key=lambda job: (job.created, job.id))

    def _jobs(self) -> Iterator[Job]:
        for name in self._store.names("job/"):
            job = self.job(name.removeprefix("job/"))
            if job is not None:
                yield job

    def request(self, job_id: str) -> Request | None:
        """What a job was asked to do; it never changes, so it is parsed once."""
        request = self._requests.get(job_id)
        if request is None:
            request = self._read_request(job_id)
            if request is not None:
                if len(self._requests) >= _PARSED:
                    self._requests.clear()
                self._requests[job_id] = request
        return request

    def _read_request(self, job_id: str) -> Request | None:
        try:
            content = self._store.get(f"request/{job_id}")
            if content is not None:
                return read_record(content)
            values = json.loads(self._store.get(f"job/{job_id}") or b"{}")
            return older_request(values["request"]) if is_older(values) else None
        except _UNREADABLE:
            return None

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
