"""One head in the causal map: its gates, its roles, its ranks."""

from dataclasses import dataclass

import numpy as np

from analysis.methods.causal.result import HEAD_ROLES, Variant
from analysis.models.card import HeadId
from analysis.results.scores import Bools, Floats, Missing, Scores, ranks
from dashboard.cache import cached
from dashboard.maps.causal import evidence
from dashboard.maps.causal.contradictions import contradicting, contradiction_words
from dashboard.maps.causal.gates import fitted_seeds, known_roles, reduced, task_names
from dashboard.maps.causal.panels import NO_ROLE, ROLE_WORDS
from dashboard.maps.causal.ranking import ordering

Cell = tuple[int, int]  # place of the layer, head


@dataclass(frozen=True)
class HeadGates:
    """What one task says of a head."""

    name: str
    title: str
    seeds: list[str]
    variant: Variant  # of a contrast there is one gate for each seed, which closes where F is high
    scores: list[list[float]]  # F, N and R of each seed
    shut: list[float]  # the gate pushed shut of each seed; of a contrast the only one
    open: list[float]  # the gate pushed open
    contradictory: list[str]  # the seeds whose two fits contradict each other
    always: dict[str, float]  # by role
    any: dict[str, float]
    role: str  # in words
    preview: float | None
    preview_share: float | None
    effect: float | None
    effect_rank: int | None
    ranks: dict[str, int]
    missing: str  # why there is no score


def head_gates(causal: Scores, head: HeadId, threshold: float, seed: str = "") -> list[HeadGates]:
    """What every task says of a head: its gates in each seed, scores, preview, effect and ranks."""
    at = causal.provenance.model.layers.index(head.layer)
    return [_of_task(causal, task, (at, head.head), threshold, seed) for task in task_names(causal)]


def _of_task(causal: Scores, task: str, cell: Cell, threshold: float, seed: str) -> HeadGates:
    there = fitted_seeds(causal, task)
    scores = causal.score.sel(item=task, sample=there).isel(layer=cell[0], head=cell[1])
    helps, hurts, idle = (scores.sel(kind=role).values.tolist() for role in HEAD_ROLES)
    variant = evidence.variant(causal, task)
    effect, order = evidence.effect(causal, task), ordering(causal, task, seed)
    preview = evidence.preview(causal, task)
    why = Missing(int(causal.missing.sel(item=task).isel(layer=cell[0], head=cell[1]).max()))
    return HeadGates(
        name=task,
        title=evidence.title(causal, task),
        seeds=there,
        variant=variant,
        scores=[list(of_seed) for of_seed in zip(helps, hurts, idle, strict=True)],
        shut=helps if variant.is_task else idle,
        open=[1 - value for value in hurts] if variant.is_task else [],
        contradictory=_contradictory(causal, task, cell),
        always=_scores_at(reduced(causal, task, "always"), cell),
        any=_scores_at(reduced(causal, task, "any"), cell),
        role=head_role(causal, task, cell, threshold),
        preview=_at(preview.mean, cell),
        preview_share=_at(preview.share, cell),
        effect=_at(effect, cell),
        effect_rank=int(ranks(np.abs(effect))[cell]) if effect is not None else None,
        ranks={
            role: int(ranks(order[HEAD_ROLES.index(role)])[cell]) for role in known_roles(order) if order is not None
        },
        missing=why.words,
    )


def head_role(causal: Scores, task: str, cell: Cell, threshold: float) -> str:
    """A head's role in words: in all seeds, in some, or none; the head is what needs and hurts are said of."""
    about = evidence.variant(causal, task).about or evidence.title(causal, task)
    there = fitted_seeds(causal, task)
    if not there:
        return "not fitted"
    scored = _sampled_roles(causal, task)[:, :, cell[0], cell[1]]  # [role, seed]
    return role_words(scored, threshold, about, contradiction_words(_contradictory(causal, task, cell)))


def role_words(scored: Floats, threshold: float, about: str, odd: str) -> str:  # [role, seed]
    """The role that F, N and R of all seeds make, and which seeds contradict themselves (`roleIn` in the scripts)."""
    with np.errstate(invalid="ignore"):
        helps, hurts, idle = ((scored[i] >= threshold).sum() for i in range(3))
    counts = {f"needed for {about} (F)": helps, f"hurts {about} (N)": hurts}
    if not helps and not hurts:
        counts = {f"does not matter for {about} (R)": idle}
    parts = [f"{words}{_in_seeds(count, scored.shape[1])}" for words, count in counts.items() if count]
    role = ", ".join(parts) or ROLE_WORDS[NO_ROLE]
    return f"{role}; {odd}" if odd else role


def _contradictory(causal: Scores, task: str, cell: Cell) -> list[str]:
    """The seeds whose two fits contradict each other about a head."""
    there = fitted_seeds(causal, task)
    flags = _contradicting(causal, task)[:, cell[0], cell[1]]
    return [seed for seed, flag in zip(there, flags, strict=True) if flag]


@cached(32)
def _contradicting(causal: Scores, task: str) -> Bools:  # [seed, layer, head]
    return contradicting(causal, task, fitted_seeds(causal, task))


def _in_seeds(count: int, seeds: int) -> str:
    return "" if count == seeds else f" in {count} of {seeds} seeds"


@cached(32)
def _sampled_roles(causal: Scores, task: str) -> Floats:  # [role, seed, layer, head]
    scores = causal.score.sel(item=task, sample=fitted_seeds(causal, task), kind=list(HEAD_ROLES))
    return np.asarray(scores.transpose("kind", "sample", "layer", "head").values, dtype=np.float64)


def _scores_at(roles: Floats | None, cell: Cell) -> dict[str, float]:
    return {} if roles is None else {role: float(roles[HEAD_ROLES.index(role)][cell]) for role in known_roles(roles)}


def _at(grid: Floats | None, cell: Cell) -> float | None:
    return None if grid is None or np.isnan(grid[cell]) else float(grid[cell])
