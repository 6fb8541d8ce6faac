"""The map of heads: one square a head, layers along one side, heads along the other."""

from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from dashboard.palette import TINTS, Colours, colours
from dashboard.select import Panel
from dashboard.state import ViewState

Codes = npt.NDArray[np.uint8]

_MISSING = 0  # code of a head without a score


def head_map(panel: Panel, state: ViewState, layers: tuple[int, ...], dark: bool = False) -> go.Figure:
    """A panel as a heat map of small whole numbers: 1 byte a cell, so that big models stay small on the wire.

    x = layer, y = head with head 0 at the top; turned round when the state says transpose.
    """
    if state.colour == "scores":
        z: npt.NDArray[Any] = panel.value.astype(np.float32)
        look = _score_look(panel, colours(state.palette, dark))
    else:
        z, scale = _coded(panel, state, colours(state.palette, dark))
        look = {"colorscale": scale, "zmin": -0.5, "zmax": len(scale) / 2 - 0.5, "showscale": False}
    across, down = np.asarray(layers), np.arange(panel.value.shape[1])
    trace = go.Heatmap(
        z=z if state.transpose else np.ascontiguousarray(z.T),
        x=down if state.transpose else across,
        y=across if state.transpose else down,
        xgap=1,
        ygap=1,
        hoverinfo="none",  # the tooltip is the page's own: it names the head in every panel at once
        **look,
    )
    return go.Figure(trace, _layout(state))


def _coded(panel: Panel, state: ViewState, palette: Colours) -> tuple[Codes, list[list[Any]]]:
    """A code for every cell and the colour scale in which code i has colour i."""
    categories = panel.categories or (panel.key if panel.key in palette.category else "custom",)
    shades = [palette.missing, *palette.several]
    for category in categories:
        shades += [palette.tint(category, step) for step in range(TINTS)] + [palette.category[category]]
    if panel.belongs is not None and panel.strengths is not None:
        codes = _multi_codes(panel, panel.belongs, panel.strengths, state)
    else:
        codes = _codes(panel.value, panel.member, state.tau, 0)
    scale = [[(i + end) / len(shades), shade] for i, shade in enumerate(shades) for end in (0, 1)]
    return codes, scale


def _codes(value: npt.NDArray[np.float64], member: npt.NDArray[np.bool_], tau: float, category: int) -> Codes:
    """Tints up to τ, the full colour for members, the code for missing where there is no score."""
    first = 4 + category * (TINTS + 1)
    share = np.nan_to_num(value) / tau if tau > 0 else np.nan_to_num(value)
    steps = np.clip(np.floor(share * TINTS), 0, TINTS - 1)
    codes = first + np.where(member, TINTS, steps)
    return np.where(np.isnan(value), _MISSING, codes).astype(np.uint8)


def _multi_codes(
    panel: Panel, belongs: npt.NDArray[np.bool_], strengths: npt.NDArray[np.float64], state: ViewState
) -> Codes:
    """The panel of all categories: the only category's colour, a colour for several, else the strongest one's tint."""
    how_many = belongs.sum(axis=0)
    strongest = np.nan_to_num(strengths, nan=-1.0).argmax(axis=0)
    only = np.where(how_many == 1, belongs.argmax(axis=0), strongest)
    codes = np.zeros(panel.value.shape, np.uint8)
    for category in range(len(panel.categories)):
        mine = only == category
        codes[mine] = _codes(strengths[category], belongs[category], state.tau, category)[mine]
    several = np.clip(how_many - 1, 0, 3)
    return np.where(how_many > 1, several, np.where(np.isnan(panel.value), _MISSING, codes)).astype(np.uint8)


def _score_look(panel: Panel, palette: Colours) -> dict[str, Any]:
    """A continuous scale from 0 to 1 in the panel's colour."""
    top = palette.category.get(panel.key, palette.category["algorithmic"])
    return {"colorscale": [[0, palette.empty], [1, top]], "zmin": 0, "zmax": 1, "colorbar": {"thickness": 10, "len": 1}}


def _layout(state: ViewState) -> dict[str, Any]:
    axis = {"showgrid": False, "zeroline": False, "tickformat": "d", "constrain": "domain", "fixedrange": False}
    layer, head = {**axis, "title": {"text": "layer"}}, {**axis, "title": {"text": "head"}}
    down = {"autorange": "reversed", "scaleanchor": "x", "scaleratio": 1}
    return {
        "xaxis": head if state.transpose else layer,
        "yaxis": {**(layer if state.transpose else head), **down},
        "margin": {"l": 44, "r": 8, "t": 8, "b": 40},
        "template": go.layout.Template(),  # plotly's own would travel with every figure
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "uirevision": f"{state.model} {state.transpose}",  # the zoom stays while colours change
    }
