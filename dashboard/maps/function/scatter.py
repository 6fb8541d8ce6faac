"""Two results side by side, head by head: the score by the one across, by the other up."""

from collections.abc import Sequence

import numpy as np

from analysis.models.card import ModelCard
from analysis.relations.scores import reduced
from analysis.results.scores import ONLY_SAMPLE, Floats, Scores
from dashboard.figures.numbers import FONT, Figure, Properties, packed, plain
from dashboard.palette import Colours

HEIGHT = 340  # pixels


def best_scores(scores: Scores, items: Sequence[str], kinds: Sequence[str]) -> Floats:  # [layer, head]
    """For each head the highest score for some relations."""
    best = reduced(scores, items, "any", kinds).sel(sample=ONLY_SAMPLE)
    return np.asarray(best.values, dtype=np.float64)


def scatter(
    one: Floats, other: Floats, titles: tuple[str, str], card: ModelCard, tau: float, tone: str, palette: Colours
) -> Figure:
    """A point for each head [layer, head] that has both scores and is not 0 in both; both axes go from 0 to 1.

    Points carry the names of their heads, by which the scripts link them with the maps.
    """
    x, y = one.ravel(), other.ravel()
    drawn = ~(np.isnan(x) | np.isnan(y)) & ((x > 0) | (y > 0))
    names = [f"L{layer}H{head}" for layer in card.layers for head in range(card.heads)]
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": packed(x[drawn].astype(np.float32)),
        "y": packed(y[drawn].astype(np.float32)),
        "customdata": [name for name, flag in zip(names, drawn, strict=True) if flag],
        "meta": {"tone": tone},  # by which the scripts follow the palette
        "marker": {"color": palette.of(tone), "size": 7, "opacity": 0.65, "line": {"width": 0}},
        "selected": {"marker": {"color": palette.pin, "size": 11, "opacity": 1}},
        "unselected": {"marker": {"opacity": 0.65}},
        "hoverinfo": "none",  # the tooltip is the page's own
        "cliponaxis": False,
    }
    return {"data": [points], "layout": _layout(titles, tau, palette)}


def _layout(titles: tuple[str, str], tau: float, palette: Colours) -> Properties:
    return {
        "height": HEIGHT,
        "margin": {"l": 46, "r": 12, "t": 10, "b": 40},
        "font": {"family": FONT, "size": 11, "color": palette.ink},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": _axis(titles[0], palette),
        "yaxis": _axis(titles[1], palette),
        "shapes": [
            _line((0, 0), (1, 1), "dash", palette.faint),
            _line((tau, 0), (tau, 1), "dot", palette.faint),
            _line((0, tau), (1, tau), "dot", palette.faint),
        ],
    }


def _axis(title: str, palette: Colours) -> Properties:
    return {
        "title": {"text": plain(title), "standoff": 4},
        "range": [-0.02, 1.02],
        "gridcolor": palette.empty,
        "zeroline": False,
        "fixedrange": True,
        "nticks": 6,
    }


def _line(start: tuple[float, float], end: tuple[float, float], dash: str, colour: str) -> Properties:
    corners = {"x0": start[0], "y0": start[1], "x1": end[0], "y1": end[1]}
    return {"type": "line", **corners, "layer": "below", "line": {"color": colour, "width": 1, "dash": dash}}
