"""Where in the network: the share of heads of each category, layer by layer."""

import numpy as np

from dashboard.figures.numbers import FONT, Figure, packed
from dashboard.maps.function.panels import coloured
from dashboard.maps.panel import Bools, Panel, layer_shares
from dashboard.maps.profile import Profile
from dashboard.palette import SEVERAL, Colours, colours
from dashboard.state import ViewState

HEIGHT = 150  # pixels
HINT = "Share of a layer's heads in each category. Each head counts once: one of several categories counts as such."


def profile(panel: Panel, palette: Colours) -> Profile:
    """The share of each layer's heads by their colour, none counted twice."""
    names, flags = _hues(panel)
    shares = np.nan_to_num(layer_shares(flags, panel.reason))
    return Profile(tuple(name.capitalize() for name in names), tuple(map(palette.of, names)), tuple(shares))


def _hues(panel: Panel) -> tuple[list[str], Bools]:  # [name, layer, head]
    """The colours that members have, and which have each."""
    if panel.belongs is None:
        return [panel.tone], panel.member[None]
    categories = coloured(panel.belongs, panel.filled)
    how_many = categories.sum(axis=0)
    only = [mine & (how_many == 1) for mine in categories]
    several = [how_many == count for count in (2, 3)] + [how_many > 3]
    there = [(name, flags) for name, flags in zip(SEVERAL, several, strict=True) if flags.any()]
    names = [*panel.categories, *(name for name, _ in there)]
    return names, np.stack([*only, *(flags for _, flags in there)])


def profile_figure(panel: Panel, state: ViewState, layers: tuple[int, ...], dark: bool = False) -> Figure:
    """The same as stacked bars over the layers."""
    palette = colours(state.palette, dark)
    rows = profile(panel, palette)
    bars = [
        {
            "type": "bar",
            "x": list(layers),
            "y": packed(row),
            "name": name,
            "marker": {"color": colour},
            "hovertemplate": "layer %{x}: %{y:.0%}<extra></extra>",
        }
        for name, colour, row in zip(rows.names, rows.colours, rows.shares, strict=True)
    ]
    layout = {
        "barmode": "stack",
        "bargap": 0.15,
        "margin": {"l": 40, "r": 8, "t": 6, "b": 34},
        "height": HEIGHT,
        "font": {"family": FONT, "size": 11, "color": palette.ink},
        "showlegend": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"title": {"text": "layer", "standoff": 2}, "tickformat": "d", "showgrid": False, "zeroline": False},
        "yaxis": {
            "tickformat": ".0%",
            "rangemode": "tozero",
            "gridcolor": palette.empty,
            "zeroline": False,
            "nticks": 4,
        },
        "uirevision": state.model,
    }
    return {"data": bars, "layout": layout}
