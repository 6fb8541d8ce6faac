"""A job: the progress of a request. It belongs to the model, not to a browser tab."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, TypeAdapter

from analysis.jobs.request import Request
from analysis.method import RequestSummary
from analysis.results.provenance import JsonObject, PlainValues, now

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ACTIVE: tuple[JobStatus, ...] = ("queued", "running")


@dataclass(frozen=True)
class Job:
    """What was asked for, in short, and how far it is. The request itself, which may hold uploads, is kept apart."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)  # of records that are read

    id: str
    model: str
    revision: str = ""
    asked: Mapping[str, RequestSummary] = field(default_factory=dict)  # by method, in the order of their work
    state: JobStatus = "queued"
    stage: str = "waiting"  # what it is at; while it is computing, the title of the method
    part: int = 0  # which of several methods that is, counted from 1; 0 of one alone
    parts: int = 0  # how many methods there are then
    doing: str = ""  # what of the stage is being done, such as "layer 4 of 30"
    done: int = 0
    total: int = 0
    left: float | None = None  # seconds, estimated
    message: str = ""  # of a failure
    hint: str = ""
    fingerprint: str = ""  # of the model, once it is open
    remarks: tuple[str, ...] = ()  # what the person who asked should know
    workers: Mapping[str, int] = field(default_factory=dict)  # steps that each worker has computed
    created: str = field(default_factory=now)
    finished: str = ""

    def __post_init__(self) -> None:
        """Make the shared mappings read-only."""
        object.__setattr__(self, "asked", MappingProxyType(dict(self.asked)))
        object.__setattr__(self, "workers", MappingProxyType(dict(self.workers)))

    @classmethod
    def of(cls, request: Request) -> Self:
        """A new job; refuses settings that contradict each other."""
        return cls(request.id, request.model, request.revision, request.asked())

    @property
    def active(self) -> bool:
        """Waiting or running."""
        return self.state in ACTIVE

    @property
    def methods(self) -> list[str]:
        """The names of the methods."""
        return list(self.asked)

    @property
    def stage_words(self) -> str:
        """Stage, part and what is being done, for people."""
        stage = f"{self.stage} ({self.part} of {self.parts})" if self.part else self.stage
        return ", ".join(filter(None, (stage, self.doing)))

    def at(self, **changes: Any) -> Self:
        """The same job, further on; a stage begins with nothing else said of it."""
        begun = {"part": 0, "parts": 0, "doing": ""} if "stage" in changes else {}
        return replace(self, **{**begun, **changes})

    def counted(self, worker: str, steps: int) -> Self:
        """The same job after a worker did some more steps."""
        return replace(self, workers={**self.workers, worker: self.workers.get(worker, 0) + steps})

    def to_plain(self) -> JsonObject:
        """Plain values for the store."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        asked = {name: asdict(of_method) for name, of_method in self.asked.items()}
        return {**plain, "asked": asked, "workers": dict(self.workers)}

    @staticmethod
    def from_plain(values: PlainValues) -> "Job":
        """The inverse of `to_plain`; raises ValueError if the record is not a job: a store can be edited by hand."""
        return _RECORDS.validate_json(json.dumps(values))  # JSON, because it refuses unpaired surrogates


_RECORDS = TypeAdapter(Job)
