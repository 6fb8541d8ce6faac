"""How the gates were fitted: the loss of every seed, first free, then pushed open and pushed shut."""

from typing import Any

import numpy as np

from analysis.causal import STAGES
from analysis.scores import Scores
from dashboard.figures.numbers import Figure, packed
from dashboard.figures.small import small_multiples
from dashboard.gates import shown_tasks
from dashboard.palette import Colours, colours
from dashboard.state import ViewState

HEIGHT = 230
_STAGES = {"free": "free", "open": "pushed open (G⁺)", "shut": "pushed shut (G⁻)"}


def loss_curves(causal: Scores, state: ViewState, width: int, dark: bool = False) -> Figure:
    """For each task one thin line a seed and stage; the pushed stages begin where the free one ends."""
    palette = colours(state.palette, dark)
    tasks = [task for task in shown_tasks(causal, state) if has_curves(causal, task)]
    figure = small_multiples([causal.item(task)["title"] for task in tasks], width, HEIGHT, palette)
    for number, task in enumerate(tasks, start=1):
        mark = "" if number == 1 else str(number)
        figure["data"] += _lines(causal.item(task), palette, mark)
        figure["layout"][f"xaxis{mark}"]["title"] = {"text": "update", "standoff": 2}
        if number == 1:
            contrasted = causal.item(task).get("category") == "contrast"
            words = "log P(forget) − log P(retain)" if contrasted else "NLL of the target"
            figure["layout"]["yaxis"]["title"] = {"text": words, "standoff": 4}
    return figure


def has_curves(causal: Scores, task: str) -> bool:
    """Some seed of the task has a loss curve."""
    curves = causal.item(task).get("curves") or {}
    return any(curves.get(stage) for stage in STAGES)


def _lines(item: dict[str, Any], palette: Colours, mark: str) -> list[dict[str, Any]]:
    tones = {"free": palette.faint, "open": palette.inks[1], "shut": palette.inks[0]}
    curves = item["curves"]
    begins = max((len(losses) for losses in curves.get("free", [])), default=0)
    lines = []
    for stage, words in _STAGES.items():
        losses_of = curves.get(stage, [])
        for seed, losses in zip(curves.get("seeds", range(len(losses_of))), losses_of, strict=False):
            start = 0 if stage == "free" else begins
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": packed(np.arange(len(losses)) + float(start)),
                    "y": packed(np.asarray(losses, dtype=np.float64)),
                    "name": words,
                    "legendgroup": stage,
                    "showlegend": not mark and losses is losses_of[0],
                    "opacity": 0.75,
                    "line": {"color": tones[stage], "width": 1},
                    "hovertemplate": f"seed {seed}, update %{{x}}: %{{y:.3f}}<extra></extra>",
                    "xaxis": f"x{mark}",
                    "yaxis": f"y{mark}",
                }
            )
    return lines
