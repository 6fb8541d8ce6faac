"""The maps of heads: one square a head, layers along one side, heads along the other, panels beside each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.arrange import Arrangement, Box
from dashboard.figures.numbers import FONT, Figure, heading, packed, plain
from dashboard.maps.causal import colours as gate_colours
from dashboard.maps.causal.gates import steepest
from dashboard.maps.causal.profile import side_profiles
from dashboard.maps.function.panels import Panel
from dashboard.palette import TINTS, Colours, colours
from dashboard.state import ViewState

Codes = npt.NDArray[np.uint8]

GROUND = "#30353d"

_SPECIAL = 8  # codes before those of the categories: 5 for missing scores, 3 for several categories
_TICK = 22  # pixels between tick labels, at least


def head_maps(
    panels: Sequence[Panel], state: ViewState, layers: tuple[int, ...], place: Arrangement, dark: bool = False
) -> Figure:
    """All panels in one figure, so that they zoom together and leave the page as one picture.

    x = layer, y = head with head 0 at the top; in the causal map x = head, y = layer with layer 0 at the bottom. Each
    is turned round when the state says transpose. Layer profiles come after all maps, if they have a place.
    """
    palette = colours(state.palette, dark)
    layout: dict[str, Any] = _page(state, place, palette)
    traces, scales = [], steepest(panels) if state.view == "causal" else {}
    for number, (panel, box) in enumerate(zip(panels, place.boxes, strict=True), start=1):
        mark = "" if number == 1 else str(number)
        traces.append(_trace(panel, state, palette, mark, scales.get(panel.of[1], 1.0)))
        layout[f"xaxis{mark}"], layout[f"yaxis{mark}"] = _axes(state, layers, panel.value.shape[1], place, box, mark)
        layout["annotations"].append(_title(panel, box, place, palette))
        if panel.of[1] and state.gates != "preview":
            layout["shapes"].append(_ground(mark))
    if place.sides:
        more, axes = side_profiles(panels, state, layers, place, palette)
        traces += more
        layout |= axes
    return {"data": traces, "layout": layout}


def _trace(panel: Panel, state: ViewState, palette: Colours, mark: str, scale: float) -> dict[str, Any]:
    """A heat map of small whole numbers: 1 byte a cell, so that big models stay small on the wire."""
    z: npt.NDArray[Any]
    if panel.of[1]:
        z, shades = gate_colours.coded(panel, state, palette, scale)
        look = _steps(shades)
    elif state.colour == "scores":
        z = panel.value.astype(np.float32)
        look = {"colorscale": [[0, palette.empty], [1, palette.of(panel.tone)]], "zmin": 0, "zmax": 1}
    else:
        z, shades = _coded(panel, state, palette)
        look = _steps(shades)
    gap = 1 if min(panel.value.shape) <= 40 else 0.5
    return {
        "type": "heatmap",
        "z": packed(z if state.heads_across else z.T),
        "xgap": gap,
        "ygap": gap,
        "xaxis": f"x{mark}",
        "yaxis": f"y{mark}",
        "name": panel.key,
        "showscale": False,
        "meta": GROUND if panel.of[1] and state.gates != "preview" else "",  # between the cells (scripts)
        "hoverinfo": "none",  # the tooltip is the page's own: it names the head in every panel at once
        **look,
    }


def _ground(mark: str) -> dict[str, Any]:
    """Dark paper under cells of light: on white the gaps between black cells would outshine them."""
    where = {"xref": f"x{mark} domain", "yref": f"y{mark} domain", "x0": 0, "x1": 1, "y0": 0, "y1": 1}
    return {"type": "rect", **where, "fillcolor": GROUND, "line": {"width": 0}, "layer": "below"}


def _steps(shades: list[str]) -> dict[str, Any]:
    """A scale that has one colour for each code."""
    scale = [[(i + end) / len(shades), shade] for i, shade in enumerate(shades) for end in (0, 1)]
    return {"colorscale": scale, "zmin": -0.5, "zmax": len(shades) - 0.5}


def _coded(panel: Panel, state: ViewState, palette: Colours) -> tuple[Codes, list[str]]:
    """A code for every cell, and the colour of every code."""
    categories = panel.categories or (panel.tone,)
    shades = [*palette.missing, *palette.several]
    for category in categories:
        shades += [palette.tint(category, step) for step in range(TINTS)] + [palette.of(category)]
    if panel.belongs is not None and panel.strengths is not None:
        codes = _multi_codes(panel, panel.belongs, panel.strengths, state)
    else:
        codes = _codes(panel.value, panel.member, state.tau, 0)
    return np.where(np.isnan(panel.value), panel.reason, codes).astype(np.uint8), shades


def _codes(value: npt.NDArray[np.float64], member: npt.NDArray[np.bool_], tau: float, category: int) -> Codes:
    """No tint for 0, tints up to τ, the full colour for members."""
    first = _SPECIAL + category * (TINTS + 1)
    share = np.nan_to_num(value) / tau if tau > 0 else np.nan_to_num(value)
    steps = np.where(share > 0, np.clip(np.ceil(share * (TINTS - 1)), 1, TINTS - 1), 0)
    return (first + np.where(member, TINTS, steps)).astype(np.uint8)


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
    several = _SPECIAL - 3 + np.clip(how_many - 2, 0, 2)
    return np.where(how_many > 1, several, codes).astype(np.uint8)


def _axes(
    state: ViewState, layers: tuple[int, ...], heads: int, place: Arrangement, box: Box, mark: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both axes of a panel, in cells; every panel follows the first one's zoom."""
    names: tuple[tuple[str, Sequence[int]], ...] = (("layer", layers), ("head", range(heads)))
    (across, columns), (down, rows) = names[::-1] if state.heads_across else names
    x_size, y_size = box.width / len(columns), box.height / len(rows)
    linked = {"matches": "x"} if mark else {}
    dark = state.view == "causal" and state.gates != "preview"  # its white cells would run into the page
    framed = {"showline": True, "mirror": True, "linecolor": GROUND} if dark else {}
    x = {
        **_axis(across, columns, x_size),
        "anchor": f"y{mark}",
        "domain": [box.left / place.width, (box.left + box.width) / place.width],
        "range": [-0.5, len(columns) - 0.5],
        **linked,
        **framed,
    }
    y = {
        **_axis(down, rows, y_size),
        "anchor": f"x{mark}",
        "domain": [1 - (box.top + box.height) / place.height, 1 - box.top / place.height],
        "range": [-0.5, len(rows) - 0.5] if state.upward else [len(rows) - 0.5, -0.5],
        **({"matches": "y"} if mark else {}),
        **framed,
    }
    return x, y


def _axis(name: str, numbers: Sequence[int], size: float) -> dict[str, Any]:
    """Whole-number ticks, as many as there is room for."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if step * size >= _TICK or step == 1000)
    chosen = list(range(0, len(numbers), step))  # by place: the layers of a hybrid model are not numbered in a row
    return {
        "title": {"text": name, "standoff": 2},
        "tickvals": chosen,
        "ticktext": [str(numbers[i]) for i in chosen],
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }


def _title(panel: Panel, box: Box, place: Arrangement, palette: Colours) -> dict[str, Any]:
    text = f"<b>{plain(panel.title)}</b>  <span style='color:{palette.faint}'>{panel.note}</span>"
    return heading(text, box.left / place.width, 1 - (box.top - 6) / place.height)


def _page(state: ViewState, place: Arrangement, palette: Colours) -> dict[str, Any]:
    return {
        "width": place.width,
        "height": place.height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "annotations": [],
        "shapes": [],
        "font": {"family": FONT, "size": 11, "color": palette.ink},
        "showlegend": False,
        "dragmode": "zoom",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "uirevision": f"{state.model} {state.transpose} {state.view}",  # the zoom stays while colours change
    }
