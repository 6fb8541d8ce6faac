"""Where in the network: the share of heads of each category, layer by layer."""

from dashboard.figures.numbers import FONT, Figure, packed
from dashboard.maps.panel import Panel, layer_profile
from dashboard.palette import colours
from dashboard.state import ViewState

HEIGHT = 150  # pixels


def profile(panel: Panel, state: ViewState, layers: tuple[int, ...], dark: bool = False) -> Figure:
    """Stacked bars over the layers; a head of two categories counts in both."""
    shares = layer_profile(panel)
    palette = colours(state.palette, dark)
    names = panel.categories or (panel.tone,)
    rows = shares if panel.belongs is not None else shares[None]
    bars = []
    for name, row in zip(names, rows, strict=True):
        bar = {
            "type": "bar",
            "x": list(layers),
            "y": packed(row),
            "name": name or panel.key,
            "marker": {"color": palette.of(name)},
            "hovertemplate": "layer %{x}: %{y:.0%}<extra></extra>",
        }
        bars.append(bar)
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
