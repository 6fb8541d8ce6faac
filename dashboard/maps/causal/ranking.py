"""Heads in the order of a score, and what happens when each is switched off: does the causal map hold?"""

from dataclasses import dataclass

import numpy as np

from analysis.methods.causal.result import HEAD_ROLES, seed_name
from analysis.results.scores import Floats, Scores
from dashboard.cache import cached
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import fitted_seeds, reduced


@dataclass(frozen=True, eq=False)
class EffectOrder:
    """Heads in the order of a score, with what happens when each is switched off."""

    role: str
    running: Floats  # [head], the running mean of the effect


@cached(32)
def mean_roles(causal: Scores, task: str) -> Floats | None:  # [role, layer, head]
    """F, N and R, each the mean over the seeds: what heads are put in order by."""
    there = fitted_seeds(causal, task)
    if not there:
        return None
    mean = causal.score.sel(item=task, sample=there, kind=list(HEAD_ROLES)).mean("sample")
    return np.asarray(mean.transpose("kind", "layer", "head").values, dtype=np.float64)


def ordering(causal: Scores, task: str, seed: str) -> Floats | None:  # [role, layer, head]
    """What heads are put in order by: one seed's scores, or their mean over all seeds."""
    return reduced(causal, task, seed_name(int(seed))) if seed else mean_roles(causal, task)


def window(heads: int) -> int:
    """Heads over which the effect is averaged."""
    return max(1, min(heads, max(5, round(heads / 20))))


@cached(32)
def validation(causal: Scores, task: str, seed: str = "") -> tuple[EffectOrder, ...]:
    """The running mean of the effect over the heads in the order of F, of R and of N; empty when not measured.

    The order is that of one seed's scores, or of their mean over all seeds.
    """
    effect, roles = evidence.effect(causal, task), ordering(causal, task, seed)
    if effect is None or roles is None or np.isnan(effect).all():
        return ()
    flat = np.nan_to_num(effect.ravel())
    wide = window(flat.size)
    rankings = []
    for role in (HEAD_ROLES[0], HEAD_ROLES[2], HEAD_ROLES[1]):
        order = np.argsort(-np.nan_to_num(roles[HEAD_ROLES.index(role)].ravel(), nan=-1.0), kind="stable")
        total = np.concatenate([[0.0], np.cumsum(flat[order])])
        rankings.append(EffectOrder(role, (total[wide:] - total[:-wide]) / wide))
    return tuple(rankings)
