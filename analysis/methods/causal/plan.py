"""The causal map as a result: what is fitted under which name, and what the fitted gates say of each head.

    facilitation F = G⁻      interference N = 1 − G⁺      irrelevance R = G⁺ · (1 − G⁻)

G⁺ are the gates pushed open, G⁻ those pushed shut. F + N + R = 1 + G⁻ · (1 − G⁺).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
import xarray as xr

from analysis import __version__
from analysis.data.tasks import Contrast, Task
from analysis.errors import SettingError, StoreError
from analysis.methods.causal.fits import Fit, Gates
from analysis.models.card import ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.progress import Progress
from analysis.results.inventory import remember
from analysis.results.provenance import Provenance, libraries, now
from analysis.results.scores import DIMS, Missing, Scores
from analysis.results.store import Store

METHOD = "causal"
CAUSAL_VERSION = "1"  # raise whenever a fit may come out differently, rounding apart
ROLES = ("facilitation", "interference", "irrelevance")
ROLE = 0.5  # a head has a role when its score reaches this
SEEDS, MAX_SEEDS = 5, 100
CONTRAST_SEEDS, CONTRAST_UPDATES = 1, 500
STAGES = ("free", "open", "shut")  # of a fit: gates without a push, then pushed open and pushed shut
MEASURED = "2"  # raise whenever the untouched model or the preview may be measured differently
CHUNK = 10  # updates of a fit that are done at once: what a killed worker loses
FEW_UPDATES = 100  # fits of fewer in all are shown with a warning
CHANCE = 0.05  # a task at which the untouched model is hardly better than one answer to all is flagged

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class GateSettings:
    """How gates are fitted. The defaults suit a small model on a CPU; see `published`."""

    free_updates: int = 120
    push_updates: int = 260
    batch: int = 16
    free_rate: tuple[float, float] = (1.0, 0.1)  # at the first and at the last update
    push_rate: tuple[float, float] = (0.5, 0.1)
    push: float = 0.1  # λ
    clip: float = 1.0  # of the gradient's norm

    @classmethod
    def published(cls) -> "GateSettings":
        """The paper's."""
        return cls(free_updates=500, push_updates=500, batch=64, free_rate=(0.1, 0.01))

    @classmethod
    def chosen(
        cls,
        published: bool = False,
        updates: Sequence[int] | None = None,  # free, push
        rates: Sequence[float] | None = None,  # free: first and last; push: first and last
        **others: Any,  # batch, push, clip
    ) -> "GateSettings":
        """The defaults or the paper's, with what somebody chose otherwise."""
        found = cls.published() if published else cls()
        if updates is not None:
            found = replace(found, free_updates=updates[0], push_updates=updates[1])
        if rates is not None:
            found = replace(found, free_rate=(rates[0], rates[1]), push_rate=(rates[2], rates[3]))
        return replace(found, **{name: value for name, value in others.items() if value is not None})

    def of_contrast(self, usual: bool) -> "GateSettings":
        """The same for contrasted pairs, which have one stage: the paper's 500 updates where none were chosen."""
        return replace(self, free_updates=CONTRAST_UPDATES) if usual else self

    def __post_init__(self) -> None:
        if not (1 <= self.free_updates <= 10_000 and 1 <= self.push_updates <= 10_000 and 1 <= self.batch <= 1024):
            raise SettingError("updates and batch make no sense", "Choose 1 to 10,000 updates and a batch up to 1,024.")
        for rate in (*self.free_rate, *self.push_rate):
            if not 0 < rate <= 10:
                raise SettingError(
                    f"a learning rate of {rate:g} makes no sense", "Choose numbers above 0 and up to 10."
                )
        if not 0 <= self.push <= 10:
            raise SettingError(f"a push of {self.push:g} makes no sense", "Choose a number from 0 to 10.")
        if not 0 < self.clip <= 1000:
            raise SettingError(f"a clip of {self.clip} makes no sense", "Choose a number above 0 and up to 1,000.")

    @property
    def total(self) -> int:
        """Updates of one fit; the two pushes run side by side."""
        return self.free_updates + self.push_updates


@dataclass(frozen=True)
class Step:
    """A piece of work on one task: small, so that little is lost when a worker dies."""

    what: str  # untouched, preview, fit, effect, contrast
    key: str  # under which its result is kept
    task: Task | Contrast
    settings: GateSettings
    seeds: tuple[int, ...] = ()
    layer: int = 0
    content: bytes = b""  # a fit so far, or the fit whose gates are toggled


@dataclass(frozen=True)
class CausalPlan:
    """The gates of a model for some tasks, each fitted from several random beginnings."""

    model: ModelCard
    tasks: tuple[Task, ...]
    seeds: int = SEEDS  # 0: only the preview and the untouched model
    settings: GateSettings = field(default_factory=GateSettings)
    together: int = 1  # seeds that share a batch: faster, but they are done at the same time

    def __post_init__(self) -> None:
        if not self.tasks or len({task.name for task in self.tasks}) < len(self.tasks):
            raise SettingError(
                "tasks must be named, each once", "Choose from math, syntax, commonsense, or give a file."
            )
        if not 0 <= self.seeds <= MAX_SEEDS or self.together < 1:
            raise SettingError(
                f"{self.seeds} seeds make no sense", f"Choose up to {MAX_SEEDS}; 0 for the preview alone."
            )

    @property
    def key(self) -> str:
        """The name of the finished result."""
        tasks = [[task.name, task.hash] for task in self.tasks]
        return f"result/{self.model.fingerprint}/{METHOD}/{self._hash('result', tasks, self.seeds)}"

    @property
    def total(self) -> int:
        """Steps of all tasks."""
        chunks = -(-self.settings.free_updates // CHUNK) + -(-self.settings.push_updates // CHUNK)
        groups = -(-self.seeds // self.together)
        return len(self.tasks) * (2 + (groups * chunks + len(self.model.layers) if self.seeds else 0))

    def left(self, store: Store) -> int:
        """Steps that are still to be done."""
        left = 0
        for task in self.tasks:
            names = [self.facts(task, what) for what in ("untouched", "preview")]
            names += [self.facts(task, "effect", layer) for layer in self.model.layers if self.seeds]
            fits = [step for step in self._ready(task, store) if step.what == "fit"]
            left += sum(store.get(name) is None for name in names) + sum(self._chunks(step) for step in fits)
        return left

    def _chunks(self, step: Step) -> int:
        """Pieces that are left of a fit; the stages do not share one."""
        done = Fit.from_bytes(step.content).update if step.content else 0
        free = max(self.settings.free_updates - done, 0)
        return -(-free // CHUNK) + -(-min(self.settings.total - done, self.settings.push_updates) // CHUNK)

    def seed(self, task: Task, seed: int) -> str:
        """The name of one seed's finished fit; which others shared its batches does not matter to it."""
        return self._unit("seed", task.hash, seed)

    def facts(self, task: Task, what: str, layer: int = 0) -> str:
        """The name of what else is measured on a task."""
        return self._unit(what, task.hash, layer) if what == "effect" else _unit(self.model, MEASURED, what, task.hash)

    def ready(self, store: Store) -> list[Step]:
        """The steps that can be done now; none when all are done."""
        found = [step for task in self.tasks for step in self._ready(task, store)]
        return sorted(found, key=lambda step: ("untouched", "preview", "fit", "effect").index(step.what))

    def keep(self, step: Step, content: bytes, store: Store) -> None:
        """Store what a step gave; a finished fit by its seeds."""
        fit = Fit.from_bytes(content) if step.what == "fit" else None
        if fit is None or fit.update < self.settings.total:
            store.put(step.key, content)
            return
        for at, seed in enumerate(fit.seeds):
            store.put(self._unit("seed", step.task.hash, seed), fit.of_seed(at).to_bytes())
        store.delete(step.key)

    def assembled(self, store: Store, device: str) -> Scores:
        """What the store has so far: finished seeds, and the loss curves of those that are under way."""
        fitted, items = {}, []
        for task in self.tasks:
            contents = (store.get(self.seed(task, seed)) for seed in range(self.seeds))
            fits = [Fit.from_bytes(content) for content in contents if content is not None]
            gates = {seed: found for fit in fits for seed, found in fit.gates()}
            fitted[task.name] = {seed: found.roles() for seed, found in gates.items()}
            items.append(task_item(task, gates, _facts(self, task, store, gates)))
        settings = {**asdict(self.settings), "seeds": self.seeds}
        return causal_result(self.model, fitted, tuple(items), settings, device)

    def finish(self, store: Store, device: str) -> Scores:
        """Put all steps' results together, keep the whole and list the model."""
        scores = self.assembled(store, device)
        store.put(self.key, scores.to_parquet())
        remember(store, self.model)
        return scores

    def _ready(self, task: Task, store: Store) -> Iterator[Step]:
        for what in ("untouched", "preview"):
            if store.get(self.facts(task, what)) is None:
                yield Step(what, self.facts(task, what), task, self.settings)
        absent = [seed for seed in range(self.seeds) if store.get(self.seed(task, seed)) is None]
        for seeds in (tuple(absent[i : i + self.together]) for i in range(0, len(absent), self.together)):
            key = self._unit("fit", task.hash, list(seeds))
            yield Step("fit", key, task, self.settings, seeds, content=readable(store.get(key)))
        if self.seeds and 0 not in absent:
            first = store.get(self.seed(task, 0)) or b""
            for layer in self.model.layers:
                key = self.facts(task, "effect", layer)
                if store.get(key) is None:
                    yield Step("effect", key, task, self.settings, layer=layer, content=first)

    def _unit(self, *part: Any) -> str:
        return f"unit/{self.model.fingerprint}/{METHOD}/{self._hash(*part)}"

    def _hash(self, *part: Any) -> str:
        return _digest([CAUSAL_VERSION, asdict(self.settings), *part])


class Planned(Protocol):
    """What a method that is worked off in steps offers."""

    @property
    def total(self) -> int:
        """How many steps there are in all."""

    def left(self, store: Store) -> int:
        """How many are still to be done."""

    def ready(self, store: Store) -> list[Step]:
        """Those that can be done now."""

    def keep(self, step: Step, content: bytes, store: Store) -> None:
        """Store what a step gave."""

    def assembled(self, store: Store, device: str) -> Scores:
        """The result so far."""

    def finish(self, store: Store, device: str) -> Scores:
        """The result, kept in the store."""


def causal_scores(checkpoint: Checkpoint, wanted: Planned, store: Store, device: str, progress: Progress) -> Scores:
    """Do in this process what the store does not have, step by step."""
    done, worker = wanted.total - wanted.left(store), None
    while steps := wanted.ready(store):
        if worker is None:
            from analysis.methods.causal.compute.steps import CausalWorker

            worker = CausalWorker(checkpoint, device)
        wanted.keep(steps[0], worker.do(steps[0]), store)
        done += 1
        progress(f"{steps[0].task.title}: {steps[0].what}", done, max(wanted.total, done))
    return wanted.finish(store, "stored fits" if worker is None else worker.model.device_name)


def _unit(card: ModelCard, *part: Any) -> str:
    return f"unit/{card.fingerprint}/{METHOD}/{_digest([CAUSAL_VERSION, *part])}"


def fit_name(settings: Mapping[str, Any], tasks: Sequence[tuple[str, str]]) -> str:
    """A short name for fits of some tasks (name and hash) with some settings, as addresses have it."""
    chosen = {name: settings[name] for name in (*GateSettings.__dataclass_fields__, "seeds") if name in settings}
    return _digest(["fit", chosen, sorted(tasks)])[:8]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def readable(content: bytes | None) -> bytes:
    """A fit so far, or nothing when it cannot be read: then it begins anew."""
    if content is None:
        return b""
    try:
        Fit.from_bytes(content)
    except StoreError:
        return b""
    return content


def _facts(wanted: CausalPlan, task: Task, store: Store, gates: dict[int, Gates]) -> dict[str, Any]:
    """What was measured on a task beside its gates; absent where it is not there yet."""
    facts = _json(store.get(wanted.facts(task, "untouched"))) or {}
    preview = _json(store.get(wanted.facts(task, "preview")))
    if preview:
        facts["preview"] = preview
        if gates:
            facts["agreement"] = _agreement(np.array(preview["mean"]), list(gates.values()))
    effect = [_json(store.get(wanted.facts(task, "effect", layer))) for layer in wanted.model.layers]
    if all(effect):
        facts["effect"] = effect
    under_way = [step for step in wanted._ready(task, store) if step.what == "fit" and step.content]
    if under_way:
        facts["under_way"] = [_progress(Fit.from_bytes(step.content)) for step in under_way]
    return facts


def _progress(fit: Fit) -> dict[str, Any]:
    """The loss of each seed of a fit that is not done, update by update."""
    free, push = (np.round(curve.astype(float), 4).T.tolist() for curve in (fit.free_nll, fit.push_nll))
    return {
        "seeds": list(fit.seeds),
        "update": fit.update,
        "free": free,
        "open": push[: len(free)],
        "shut": push[len(free) :],
    }


def _agreement(gradient: Floats, gates: Sequence[Gates]) -> dict[str, float]:
    """Rank correlations of the preview with the fitted scores' mean over seeds: a first guess against the truth."""
    facilitation, interference, _ = np.mean([found.roles() for found in gates], axis=0)
    return {
        "facilitation": round(rank_correlation(-gradient, facilitation), 4),
        "interference": round(rank_correlation(gradient, interference), 4),
    }


def _json(content: bytes | None) -> Any:
    return None if content is None else json.loads(content)


def causal_result(
    card: ModelCard,
    fitted: Mapping[str, Mapping[int, Floats]],  # task → seed → roles [role, L, H]
    items: tuple[dict[str, Any], ...],
    settings: dict[str, Any],
    device: str,
) -> Scores:
    """Scores of all tasks and of every seed that any task has."""
    seeds = sorted({seed for of_task in fitted.values() for seed in of_task}) or [0]
    names = [item["name"] for item in items]
    shape = (len(names), len(ROLES), len(seeds), len(card.layers), card.heads)
    score, missing = np.full(shape, np.nan), np.full(shape, Missing.NOT_COMPUTED, np.int8)
    for task, of_task in fitted.items():
        for seed, roles in of_task.items():
            score[names.index(task), :, seeds.index(seed)] = roles
            unknown = np.where(np.isnan(roles), Missing.NOT_APPLICABLE, Missing.NO)  # contrasts have no N
            missing[names.index(task), :, seeds.index(seed)] = unknown
    labels = (names, list(ROLES), [seed_name(seed) for seed in seeds], list(card.layers), list(range(card.heads)))
    coords = dict(zip(DIMS, labels, strict=True))
    arrays = [xr.DataArray(values, coords, DIMS) for values in (score, np.full(shape, np.nan), missing)]
    plain = json.loads(json.dumps(settings))
    items = tuple({**item, "settings": plain} for item in items)  # in a map of several results each keeps its own
    return Scores(arrays[0], arrays[1], arrays[2], _provenance(card, items, settings, device))


def seed_name(seed: int) -> str:
    """As it stands in tables."""
    return f"seed {seed}"


def task_item(task: Task, gates: Mapping[int, Gates], facts: dict[str, Any]) -> dict[str, Any]:
    """What the provenance says of a task."""
    fitted = sorted(gates.items())
    curves: dict[str, list[Any]] = {name: [found.curves[name] for _, found in fitted] for name in STAGES}
    curves["seeds"] = [seed for seed, _ in fitted]
    for part in facts.get("under_way", ()):
        for name, of_seeds in curves.items():
            of_seeds += part[name]
    settled = {
        "open": [_settled(found.open) for _, found in fitted],
        "shut": [_settled(found.shut) for _, found in fitted],
    }
    return {
        "name": task.name,
        "category": "task",
        "title": task.title,
        "sentence": task.sentence,
        "hash": task.hash,
        "pairs": len(task.train),
        "kept": facts.get("kept", len(task.train)),
        "applicable": True,
        "curves": curves,
        "settled": settled,
        **facts,
    }


def _settled(gates: Floats) -> float:
    """The share of gates that came to rest near 0 or 1."""
    return round(float(((gates < 0.1) | (gates > 0.9)).mean()), 4)


def _provenance(
    card: ModelCard, items: tuple[dict[str, Any], ...], settings: dict[str, Any], device: str
) -> Provenance:
    return Provenance(
        model=card,
        method=METHOD,
        version=CAUSAL_VERSION,
        settings={**settings, "role": ROLE, "optimiser": "Adam"},
        items=items,
        device=device,
        libraries=libraries(),
        date=now(),
        atlas=__version__,
    )


def rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing the mean of theirs."""
    ranks = [pd.Series(part.ravel()).rank().to_numpy() for part in (one, other)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return float(pd.Series(ranks[0]).corr(pd.Series(ranks[1])))
