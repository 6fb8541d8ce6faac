"""How the gates were fitted: the loss of every seed, first free, then pushed open and pushed shut."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.methods.causal.result import HEAD_ROLES, STAGES, Curves
from analysis.results.scores import Scores
from dashboard.figures.numbers import Figure, Properties, packed
from dashboard.figures.small import small_multiples
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import shown_tasks
from dashboard.maps.causal.state import CausalState
from dashboard.palette import Colours

_TONES = {"free": HEAD_ROLES[2], "open": HEAD_ROLES[1], "shut": HEAD_ROLES[0]}  # of the stages, as roles
HEIGHT = 230
SMOOTH = 10  # updates over which a loss is averaged: batches are small
_STAGES = {"free": "free", "open": "pushed open (G⁺)", "shut": "pushed shut (G⁻)"}


def loss_curves(causal: Scores, state: CausalState, width: int, palette: Colours) -> Figure:
    """For each task a thin line per seed and stage; the pushed stages begin where the free one ends."""
    fitted = {}
    for task in shown_tasks(causal, state):
        curves = evidence.curves(causal, task)
        if curves is not None:
            fitted[task] = curves
    titles = [evidence.title(causal, task) for task in fitted]
    figure = small_multiples(titles, width, HEIGHT, palette)
    layout = figure["layout"]
    lowest = min((_lowest(curves) for curves in fitted.values()), default=0.0)
    highest = max((_highest(curves, _nll(causal, task)) for task, curves in fitted.items()), default=1.0)
    layout["shapes"] = []
    for number, (task, curves) in enumerate(fitted.items(), start=1):
        mark = "" if number == 1 else str(number)
        figure["data"] += _lines(curves, state.one_seed, palette, mark)
        layout[f"yaxis{mark}"] |= {"range": [lowest, highest]}
        layout[f"xaxis{mark}"]["title"] = {"text": "update", "standoff": 2}
        layout["shapes"] += _untouched(_nll(causal, task), palette, mark)
        if number == 1:
            layout["yaxis"]["title"] = {"text": evidence.variant(causal, task).loss, "standoff": 4}
    return figure


def _nll(causal: Scores, task: str) -> float | None:
    """The untouched model's loss, if it was measured."""
    measured = evidence.untouched(causal, task)
    return measured.nll if measured is not None else None


def _losses(curves: Curves) -> Iterator[tuple[float, ...]]:
    """Every curve that has begun."""
    for stage in STAGES:
        yield from (losses for losses in curves.of(stage) if losses)


def _lowest(curves: Curves) -> float:
    """0, or below it where a loss is: the difference of two may be negative."""
    return min([0.0, *(min(losses) for losses in _losses(curves))])


def _highest(curves: Curves, nll: float | None) -> float:
    """So far that all but the first updates can be told apart: those begin at random gates, many times higher."""
    highest = max(nll or 0.0, 0.1)
    for losses in _losses(curves):
        later = losses[len(losses) // 6 :]
        highest = max(highest, float(np.convolve(later, np.ones(SMOOTH) / SMOOTH, "same").max()))
    return 1.05 * highest


def _untouched(nll: float | None, palette: Colours, mark: str) -> list[Properties]:
    """A line at the untouched model's loss."""
    if nll is None:
        return []
    where = {"x0": 0, "x1": 1, "xref": f"x{mark} domain", "y0": nll, "y1": nll, "yref": f"y{mark}"}
    return [{"type": "line", **where, "line": {"color": palette.faint, "width": 1, "dash": "dot"}}]


def _lines(curves: Curves, only: str, palette: Colours, mark: str) -> list[Properties]:
    begins = max((len(losses) for losses in curves.of("free")), default=0)
    lines = []
    for stage, words in _STAGES.items():
        for seed, losses in zip(curves.seeds, curves.of(stage), strict=False):
            if only and str(seed) != only:
                continue
            start = 0 if stage == "free" else begins
            smooth = pd.Series(losses, dtype=np.float64).rolling(SMOOTH, min_periods=1).mean()
            first = losses is curves.of(stage)[0]
            lines.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": packed(np.arange(len(losses)) + float(start)),
                    "y": packed(smooth.to_numpy()),
                    "name": words,
                    "legendgroup": stage,
                    "showlegend": not mark and (bool(only) or first),
                    "opacity": 0.75,
                    "line": {"color": palette.of(_TONES[stage]), "width": 1},
                    "meta": {"tone": _TONES[stage]},  # by which the scripts follow the palette
                    "hovertemplate": f"seed {seed}, to update %{{x}}: %{{y:.3f}}<extra></extra>",
                    "xaxis": f"x{mark}",
                    "yaxis": f"y{mark}",
                }
            )
    return lines
