"""The fitted gates of a causal map: tasks, seeds, and the scores of heads over the seeds."""

from math import floor

import numpy as np
import xarray as xr

from analysis.methods.causal.result import HEAD_ROLES
from analysis.results.scores import Floats, Missing, Scores, always_of, any_of
from dashboard.cache import cached
from dashboard.maps.causal import evidence
from dashboard.maps.causal.state import CausalState

LETTERS = dict(zip(HEAD_ROLES, "FNR", strict=True))
CHANNELS = HEAD_ROLES[:2]  # facilitation and interference: the two colours
PREVIEW = "preview"
FIRST_TASKS = 2  # rows, when none are chosen
COLUMN_NAMES = {"always": "Always", "any": "Any", "mean": "Mean"}


def task_names(causal: Scores) -> tuple[str, ...]:
    """The tasks of a causal map, in its order."""
    return tuple(str(item.name) for item in causal.provenance.items)


def shown_tasks(causal: Scores, state: CausalState) -> tuple[str, ...]:
    """The rows: the chosen tasks that there are, else the first two."""
    there = task_names(causal)
    return tuple(name for name in state.tasks if name in there) or there[:FIRST_TASKS]


def seeds(causal: Scores) -> list[str]:
    """The numbers of the seeds, as text."""
    return [str(name).removeprefix("seed ") for name in causal.score.sample.values]


@cached(8)
def first_seeds(causal: Scores, count: int) -> Scores:
    """The map as it would be had only so many seeds been fitted."""
    return evidence.with_first_seeds(causal, count)


@cached(64)
def fitted_seeds(causal: Scores, task: str) -> list[str]:
    """The samples of which a task has scores: while a fit runs some have none."""
    some = causal.score.sel(item=task).notnull().any(("kind", "layer", "head"))
    return [str(name) for name in causal.score.sample.values[some.values]]


def is_of_one_seed(causal: Scores) -> bool:
    """There is nothing that Always and Any could differ in."""
    return bool(causal.score.sizes["sample"] == 1)


def is_running(causal: Scores) -> bool:
    """Some seed is being fitted."""
    return bool((causal.missing == Missing.RUNNING).any())


def known_roles(roles: Floats | None) -> tuple[str, ...]:
    """The roles that were measured: contrasted pairs have no interference."""
    return () if roles is None else tuple(role for i, role in enumerate(HEAD_ROLES) if not np.isnan(roles[i]).all())


@cached(128)
def reduced(causal: Scores, task: str, column: str) -> Floats | None:  # [role, layer, head]
    """F, N and R of a task: of one seed, or the least or largest over the seeds that are there."""
    there = fitted_seeds(causal, task)
    chosen = [column] if column not in {"always", "any"} else there
    if not set(chosen) <= set(there) or not chosen:
        return None
    scores = causal.score.sel(item=task, sample=chosen, kind=list(HEAD_ROLES))
    folded: xr.DataArray = always_of(scores, "sample") if column == "always" else any_of(scores, "sample")
    return np.asarray(folded.transpose("kind", "layer", "head").values, dtype=np.float64)


def shares(causal: Scores, task: str, column: str, threshold: float) -> dict[str, float]:
    """The share of heads whose F, N and R reach the threshold; nothing when there is no score."""
    roles = reduced(causal, task, column)
    if roles is None:
        return {}
    with np.errstate(invalid="ignore"):
        return {name: float((roles[HEAD_ROLES.index(name)] >= threshold).mean()) for name in known_roles(roles)}


def percent(share: float) -> str:
    """A share as it stands after a panel's title; halves are rounded up, as scripts do."""
    if share >= 0.1 or share == 0:
        return f"{floor(100 * share + 0.5)} %"
    return f"{floor(1000 * share + 0.5) / 10:.1f} %"
