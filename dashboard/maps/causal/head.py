"""One head in the causal map: its gates, its roles, its places."""

from typing import Any

import numpy as np

from analysis.methods.causal.plan import ROLES
from analysis.models.card import HeadId
from analysis.results.scores import Floats, Missing, Scores, ranks
from dashboard.cache import cached
from dashboard.maps.causal.gates import (
    FACILITATING,
    INTERFERING,
    IRRELEVANT,
    NO_ROLE,
    ROLE_WORDS,
    fitted_seeds,
    grid_of,
    known_roles,
    preview,
    reduced,
    shape_of,
    task_names,
)
from dashboard.maps.causal.orders import effect_of, ordering


def head_gates(causal: Scores, head: HeadId, role: float, seed: str = "") -> list[dict[str, Any]]:
    """What every task says of a head: its gates in each seed, scores, preview, effect and place in the orders."""
    at = causal.provenance.model.layers.index(head.layer)
    return [_of_task(causal, task, (at, head.head), role, seed) for task in task_names(causal)]


def _of_task(causal: Scores, task: str, cell: tuple[int, int], role: float, seed: str) -> dict[str, Any]:
    item, shape = causal.item(task), shape_of(causal)
    there = fitted_seeds(causal, task)
    found = causal.score.sel(item=task, sample=there).isel(layer=cell[0], head=cell[1])
    helps, hurts, idle = (found.sel(kind=role).values for role in ROLES)
    contrasted = item.get("category") == "contrast"  # one gate, which closes where F is high
    gradient, effect, order = preview(item, "mean", shape), effect_of(causal, task), ordering(causal, task, seed)
    share = grid_of((item.get("preview") or {}).get("share"), shape)
    why = Missing(int(causal.missing.sel(item=task).isel(layer=cell[0], head=cell[1]).max()))
    return {
        "name": task,
        "title": item["title"],
        "seeds": there,
        "contrasted": contrasted,
        "shut": [float(value) for value in (idle if contrasted else helps)],
        "open": [] if contrasted else [float(value) for value in 1 - hurts],
        "columns": {c: _scores_at(reduced(causal, task, c), cell) for c in ("always", "any")},
        "role": head_role(causal, task, cell, role),
        "preview": _at(gradient, cell),
        "preview_share": _at(share, cell),
        "effect": _at(effect, cell),
        "effect_rank": int(ranks(np.abs(effect))[cell]) if effect is not None else None,
        "ranks": {role: int(ranks(order[ROLES.index(role)])[cell]) for role in known_roles(order) if order is not None},
        "missing": why.words,
    }


def head_role(causal: Scores, task: str, cell: tuple[int, int], role: float) -> str:
    """A head's role in words: in all seeds, in some, or none; of contrasted pairs, whose words it helps to say."""
    whose = " what is to be forgotten" if causal.item(task).get("category") == "contrast" else ""
    there = fitted_seeds(causal, task)
    if not there:
        return "not fitted"
    scored = _sampled_roles(causal, task)[:, :, cell[0], cell[1]]  # [role, seed]
    with np.errstate(invalid="ignore"):
        helps, hurts, idle = ((scored[i] >= role).sum() for i in range(3))
    found = [(FACILITATING, helps), (INTERFERING, hurts)] if helps or hurts else [(IRRELEVANT, idle)]
    parts = [f"{ROLE_WORDS[code]}{whose}{_in_seeds(count, len(there))}" for code, count in found if count]
    return ", ".join(parts) or ROLE_WORDS[NO_ROLE]


def _in_seeds(count: int, seeds: int) -> str:
    return "" if count == seeds else f" in {count} of {seeds} seeds"


@cached(32)
def _sampled_roles(causal: Scores, task: str) -> Floats:  # [role, seed, layer, head]
    found = causal.score.sel(item=task, sample=fitted_seeds(causal, task), kind=list(ROLES))
    return np.asarray(found.transpose("kind", "sample", "layer", "head").values, dtype=np.float64)


def _scores_at(roles: Floats | None, cell: tuple[int, int]) -> dict[str, float]:
    return {} if roles is None else {role: float(roles[ROLES.index(role)][cell]) for role in known_roles(roles)}


def _at(grid: Floats | None, cell: tuple[int, int]) -> float | None:
    return None if grid is None or np.isnan(grid[cell]) else float(grid[cell])
