"""A job: what somebody asked to be analysed, and how far it is. It belongs to the model, not to a browser's tab."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self

from analysis.errors import SettingError
from analysis.provenance import now
from analysis.relations import Relation, builtin

State = Literal["queued", "running", "done", "failed", "cancelled"]
Method = Literal["function", "salience"]
METHODS: tuple[Method, ...] = ("function", "salience")
ACTIVE: tuple[State, ...] = ("queued", "running")


@dataclass(frozen=True)
class Request:
    """What to analyse. Equal requests are one job."""

    model: str
    revision: str = ""
    methods: tuple[Method, ...] = METHODS
    relations: tuple[Relation, ...] = field(default_factory=lambda: tuple(builtin().values()))

    def __post_init__(self) -> None:
        if not self.methods or not set(self.methods) <= set(METHODS):
            raise SettingError("there is no such method", f"Choose from {', '.join(METHODS)}.")

    @property
    def id(self) -> str:
        """The job's name: the hash of all that is asked."""
        relations = sorted((relation.name, relation.hash) for relation in self.relations)
        content = json.dumps([self.model, self.revision, sorted(self.methods), relations])
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; built-in relations by name, others in full."""
        own = [asdict(relation) for relation in self.relations if builtin().get(relation.name) != relation]
        known = [relation.name for relation in self.relations if builtin().get(relation.name) == relation]
        return {
            "model": self.model,
            "revision": self.revision,
            "methods": list(self.methods),
            "known": known,
            "own": own,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        known = tuple(builtin()[name] for name in fields["known"] if name in builtin())
        own = tuple(Relation(**{**r, "pairs": tuple((s, t) for s, t in r["pairs"])}) for r in fields["own"])
        return cls(fields["model"], fields["revision"], tuple(fields["methods"]), known + own)


@dataclass(frozen=True)
class Job:
    """A request with its progress."""

    request: Request
    state: State = "queued"
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    left: float | None = None  # seconds, estimated
    message: str = ""  # of a failure
    hint: str = ""
    fingerprint: str = ""  # of the model, once it is open
    kept: tuple[int, ...] = ()  # usable pairs of each relation, once the model is open
    workers: dict[str, int] = field(default_factory=dict)  # units that each worker has computed
    created: str = field(default_factory=now)
    finished: str = ""

    @property
    def id(self) -> str:
        """The request's."""
        return self.request.id

    @property
    def active(self) -> bool:
        """Waiting or running."""
        return self.state in ACTIVE

    def at(self, **changes: Any) -> Self:
        """The same job, further on."""
        return replace(self, **changes)

    def summary(self) -> dict[str, Any]:
        """What an open page is told."""
        names = ("id", "state", "stage", "done", "total", "left", "fingerprint", "message")
        return {"model": self.request.model, **{name: getattr(self, name) for name in names}}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the store."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "request"}
        return {**fields, "kept": list(self.kept), "request": self.request.to_dict()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        request = Request.from_dict(fields["request"])
        return cls(**{**fields, "request": request, "kept": tuple(fields["kept"])})
