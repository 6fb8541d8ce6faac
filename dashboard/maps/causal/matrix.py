"""Several heads side by side in the causal map: how much every task needs each, and is hurt by it."""

from collections.abc import Sequence

import numpy as np

from analysis.methods.causal.result import HEAD_ROLES
from analysis.models.card import HeadId
from dashboard.maps.causal.head import HeadGates, head_gates
from dashboard.maps.causal.panels import FACILITATING, INTERFERING, ROLE_WORDS
from dashboard.maps.causal.state import CausalState
from dashboard.maps.head_rows import HeadCell, HeadRow, HeadRows
from dashboard.maps.map import MapView
from dashboard.palette import tone_name

_SHOWN = {0: FACILITATING, 1: INTERFERING}  # of the roles, and their words


def head_rows(heads: Sequence[HeadId], shown: MapView[CausalState]) -> HeadRows:
    """Two rows for each fitted task."""
    state = shown.state
    of_heads = [head_gates(shown.result, head, state.threshold, state.one_seed) for head in heads]
    rows = []
    for of_task in zip(*of_heads, strict=True):
        first = of_task[0]
        if not first.seeds:
            continue
        about = f" {first.variant.about}" if first.variant.about else ""
        for role, words in _SHOWN.items():
            cells = tuple(_cell(task, role) for task in of_task)
            title = f"{first.title}{about}: {ROLE_WORDS[words]}"
            rows.append(HeadRow(shown.link(title, tasks=(first.name,)), cells))
    return HeadRows("Causal map, mean over seeds", tuple(rows))


def _cell(task: HeadGates, role: int) -> HeadCell:
    mean = float(np.mean([scores[role] for scores in task.scores]))
    if np.isnan(mean):
        return HeadCell("", title=task.missing)
    name = HEAD_ROLES[role]
    ends = f"Always {task.always[name]:.2f}, Any {task.any[name]:.2f}"
    return HeadCell(f"{mean:.2f}", mean, tone_name(name), ends)
