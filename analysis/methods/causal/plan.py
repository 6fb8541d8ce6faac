"""The gates of a model for some tasks as steps: the untouched model, the preview, the fits, the effect of each head.

A fit is a chain of small steps, ten updates each, so that a killed worker loses little; every step's result is kept
under the hash of all that it depends on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from analysis.data.tasks import Contrast, Task
from analysis.errors import StoreError
from analysis.method import digest
from analysis.methods.causal.fits import Fit, FittedGates, GateArray
from analysis.methods.causal.result import (
    HEAD_ROLES,
    NAME,
    STATISTICS,
    TASK,
    VERSION,
    Curves,
    TaskRecord,
    TaskResult,
    Untouched,
    causal_scores,
    rank_correlation,
    settled_share,
)
from analysis.methods.causal.settings import SEEDS, GateSettings
from analysis.models.card import ModelCard
from analysis.models.open_model import OpenModel
from analysis.progress import Progress
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Floats, Scores
from analysis.results.store import Store

MEASURED = "3"  # raise whenever the untouched model or the preview may be measured differently
PREVIEW_PROMPTS, EFFECT_PROMPTS = 64, 32  # of the validation ones: what the preview and the effects are measured on
CHUNK = 10  # updates of a fit that are done at once: what a killed worker loses

What = Literal["untouched", "preview", "fit", "effect", "contrast"]
_WORDS: dict[What, str] = {
    "untouched": "measuring the untouched model",
    "preview": "preview",
    "fit": "fitting",
    "effect": "switching off heads",
    "contrast": "fitting",
}
_BACKWARD = 3  # a pass forward and back takes about three times as long as one forward
_ORDER: tuple[What, ...] = ("untouched", "preview", "fit", "effect")


@dataclass(frozen=True)
class GateStep:
    """A piece of work on one task."""

    what: What
    key: str  # under which its result is kept
    task: Task | Contrast
    settings: GateSettings
    seeds: tuple[int, ...] = ()
    layer: int = 0
    content: bytes = b""  # a fit so far, or the fit whose gates are toggled
    counted: str = ""  # how far it is: which seed, which layer
    work: float = 1  # how often a prompt goes through the model

    @property
    def words(self) -> str:
        """What is being done to which task."""
        return f"{self.task.title}: {_WORDS[self.what]}"

    @property
    def doing(self) -> str:
        """The same, with how far it is."""
        return f"{self.words}{self.counted}"

    @property
    def kind(self) -> str:
        """What is being done, whichever the task."""
        return self.what

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """One piece; the model that runs under gates stays open for the next."""
        from analysis.methods.causal.compute.steps import CausalWorker

        worker = model.keep(NAME, lambda: CausalWorker(model.checkpoint, model.device))
        model.device_name = worker.model.device_name
        yield self.key, worker.do(self)


@dataclass(frozen=True)
class TaskPlan:
    """The gates of a model for some tasks, each fitted from several random initialisations."""

    card: ModelCard
    tasks: tuple[Task, ...]
    seeds: int = SEEDS  # 0: only the preview and the untouched model
    settings: GateSettings = field(default_factory=GateSettings)
    together: int = 1  # seeds that share a batch: faster, but they are done at the same time

    # ---- Names in the store ----------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The name of the finished result."""
        tasks = [[task.name, task.hash] for task in self.tasks]
        return f"result/{self.card.fingerprint}/{NAME}/{self._hash('result', tasks, self.seeds)}"

    def seed_name(self, task: Task, seed: int) -> str:
        """The name of one seed's finished fit; which others shared its batches does not matter to it."""
        return self._name("seed", task.hash, seed)

    def fit_name(self, task: Task, seeds: Sequence[int]) -> str:
        """The name of a fit of some seeds that is under way."""
        return self._name("fit", task.hash, list(seeds))

    def measured_name(self, task: Task, what: What) -> str:
        """The name of what does not depend on the fits: the untouched model and the preview."""
        content = digest([VERSION, MEASURED, what, task.hash])
        return f"unit/{self.card.fingerprint}/{NAME}/{content}"

    def effect_name(self, task: Task, layer: int) -> str:
        """The name of the effects of switching off each head of a layer."""
        return self._name("effect", task.hash, layer)

    def _name(self, *part: Any) -> str:
        return f"unit/{self.card.fingerprint}/{NAME}/{self._hash(*part)}"

    def _hash(self, *part: Any) -> str:
        return digest([VERSION, asdict(self.settings), *part])

    # ---- Steps -----------------------------------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Steps of all tasks."""
        steps = 2  # the untouched model and the preview
        if self.seeds:
            groups = pieces(self.seeds, self.together)
            chunks = pieces(self.settings.free_updates, CHUNK) + pieces(self.settings.push_updates, CHUNK)
            steps += groups * chunks + len(self.card.layers)
        return len(self.tasks) * steps

    def left(self, store: Store) -> int:
        """Steps that are still to be done."""
        left = 0
        for task in self.tasks:
            for what in ("untouched", "preview"):
                left += not store.contains(self.measured_name(task, what))
            if self.seeds:
                for layer in self.card.layers:
                    left += not store.contains(self.effect_name(task, layer))
            for seeds in self._groups(task, store):
                left += self._chunks_left(fit_so_far(store.get(self.fit_name(task, seeds))))
        return left

    def ready(self, store: Store, at_once: int = 1) -> Sequence[GateStep]:
        """The steps that can be done now; none when all are done."""
        steps: list[GateStep] = []
        for task in self.tasks:
            steps += self._measurements(task, store)
            steps += self._fits(task, store)
            steps += self._effects(task, store)
        return sorted(steps, key=lambda step: _ORDER.index(step.what))

    def keep(self, step: GateStep, name: str, content: bytes, store: Store) -> None:
        """Store what a step gave; a finished fit by its seeds."""
        fit = Fit.from_bytes(content) if step.what == "fit" else None
        if fit is None or fit.update < self.settings.total:
            store.put(name, content)
            return
        assert isinstance(step.task, Task)  # noqa: S101  # contrasts have a plan of their own
        for at, seed in enumerate(fit.seeds):
            store.put(self.seed_name(step.task, seed), fit.of_seed(at).to_bytes())
        store.delete(name)

    def _measurements(self, task: Task, store: Store) -> list[GateStep]:
        steps = []
        for what in ("untouched", "preview"):
            name = self.measured_name(task, what)
            if not store.contains(name):
                steps.append(GateStep(what, name, task, self.settings, work=self._work(task, what)))
        return steps

    def _fits(self, task: Task, store: Store) -> list[GateStep]:
        """The next piece of every fit that is not finished."""
        steps = []
        for seeds in self._groups(task, store):
            name = self.fit_name(task, seeds)
            content = store.get(name)
            fit = fit_so_far(content)
            if content is None or fit is None:
                content = b""  # it starts again
            done = fit.update if fit is not None else 0
            counted = f" {self._seeds(seeds)}, update {done} of {self.settings.total}"
            work = self._work(task, "fit") * len(seeds)
            step = GateStep("fit", name, task, self.settings, seeds, content=content, counted=counted, work=work)
            steps.append(step)
        return steps

    def _effects(self, task: Task, store: Store) -> list[GateStep]:
        """Layers whose heads can be switched off in turn, once the first seed is fitted."""
        first = store.get(self.seed_name(task, 0)) if self.seeds else None
        if first is None:
            return []
        steps = []
        for layer in self.card.layers:
            name = self.effect_name(task, layer)
            if not store.contains(name):
                counted = f", layer {self.card.layers.index(layer) + 1} of {len(self.card.layers)}"
                work = self._work(task, "effect")
                step = GateStep(
                    "effect", name, task, self.settings, layer=layer, content=first, counted=counted, work=work
                )
                steps.append(step)
        return steps

    def _work(self, task: Task, what: What) -> float:
        """How often a prompt goes through the model in a step; in a fit for each seed, over both stages alike."""
        match what:
            case "untouched":
                return len(task.validation)
            case "preview":
                return _BACKWARD * PREVIEW_PROMPTS
            case "effect":
                return 2 * self.card.heads * EFFECT_PROMPTS
        free, push = self.settings.free_updates, self.settings.push_updates
        return _BACKWARD * self.settings.batch * CHUNK * (free + 2 * push) / max(free + push, 1)

    def _seeds(self, seeds: Sequence[int]) -> str:
        """Which seeds of how many."""
        if len(seeds) == 1:
            return f"seed {seeds[0] + 1} of {self.seeds}"
        return f"seeds {seeds[0] + 1} to {seeds[-1] + 1} of {self.seeds}"

    def pending(self, store: Store) -> dict[str, float]:
        """The work of every kind of step that is left."""
        work: dict[str, float] = dict.fromkeys(_ORDER, 0.0)
        for task in self.tasks:
            for what in ("untouched", "preview"):
                work[what] += self._work(task, what) * (not store.contains(self.measured_name(task, what)))
            if self.seeds:
                absent = [layer for layer in self.card.layers if not store.contains(self.effect_name(task, layer))]
                work["effect"] += self._work(task, "effect") * len(absent)
            for seeds in self._groups(task, store):
                chunks = self._chunks_left(fit_so_far(store.get(self.fit_name(task, seeds))))
                work["fit"] += self._work(task, "fit") * len(seeds) * chunks
        return work

    def _groups(self, task: Task, store: Store) -> list[tuple[int, ...]]:
        """The seeds that are not fitted yet, those that share a batch together."""
        absent = [seed for seed in range(self.seeds) if not store.contains(self.seed_name(task, seed))]
        groups = []
        for start in range(0, len(absent), self.together):
            groups.append(tuple(absent[start : start + self.together]))
        return groups

    def _chunks_left(self, fit: Fit | None) -> int:
        """Pieces that are left of a fit; the stages do not share one."""
        done = fit.update if fit is not None else 0
        free = max(self.settings.free_updates - done, 0)
        push = min(self.settings.total - done, self.settings.push_updates)
        return pieces(free, CHUNK) + pieces(push, CHUNK)

    # ---- The result ------------------------------------------------------------------------------------------------

    def assembled(self, store: Store, device: str) -> Scores:
        """What the store has so far: finished seeds, and the loss curves of those that are under way."""
        tasks = [self._task_result(task, store) for task in self.tasks]
        return causal_scores(self.card, tasks, {**asdict(self.settings), "seeds": self.seeds}, device)

    def remarks(self, store: Store) -> tuple[str, ...]:
        """Tasks that the model can hardly do."""
        remarks = []
        for task in self.tasks:
            measured = _json(store.get(self.measured_name(task, "untouched"))) or {}
            if measured.get("flagged"):
                remarks.append(f"the model can hardly do {task.title}, so its gates mean little")
        return tuple(remarks)

    def _task_result(self, task: Task, store: Store) -> TaskResult:
        gates = self._gates(task, store)
        measured = _json(store.get(self.measured_name(task, "untouched"))) or {}
        preview = _json(store.get(self.measured_name(task, "preview"))) or {}
        gradient = {name: np.array(preview[name], dtype=np.float64) for name in STATISTICS if name in preview}
        record = TaskRecord(
            untouched=Untouched.model_validate(measured) if measured else None,
            prompts=preview.get("prompts", 0),
            agreement=_agreement(gradient["mean"], list(gates.values())) if gradient and gates else {},
            settled={
                "open": tuple(settled_share(of_seed.open) for of_seed in gates.values()),
                "shut": tuple(settled_share(of_seed.shut) for of_seed in gates.values()),
            },
            curves=curves_of(gates, self._running(task, store)),
        )
        item = ScoredItem(
            name=task.name,
            title=task.title,
            category=TASK.name,
            sentence=task.sentence,
            hash=task.hash,
            pairs=len(task.train),
            kept=measured.get("kept", len(task.train)),
        )
        roles = {seed: of_seed.roles() for seed, of_seed in gates.items()}
        return TaskResult(item, roles, record, self._effect(task, store), gradient)

    def _gates(self, task: Task, store: Store) -> dict[int, FittedGates]:
        """The gates of every finished seed."""
        gates: dict[int, FittedGates] = {}
        for seed in range(self.seeds):
            content = store.get(self.seed_name(task, seed))
            if content is not None:
                gates.update(Fit.from_bytes(content).gates())
        return gates

    def _running(self, task: Task, store: Store) -> list[Fit]:
        """The fits that have begun and are not finished."""
        fits = []
        for seeds in self._groups(task, store):
            fit = fit_so_far(store.get(self.fit_name(task, seeds)))
            if fit is not None:
                fits.append(fit)
        return fits

    def _effect(self, task: Task, store: Store) -> Floats | None:  # [layer, head]
        rows = [_json(store.get(self.effect_name(task, layer))) for layer in self.card.layers]
        return None if any(row is None for row in rows) else np.array(rows, dtype=np.float64)


def pieces(count: int, size: int) -> int:
    """How many pieces of a size a count makes, the last one perhaps smaller."""
    return -(-count // size)


@lru_cache(maxsize=8)  # what is left, what comes next and how far it is are asked after every piece of the same fits
def fit_so_far(content: bytes | None) -> Fit | None:
    """A fit as the store has it, or nothing when it cannot be read: then it starts again."""
    if content is None:
        return None
    try:
        return Fit.from_bytes(content)
    except StoreError:
        return None


def _json(content: bytes | None) -> Any:
    return None if content is None else json.loads(content)


def _agreement(gradient: Floats, gates: Sequence[FittedGates]) -> dict[str, float]:
    """Rank correlations of the preview with the fitted scores' mean over seeds: a first guess against the truth."""
    facilitation, interference, _ = np.mean([of_seed.roles() for of_seed in gates], axis=0)
    correlations = {
        HEAD_ROLES[0]: rank_correlation(-gradient, facilitation),
        HEAD_ROLES[1]: rank_correlation(gradient, interference),
    }
    return {role: round(value, 4) for role, value in correlations.items() if value == value}


def curves_of(gates: Mapping[int, FittedGates], running: Sequence[Fit]) -> Curves:
    """The losses of the finished seeds, then those of the seeds that are under way."""
    seeds: list[int] = []
    curves: dict[str, list[tuple[float, ...]]] = {"free": [], "open": [], "shut": []}
    for seed, of_seed in sorted(gates.items()):
        seeds.append(seed)
        for stage, losses in curves.items():
            losses.append(tuple(of_seed.curves[stage]))
    for fit in running:
        count = len(fit.seeds)
        seeds += fit.seeds
        push = _by_seed(fit.push_nll)
        curves["free"] += _by_seed(fit.free_nll)
        curves["open"] += push[:count]
        curves["shut"] += push[count:]
    return Curves(
        seeds=tuple(seeds), free=tuple(curves["free"]), open=tuple(curves["open"]), shut=tuple(curves["shut"])
    )


def _by_seed(nll: GateArray) -> list[tuple[float, ...]]:  # [update, seed]
    """One curve per seed."""
    rounded = np.round(nll.astype(float), 4)
    return [tuple(curve) for curve in rounded.T.tolist()]
