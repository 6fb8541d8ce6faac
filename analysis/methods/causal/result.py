"""The causal map as a result: what the fitted gates say of each head, and what else was measured on a task.

    facilitation F = G⁻      interference N = 1 − G⁺      irrelevance R = G⁺ · (1 − G⁻)

G⁺ are the gates pushed open, G⁻ those pushed shut. F + N + R = 1 + G⁻ · (1 − G⁺).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from pydantic import Field

from analysis.models.card import ModelCard
from analysis.results.provenance import PlainValues, Provenance, ScoredItem
from analysis.results.record import Record
from analysis.results.scores import DIMS, OLDER, ONLY_SAMPLE, Floats, Missing, Scores, part_array

NAME = "causal"
VERSION = "1"  # raise whenever a fit may come out differently, rounding apart
HEAD_ROLES = ("facilitation", "interference", "irrelevance")
ROLE_THRESHOLD = 0.5  # a head has a role when its score reaches this
STAGES = ("free", "open", "shut")  # of a fit: gates without a push, then pushed open and pushed shut
FEW_UPDATES = 100  # fits of fewer in all are shown with a warning
EFFECT, GRADIENT = "effect", "gradient"  # parts of the result
STATISTICS = ("mean", "least", "most", "share")  # of the gradient over the prompts


@dataclass(frozen=True)
class Variant:
    """What gates can be fitted to. The variant of a task is the category of its item."""

    name: str
    roles: tuple[str, ...]  # that a fit can tell
    loss: str  # what the loss curves show
    command: tuple[str, ...]  # of the command line: what stands before and behind the model
    is_task: bool = True  # the untouched model is measured on it, and every gate is pushed both ways
    about: str = ""  # what a head helps or hurts, where it is not the task itself


TASK = Variant("task", HEAD_ROLES, "NLL of the target", ("gates", "--tasks"))
CONTRAST = Variant(
    name="contrast",
    roles=(HEAD_ROLES[0], HEAD_ROLES[2]),
    loss="log P(forget) − log P(retain)",
    command=("contrast",),
    is_task=False,
    about="what is to be forgotten",
)
VARIANTS = {variant.name: variant for variant in (TASK, CONTRAST)}


def variant_of(item: ScoredItem) -> Variant:
    """The variant that an item of a causal map was fitted in."""
    return VARIANTS.get(item.category, TASK)


class KindAccuracy(Record):
    """How well the untouched model does one kind of a task's prompts."""

    kind: str
    items: int = 0
    accuracy: float
    nll: float


class AnsweredPrompt(Record):
    """A prompt and what the model says to it."""

    prompt: str
    answer: str


class Untouched(Record):
    """How well the model does a task with every gate open."""

    accuracy: float
    nll: float | None = None  # mean over the target tokens
    items: int = 0  # validation prompts
    kinds: tuple[KindAccuracy, ...] = ()
    flagged: bool = False  # hardly better than one answer to all: its gates mean little
    example: AnsweredPrompt | None = None  # the first validation prompt that it answers right


class Curves(Record):
    """The loss at every update, for each seed and stage."""

    seeds: tuple[int, ...] = ()
    free: tuple[tuple[float, ...], ...] = ()
    open: tuple[tuple[float, ...], ...] = ()
    shut: tuple[tuple[float, ...], ...] = ()

    def of(self, stage: str) -> tuple[tuple[float, ...], ...]:
        """One stage's curves, in the order of the seeds."""
        curves: tuple[tuple[float, ...], ...] = getattr(self, stage)
        return curves

    def only(self, seeds: Sequence[int]) -> "Curves":
        """The curves of some seeds."""
        at = [index for index, seed in enumerate(self.seeds) if seed in seeds]
        stages = {}
        for stage in STAGES:
            curves = self.of(stage)
            stages[stage] = tuple(curves[i] for i in at if i < len(curves))
        return Curves(seeds=tuple(self.seeds[i] for i in at), **stages)


class TaskRecord(Record):
    """What was measured on a task beside its gates."""

    untouched: Untouched | None = None
    prompts: int = 0  # of the gradient preview
    agreement: dict[str, float] = Field(default_factory=dict)  # by role: the rank correlation of preview and fit
    # share of gates near 0 or 1: G⁺ ("open") and G⁻ ("shut") of each seed
    settled: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    curves: Curves = Curves()


def record_of(scores: Scores, task: str) -> TaskRecord:
    """What was measured on a task; empty where nothing was."""
    return TaskRecord.model_validate(scores.records.get(task, {}))


@dataclass(frozen=True)
class TaskResult:
    """All that is known of one task: what its part of a causal map is made of."""

    item: ScoredItem
    roles: Mapping[int, Floats]  # by seed: F, N and R as [role, layer, head]; NaN for a role that was not measured
    record: TaskRecord = field(default_factory=TaskRecord)
    effect: Floats | None = None  # [layer, head]: change of the target's log-probability when the head is switched off
    gradient: Mapping[str, Floats] = field(default_factory=dict)  # by statistic over the prompts: [layer, head]


def causal_scores(card: ModelCard, tasks: Sequence[TaskResult], settings: PlainValues, device: str) -> Scores:
    """Scores of all tasks and of every seed that any task has."""
    plain: PlainValues = json.loads(json.dumps(dict(settings)))
    items = tuple(
        replace(task.item, settings=plain) for task in tasks
    )  # each keeps its own in a map of several results
    whole = {**plain, "role": ROLE_THRESHOLD, "optimiser": "Adam"}
    provenance = Provenance.now(card, NAME, VERSION, whole, items, device)
    score, missing = _arrays(card, tasks, provenance)
    return Scores(
        score=score,
        hits=xr.full_like(score, np.nan),
        missing=missing,
        provenance=provenance,
        parts=_parts(card, tasks, provenance),
        records={task.item.name: task.record.model_dump(mode="json") for task in tasks},
    )


def _arrays(card: ModelCard, tasks: Sequence[TaskResult], provenance: Provenance) -> tuple[xr.DataArray, xr.DataArray]:
    """The scores and why there are none, [task, role, seed, layer, head]."""
    seeds = sorted({seed for task in tasks for seed in task.roles}) or [0]
    shape = (len(tasks), len(HEAD_ROLES), len(seeds), len(card.layers), card.heads)
    score, missing = np.full(shape, np.nan), np.full(shape, Missing.NOT_COMPUTED, np.int8)
    for at, task in enumerate(tasks):
        for seed, roles in task.roles.items():
            score[at, :, seeds.index(seed)] = roles
            unmeasured = np.where(np.isnan(roles), Missing.NOT_APPLICABLE, Missing.PRESENT)
            missing[at, :, seeds.index(seed)] = unmeasured
    names = [item.name for item in provenance.items]
    labels = (names, list(HEAD_ROLES), [seed_name(seed) for seed in seeds], list(card.layers), list(range(card.heads)))
    coords = dict(zip(DIMS, labels, strict=True))
    return xr.DataArray(score, coords, DIMS), xr.DataArray(missing, coords, DIMS)


def _parts(card: ModelCard, tasks: Sequence[TaskResult], provenance: Provenance) -> dict[str, xr.DataArray]:
    """What else has one value per head: the effect of switching it off, and the gate's gradient."""
    grid = (len(card.layers), card.heads)
    effect = np.full((len(tasks), 1, *grid), np.nan)
    gradient = np.full((len(tasks), len(STATISTICS), *grid), np.nan)
    for at, task in enumerate(tasks):
        if task.effect is not None:
            effect[at, 0] = task.effect
        for statistic, values in task.gradient.items():
            gradient[at, STATISTICS.index(statistic)] = values
    return {
        EFFECT: part_array(provenance, (ONLY_SAMPLE,), effect),
        GRADIENT: part_array(provenance, STATISTICS, gradient),
    }


def seed_name(seed: int) -> str:
    """As it stands in tables."""
    return f"seed {seed}"


def settled_share(gates: Floats) -> float:
    """The share of gates that came to rest near 0 or 1."""
    return round(float(((gates < 0.1) | (gates > 0.9)).mean()), 4)


def rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing the mean of theirs."""
    ranks = [pd.Series(part.ravel()).rank().to_numpy() for part in (one, other)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return float(pd.Series(ranks[0]).corr(pd.Series(ranks[1])))


# ---- Files of the first version, which kept all this as JSON inside the items of the provenance ----------------------


def upgraded(scores: Scores) -> Scores:
    """A result as this version writes it."""
    older = {values["name"]: values for values in scores.records.get(OLDER, ())}
    if not older:
        return scores
    grid = (scores.score.sizes["layer"], scores.score.sizes["head"])
    tasks = []
    for item in scores.provenance.items:
        values = older[item.name]
        gradient = {}
        for statistic in STATISTICS:
            of_statistic = _grid((values.get("preview") or {}).get(statistic), grid)
            if of_statistic is not None:
                gradient[statistic] = of_statistic
        tasks.append(TaskResult(item, {}, _older_record(values), _grid(values.get("effect"), grid), gradient))
    return replace(
        scores,
        parts=_parts(scores.provenance.model, tasks, scores.provenance),
        records={task.item.name: task.record.model_dump(mode="json") for task in tasks},
    )


def _older_record(values: Mapping[str, Any]) -> TaskRecord:
    untouched = Untouched.model_validate(values) if values.get("accuracy") is not None else None
    agreement = {role: value for role, value in (values.get("agreement") or {}).items() if value == value}
    return TaskRecord(
        untouched=untouched,
        prompts=(values.get("preview") or {}).get("prompts", 0),
        agreement=agreement,
        settled=values.get("settled") or {},
        curves=Curves.model_validate(values.get("curves") or {}),
    )


def _grid(values: Any, shape: tuple[int, int]) -> Floats | None:
    """Nested lists as an array; what has another shape is passed over."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.shape == shape else None
