"""Does a head do what its gates say? Heads in the order of each score, and what switching them off does."""

import numpy as np

from analysis.results.scores import Scores
from dashboard.figures.numbers import Figure, Properties, packed
from dashboard.figures.small import small_multiples
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import shown_tasks
from dashboard.maps.causal.panels import NAMED_ROLES
from dashboard.maps.causal.ranking import validation, window
from dashboard.maps.causal.state import CausalState
from dashboard.palette import Colours

HEIGHT = 230
_POINTS = 600  # of a curve at most: more cannot be told apart, and a running mean has no spikes between them


def validation_curves(causal: Scores, state: CausalState, width: int, palette: Colours) -> Figure:
    """For each task the running mean of the effect along the heads in descending order of F, R and N.

    Below 0 where switching the heads off hurts the task, about 0 where it does not matter, above 0 where it helps.
    """
    tasks = [task for task in shown_tasks(causal, state) if validation(causal, task, state.one_seed)]
    titles = [evidence.title(causal, task) for task in tasks]
    figure = small_multiples(titles, width, HEIGHT, palette)
    for number, task in enumerate(tasks, start=1):
        mark = "" if number == 1 else str(number)
        figure["data"] += _lines(causal, task, state, palette, mark)
        figure["layout"][f"xaxis{mark}"]["title"] = {"text": "heads, highest score first", "standoff": 2}
        figure["layout"][f"yaxis{mark}"] |= {"zeroline": True, "zerolinecolor": palette.faint, "zerolinewidth": 1}
        if number == 1:
            figure["layout"]["yaxis"]["title"] = {"text": "change in log P", "standoff": 4}
    return figure


def _lines(causal: Scores, task: str, state: CausalState, palette: Colours, mark: str) -> list[Properties]:
    """A line for each score whose order of the heads was followed."""
    heads = causal.score.sizes["layer"] * causal.score.sizes["head"]
    further = window(heads) - 1
    step = -(-heads // _POINTS)
    lines: list[Properties] = []
    for order in validation(causal, task, state.one_seed):
        words = NAMED_ROLES[order.role]
        places = np.arange(len(order.running), dtype=np.float32) + 1
        line = {
            "type": "scatter",
            "mode": "lines",
            "x": packed(places[::step]),
            "y": packed(order.running[::step].astype(np.float32)),
            "name": words,
            "legendgroup": order.role,
            "showlegend": not mark,
            "line": {"color": palette.of(order.role), "width": 2},
            "meta": {"tone": order.role},  # by which the scripts follow the palette
            "customdata": packed(places[::step] + further),
            "hovertemplate": f"heads %{{x}}–%{{customdata}}: %{{y:.3f}}<extra>{words}</extra>",
            "xaxis": f"x{mark}",
            "yaxis": f"y{mark}",
        }
        lines.append(line)
    return lines
