"""The causal map as a result: what is fitted under which name, and what the fitted gates say of each head.

    facilitation F = G⁻      interference N = 1 − G⁺      irrelevance R = G⁺ · (1 − G⁻)

G⁺ are the gates pushed open, G⁻ those pushed shut (`analysis.gates`). F + N + R = 1 + G⁻ · (1 − G⁺). Nothing here loads
torch.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import xarray as xr

from analysis import __version__
from analysis.errors import SettingError
from analysis.heads import ModelCard
from analysis.provenance import Provenance, libraries, now
from analysis.scores import DIMS, Missing, Scores
from analysis.tasks import Task

METHOD = "causal"
CAUSAL_VERSION = "1"  # raise whenever a fit may come out differently
ROLES = ("facilitation", "interference", "irrelevance")
ROLE = 0.5  # a head has a role when its score reaches this
CHANCE = 0.05  # a task that the untouched model gets right less often is flagged: its gates mean little

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class GateSettings:
    """How gates are fitted. The defaults suit a small model on a CPU; see `published`."""

    free_updates: int = 80
    push_updates: int = 120
    batch: int = 16
    free_rate: tuple[float, float] = (1.0, 0.1)  # at the first and at the last update
    push_rate: tuple[float, float] = (0.5, 0.1)
    push: float = 0.1  # λ
    clip: float = 1.0  # of the gradient's norm

    @classmethod
    def published(cls) -> "GateSettings":
        """The paper's."""
        return cls(free_updates=500, push_updates=500, batch=64, free_rate=(0.1, 0.01))

    def __post_init__(self) -> None:
        if not (1 <= self.free_updates <= 10_000 and 1 <= self.push_updates <= 10_000 and 1 <= self.batch <= 1024):
            raise SettingError("updates and batch make no sense", "Choose 1 to 10,000 updates and a batch up to 1,024.")
        if not all(0 < rate <= 10 for rate in (*self.free_rate, *self.push_rate)) or not 0 <= self.push <= 10:
            raise SettingError("a learning rate makes no sense", "Choose numbers above 0 and up to 10.")

    @property
    def total(self) -> int:
        """Updates of one fit; the two pushes run side by side."""
        return self.free_updates + self.push_updates


@dataclass(frozen=True)
class CausalPlan:
    """The gates of a model for some tasks, each fitted from several random beginnings."""

    model: ModelCard
    tasks: tuple[Task, ...]
    seeds: int
    settings: GateSettings

    @property
    def key(self) -> str:
        """The name of the finished result."""
        part = [[task.name, task.hash] for task in self.tasks]
        return f"result/{self.model.fingerprint}/{METHOD}/{self._hash('result', part, self.seeds)}"

    def fit(self, task: Task, seeds: Sequence[int]) -> str:
        """The name of a fit that is under way or done; seeds are fitted together but do not touch each other."""
        return f"unit/{self.model.fingerprint}/{METHOD}/{self._hash('fit', task.hash, list(seeds))}"

    def facts(self, task: Task, name: str) -> str:
        """The name of what else is measured on a task: `untouched`, `preview`, `effect`."""
        part = [self.seeds, asdict(self.settings)] if name == "effect" else []
        return f"unit/{self.model.fingerprint}/{METHOD}/{_digest([CAUSAL_VERSION, name, task.hash, *part])}"

    def _hash(self, *part: Any) -> str:
        return _digest([self.model.fingerprint, METHOD, CAUSAL_VERSION, asdict(self.settings), *part])


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Gates:
    """One seed's fitted gates of one task."""

    open: Floats  # [L, H] G⁺
    shut: Floats  # [L, H] G⁻
    curves: dict[str, list[float]]  # NLL at every update: free, open, shut

    def roles(self) -> Floats:  # [role, L, H]
        """F, N and R of every head."""
        return np.stack([self.shut, 1 - self.open, self.open * (1 - self.shut)])


def causal_scores(
    wanted: CausalPlan, fitted: Mapping[str, Mapping[int, Gates]], facts: Mapping[str, dict[str, Any]], device: str
) -> Scores:
    """Scores of all tasks and of every seed that any task has; `facts` go into the items of the provenance."""
    card = wanted.model
    seeds = sorted({seed for of_task in fitted.values() for seed in of_task}) or [0]
    shape = (len(wanted.tasks), len(ROLES), len(seeds), len(card.layers), card.heads)
    score, missing = np.full(shape, np.nan), np.full(shape, Missing.NOT_COMPUTED, np.int8)
    items = []
    for i, task in enumerate(wanted.tasks):
        gates = fitted.get(task.name, {})
        for seed, found in gates.items():
            score[i, :, seeds.index(seed)] = found.roles()
            missing[i, :, seeds.index(seed)] = Missing.NO
        items.append(_item(task, gates, facts.get(task.name, {})))
    coords = dict(zip(DIMS, ([t.name for t in wanted.tasks], list(ROLES), [seed_name(s) for s in seeds],
                             list(card.layers), list(range(card.heads))), strict=True))  # fmt: skip
    arrays = [xr.DataArray(values, coords, DIMS) for values in (score, np.full(shape, np.nan), missing)]
    return Scores(arrays[0], arrays[1], arrays[2], _provenance(wanted, tuple(items), device))


def seed_name(seed: int) -> str:
    """As it stands in tables."""
    return f"seed {seed}"


def _item(task: Task, gates: Mapping[int, Gates], facts: dict[str, Any]) -> dict[str, Any]:
    """What the provenance says of a task."""
    curves = {name: [found.curves[name] for _, found in sorted(gates.items())] for name in ("free", "open", "shut")}
    settled = {
        "open": [_settled(found.open) for _, found in sorted(gates.items())],
        "shut": [_settled(found.shut) for _, found in sorted(gates.items())],
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


def _provenance(wanted: CausalPlan, items: tuple[dict[str, Any], ...], device: str) -> Provenance:
    settings = {**asdict(wanted.settings), "seeds": wanted.seeds, "role": ROLE, "optimiser": "Adam"}
    return Provenance(
        model=wanted.model,
        method=METHOD,
        version=CAUSAL_VERSION,
        settings=settings,
        items=items,
        device=device,
        libraries=libraries(),
        date=now(),
        atlas=__version__,
    )


def rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing the mean of theirs."""
    ranks = [xr.DataArray(part.ravel(), dims="head").rank("head").values for part in (one, other)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return float(np.corrcoef(ranks)[0, 1])
