"""A job: what somebody asked to be analysed, and how far it is. It belongs to the model, not to a browser's tab."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self
from urllib.parse import quote

from analysis.data import tasks
from analysis.data.relations import Relation, builtin
from analysis.data.tasks import Contrast, Item, Task
from analysis.errors import SettingError, TaskError
from analysis.methods.causal.contrast import ContrastPlan, without_pushes
from analysis.methods.causal.plan import SEEDS, CausalPlan, GateSettings, fit_name
from analysis.models.card import ModelCard
from analysis.results.provenance import now

State = Literal["queued", "running", "done", "failed", "cancelled"]
Method = Literal["function", "salience", "causal"]
METHODS: tuple[Method, ...] = ("function", "salience", "causal")
USUAL: tuple[Method, ...] = ("function", "salience")  # the others take minutes to hours
ACTIVE: tuple[State, ...] = ("queued", "running")


@dataclass(frozen=True)
class CausalRequest:
    """What of the causal map is asked for: tasks, or pairs to contrast."""

    tasks: tuple[Task, ...] = field(default_factory=lambda: tuple(tasks.builtin()[name] for name in ("math", "syntax")))
    contrast: Contrast | None = None
    seeds: int = SEEDS
    settings: GateSettings = field(default_factory=GateSettings)
    together: int = 1  # seeds in one batch: faster where memory allows, and no other result

    def plan(self, card: ModelCard) -> CausalPlan | ContrastPlan:
        """For a model; refuses what makes no sense."""
        if self.contrast is not None:
            return ContrastPlan(card, self.contrast, self.seeds, self.settings)
        return CausalPlan(card, self.tasks, self.seeds, self.settings, self.together)

    def checked(self) -> Self:
        """The same, if its tasks can be told apart and there is at least one."""
        names = [task.name for task in self.tasks]
        if self.contrast is None and (not names or len(set(names)) < len(names)):
            raise TaskError("tasks must be named, each once", "Choose some, or rename the file.")
        if self.contrast is not None and self.seeds < 1:
            raise TaskError("pairs to contrast have no preview", "Choose at least one seed.")
        return self

    @property
    def content(self) -> list[Any]:
        """All that its result depends on."""
        asked = sorted([task.name, task.hash] for task in self.tasks) if self.contrast is None else self.contrast.hash
        return [asked, self.seeds, asdict(self.settings)]

    @property
    def fit(self) -> str:
        """How addresses name its result."""
        settings = {**asdict(self.settings), "seeds": self.seeds}
        if self.contrast is not None:
            return fit_name(without_pushes(settings), [(self.contrast.name, self.contrast.hash)])
        return fit_name(settings, [(task.name, task.hash) for task in self.tasks])

    def to_dict(self) -> dict[str, Any]:
        """Plain values; built-in tasks by name, others in full."""
        known = [task.name for task in self.tasks if tasks.builtin().get(task.name) == task]
        own = [asdict(task) for task in self.tasks if tasks.builtin().get(task.name) != task]
        contrast = asdict(self.contrast) if self.contrast else None
        numbers = {"seeds": self.seeds, "together": self.together, "settings": asdict(self.settings)}
        return {"known": known, "own": own, "contrast": contrast, **numbers}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        known = tuple(tasks.builtin()[name] for name in fields["known"])
        own = tuple(Task(**_items(task, "train", "validation")) for task in fields["own"])
        contrast = fields["contrast"] and Contrast(**_items(fields["contrast"], "forget", "retain"))
        rates = {name: tuple(fields["settings"][name]) for name in ("free_rate", "push_rate")}
        settings = GateSettings(**{**fields["settings"], **rates})
        return cls(known + own, contrast, fields["seeds"], settings, fields["together"])


def _items(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**fields, **{name: tuple(Item(**item) for item in fields[name]) for name in names}}


@dataclass(frozen=True)
class Request:
    """What to analyse. Equal requests are one job."""

    model: str
    revision: str = ""
    methods: tuple[Method, ...] = USUAL
    relations: tuple[Relation, ...] = field(default_factory=lambda: tuple(builtin().values()))
    causal: CausalRequest = field(default_factory=CausalRequest)

    def __post_init__(self) -> None:
        if not self.methods or not set(self.methods) <= set(METHODS):
            raise SettingError("there is no such method", f"Choose from {', '.join(METHODS)}.")

    @property
    def id(self) -> str:
        """The job's name: the hash of all that is asked."""
        relations = sorted((relation.name, relation.hash) for relation in self.relations)
        causal = [self.causal.content] if "causal" in self.methods else []
        content = json.dumps([self.model, self.revision, sorted(self.methods), relations, *causal])
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
            **({"causal": self.causal.to_dict()} if "causal" in self.methods else {}),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        causal = CausalRequest.from_dict(fields["causal"]) if "causal" in fields else CausalRequest()
        known = tuple(builtin()[name] for name in fields["known"] if name in builtin())
        own = tuple(Relation(**{**r, "pairs": tuple((s, t) for s, t in r["pairs"])}) for r in fields["own"])
        return cls(fields["model"], fields["revision"], tuple(fields["methods"]), known + own, causal)


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

    @property
    def link(self) -> str:
        """The address of its map on the page, once the model is open."""
        if not self.fingerprint:
            return ""
        model = f"/?model={self.request.model}@{self.fingerprint[:8]}"
        return model if {"function", "salience"} & set(self.request.methods) else model + self._causal_part()

    def _causal_part(self) -> str:
        """Of the address: the tasks that were asked for, from this very fit."""
        causal = self.request.causal
        names = [causal.contrast.name] if causal.contrast else [task.name for task in causal.tasks]
        shown = f"&tasks={quote(','.join(names), safe=',')}" if names[:2] != ["math", "syntax"] else ""
        return f"&view=causal{shown}{'' if causal.seeds else '&gates=preview'}&fit={causal.fit}"

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
