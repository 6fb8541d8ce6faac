"""How the gates were fitted: the loss of every seed, first free, then pushed open and pushed shut."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.methods.causal.plan import STAGES
from analysis.results.scores import Scores
from dashboard.figures.numbers import Figure, packed
from dashboard.figures.small import small_multiples
from dashboard.maps.causal.gates import shown_tasks
from dashboard.palette import Colours, colours
from dashboard.state import ViewState

HEIGHT = 230
SMOOTH = 10  # updates over which a loss is averaged: batches are small
_STAGES = {"free": "free", "open": "pushed open (G⁺)", "shut": "pushed shut (G⁻)"}


def loss_curves(causal: Scores, state: ViewState, width: int, dark: bool = False) -> Figure:
    """For each task one thin line a seed and stage; the pushed stages begin where the free one ends."""
    palette = colours(state.palette, dark)
    tasks = [task for task in shown_tasks(causal, state) if has_curves(causal, task)]
    figure = small_multiples([causal.item(task)["title"] for task in tasks], width, HEIGHT, palette)
    lowest = min((_lowest(causal.item(task)) for task in tasks), default=0.0)
    highest = max((_highest(causal.item(task)) for task in tasks), default=1.0)
    for number, task in enumerate(tasks, start=1):
        mark = "" if number == 1 else str(number)
        item = causal.item(task)
        figure["data"] += _lines(item, state.one_seed, palette, mark)
        figure["layout"][f"yaxis{mark}"] |= {"range": [lowest, highest]}
        figure["layout"]["shapes"] = [*figure["layout"].get("shapes", []), *_untouched(item, palette, mark)]
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


def _losses(item: dict[str, Any]) -> list[list[float]]:
    return [losses for stage in STAGES for losses in item["curves"].get(stage, []) if losses]


def _lowest(item: dict[str, Any]) -> float:
    return min(0.0, *(min(losses) for losses in _losses(item)))


def _highest(item: dict[str, Any]) -> float:
    """So far that all but the first updates can be told apart: those begin at random gates, many times higher."""
    later = [float(np.convolve(part, np.ones(SMOOTH) / SMOOTH, "same").max()) for part in _later(item)]
    return 1.05 * max(*later, float(item.get("nll") or 0.0), 0.1)


def _later(item: dict[str, Any]) -> list[list[float]]:
    return [losses[len(losses) // 6 :] for losses in _losses(item)]


def _untouched(item: dict[str, Any], palette: Colours, mark: str) -> list[dict[str, Any]]:
    """A line at the untouched model's loss."""
    if item.get("nll") is None:
        return []
    where = {"x0": 0, "x1": 1, "xref": f"x{mark} domain", "y0": item["nll"], "y1": item["nll"], "yref": f"y{mark}"}
    return [{"type": "line", **where, "line": {"color": palette.faint, "width": 1, "dash": "dot"}}]


def _lines(item: dict[str, Any], only: str, palette: Colours, mark: str) -> list[dict[str, Any]]:
    tones = {"free": palette.faint, "open": palette.inks[1], "shut": palette.inks[0]}
    curves = item["curves"]
    begins = max((len(losses) for losses in curves.get("free", [])), default=0)
    lines = []
    for stage, words in _STAGES.items():
        losses_of = curves.get(stage, [])
        for seed, losses in zip(curves.get("seeds", range(len(losses_of))), losses_of, strict=False):
            if only and str(seed) != only:
                continue
            start = 0 if stage == "free" else begins
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": packed(np.arange(len(losses)) + float(start)),
                    "y": packed(pd.Series(losses, dtype=np.float64).rolling(SMOOTH, min_periods=1).mean().to_numpy()),
                    "name": words,
                    "legendgroup": stage,
                    "showlegend": not mark and (bool(only) or losses is losses_of[0]),
                    "opacity": 0.75,
                    "line": {"color": tones[stage], "width": 1},
                    "hovertemplate": f"seed {seed}, to update %{{x}}: %{{y:.3f}}<extra></extra>",
                    "xaxis": f"x{mark}",
                    "yaxis": f"y{mark}",
                }
            )
    return lines
