"""The causal map's columns of the table: of each task the role, F, N and R, effect and preview."""

import numpy as np

from analysis.methods.causal.result import HEAD_ROLES
from analysis.results.scores import Floats, Scores
from dashboard.cache import cached
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import reduced, task_names
from dashboard.maps.causal.head import head_role
from dashboard.maps.causal.panels import NAMED_ROLES
from dashboard.maps.columns import NUMBER, SIGNED, TEXT, TWO_DIGITS, Cells, Column, group, numbers

_NARROW, _WIDE = {"width": 116}, {"width": 150}
_HEADERS = {role: f"{words[0].upper()}{words[1:]}" for role, words in NAMED_ROLES.items()}


def columns(causal: Scores) -> list[Column]:
    """For each task its role, F, N and R over the seeds, the effect of switching the head off, and the preview."""
    tasks = []
    for task in task_names(causal):
        of_task: list[Column] = [{"field": f"task.role.{task}", "headerName": "Role", **TEXT, "width": 190}]
        for role in HEAD_ROLES:
            for column in ("always", "any"):
                name = {"field": f"task.{role}.{column}.{task}", "headerName": f"{_HEADERS[role]}, {column}"}
                of_task.append({**name, **NUMBER, **TWO_DIGITS, **_WIDE})
        for measured in ("effect", "preview"):
            name = {"field": f"task.{measured}.{task}", "headerName": measured.capitalize()}
            of_task.append({**name, **NUMBER, **SIGNED, **_NARROW})
        tasks.append(group(f"Causal map: {evidence.title(causal, task)}", of_task))
    return tasks


@cached(8)
def cells(causal: Scores, role: float) -> dict[str, Cells]:
    """The same columns' values, one per head."""
    values: dict[str, Cells] = {}
    shape = (causal.score.sizes["layer"], causal.score.sizes["head"])
    for task in task_names(causal):
        reason = causal.missing.sel(item=task).max(("kind", "sample")).values.ravel()
        values[f"task.role.{task}"] = [head_role(causal, task, cell, role) for cell in np.ndindex(shape)]
        for column in ("always", "any"):
            roles = reduced(causal, task, column)
            for j, name in enumerate(HEAD_ROLES):
                scores = np.full(shape, np.nan) if roles is None else roles[j]
                values[f"task.{name}.{column}.{task}"] = numbers(scores.ravel(), reason)
        values[f"task.effect.{task}"] = _measured(evidence.effect(causal, task), shape)
        values[f"task.preview.{task}"] = _measured(evidence.preview(causal, task).mean, shape)
    return values


def _measured(grid: Floats | None, shape: tuple[int, int]) -> Cells:
    values = np.full(shape, np.nan) if grid is None else grid
    return values.ravel().round(5)
