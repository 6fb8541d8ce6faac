"""The causal map's columns of the table: of each task the role, F, N and R, effect and preview."""

from typing import Any

import numpy as np

from analysis.methods.causal.result import ROLES
from analysis.results.scores import Floats, Scores
from dashboard.cache import cached
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import LETTERS, reduced, task_names
from dashboard.maps.causal.head import head_role
from dashboard.maps.columns import NUMBER, SIGNED, TEXT, TWO_DIGITS, Column, numbers

_NARROW = {"width": 150}


def columns(causal: Scores) -> list[Column]:
    """Of each task its role, F, N and R over the seeds, the effect of switching the head off, and the preview."""
    columns_of_tasks: list[Column] = []
    for i, task in enumerate(task_names(causal)):
        title = evidence.title(causal, task)  # in every name: grouped headers leave empty cells for screen readers
        columns_of_tasks.append({"field": f"task_{i}_role", "headerName": f"{title}: Role", **TEXT, "width": 190})
        for role in ROLES:
            for column in ("always", "any"):
                name = {"field": f"task_{i}_{role}_{column}", "headerName": f"{title}: {LETTERS[role]} {column}"}
                columns_of_tasks.append({**name, **NUMBER, **TWO_DIGITS, **_NARROW})
        for measured in ("effect", "preview"):
            name = {"field": f"task_{i}_{measured}", "headerName": f"{title}: {measured.capitalize()}"}
            columns_of_tasks.append({**name, **NUMBER, **SIGNED, **_NARROW})
    return columns_of_tasks


@cached(8)
def cells(causal: Scores, role: float) -> dict[str, list[Any]]:
    """The same columns' values, one per head."""
    values: dict[str, list[Any]] = {}
    shape = (causal.score.sizes["layer"], causal.score.sizes["head"])
    for i, task in enumerate(task_names(causal)):
        reason = causal.missing.sel(item=task).max(("kind", "sample")).values.ravel()
        values[f"task_{i}_role"] = [head_role(causal, task, cell, role) for cell in np.ndindex(shape)]
        for column in ("always", "any"):
            roles = reduced(causal, task, column)
            for j, name in enumerate(ROLES):
                scores = np.full(shape, np.nan) if roles is None else roles[j]
                values[f"task_{i}_{name}_{column}"] = numbers(scores.ravel(), reason)
        values[f"task_{i}_effect"] = _measured(evidence.effect(causal, task), shape)
        values[f"task_{i}_preview"] = _measured(evidence.preview(causal, task).mean, shape)
    return values


def _measured(grid: Floats | None, shape: tuple[int, int]) -> list[Any]:
    if grid is None:
        return [None] * (shape[0] * shape[1])
    rounded: list[Any] = grid.ravel().round(5).tolist()
    return rounded
