"""Accuracy as the heads of a relation go off one after another: a line for each order."""

from collections.abc import Sequence

import numpy as np

from analysis.methods.ablation.result import AblationOrder, record_of
from analysis.models.card import ModelCard
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Scores
from dashboard.figures.numbers import FONT, Figure, Properties, plain, see_through
from dashboard.palette import ABOVE, BELOW, OTHER, Colours

HEIGHT = 260  # pixels
_RANDOM = "random"  # how the names of random orders begin
_OF_BAND = 0.25  # how much of its colour the band of the random orders has
_TONES = (BELOW, ABOVE, OTHER)  # of the lines, whose colours are then seen on a dark page too


def curves(scores: Scores, items: Sequence[ScoredItem], palette: Colours) -> Figure:
    """A small figure per relation, side by side."""
    traces: list[Properties] = []
    layout: Properties = _layout(palette)
    for place, item in enumerate(items):
        mark = "" if not place else str(place + 1)
        traces += _lines(record_of(scores, item.name).curve, scores.provenance.model, mark, palette)
        width = 1 if item is items[-1] else 0.86
        start, end = place / len(items), (place + width) / len(items)
        axis = {"zeroline": False, "gridcolor": palette.empty}
        layout[f"xaxis{mark}"] = {
            **axis,
            "domain": [start, end],
            "title": {"text": f"{plain(item.title)}: heads switched off"},
        }
        layout[f"yaxis{mark}"] = {**axis, "anchor": f"x{mark}", "tickformat": ".0%", "rangemode": "tozero"}
    return {"data": traces, "layout": layout}


def _lines(orders: Sequence[AblationOrder], card: ModelCard, mark: str, palette: Colours) -> list[Properties]:
    """Each order by a map's scores, dotted where these are equal; of the random ones mean and range, faintly."""
    random = [order for order in orders if order.name.startswith(_RANDOM)]
    lines = _band(random, mark, palette) if random else []
    for number, order in enumerate(order for order in orders if order not in random):
        tone = _TONES[number % len(_TONES)]
        scored = order.scored(card)
        for start, end, dash in ((0, scored, "solid"), (scored, len(order.heads), "dot")):
            if start < end:
                line = _line(order.title, order.accuracy[start : end + 1], mark, palette.of(tone), 2, start, dash)
                lines.append({**line, "meta": {"tone": tone}})  # by which the scripts follow the palette
    return lines


def _band(random: Sequence[AblationOrder], mark: str, palette: Colours) -> list[Properties]:
    """From the least to the most accurate of the random draws, under a line for their mean."""
    shortest = min(len(order.accuracy) for order in random)
    draws = np.array([order.accuracy[:shortest] for order in random])
    range_words, mean_words = f"random heads, range of {len(random)} draws", f"random heads, mean of {len(random)}"
    least = _line(range_words, draws.min(axis=0).tolist(), mark, palette.faint, 0)
    most = _line(range_words, draws.max(axis=0).tolist(), mark, palette.faint, 0)
    filled = {"fill": "tonexty", "fillcolor": see_through(palette.faint, _OF_BAND)}
    return [
        {**least, "showlegend": False},
        {**most, **filled},
        _line(mean_words, draws.mean(axis=0).tolist(), mark, palette.faint, 2),
    ]


def _line(
    title: str, values: Sequence[float], mark: str, colour: str, width: int, start: int = 0, dash: str = "solid"
) -> Properties:
    """From so many heads on; where its order means nothing it is dotted, and marked as in the tables."""
    tied = "†" if dash == "dot" else ""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(range(start, start + len(values))),
        "y": list(values),
        "name": plain(title),
        "legendgroup": title,
        "showlegend": not mark and dash == "solid",
        "line": {"color": colour, "width": width, "dash": dash},
        "xaxis": f"x{mark}",
        "yaxis": f"y{mark}",
        "hovertemplate": f"%{{x}} heads switched off: %{{y:.0%}}{tied}<extra>{plain(title)}</extra>",
    }


def _layout(palette: Colours) -> Properties:
    return {
        "height": HEIGHT,
        "margin": {"l": 44, "r": 8, "t": 24, "b": 40},
        "font": {"family": FONT, "size": 11, "color": palette.ink},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
