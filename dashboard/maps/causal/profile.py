"""Beside each panel of the causal map: the share of a layer's heads that facilitate, and that interfere."""

from collections.abc import Sequence

import numpy as np

from dashboard.arrange import Arrangement, Box
from dashboard.figures.numbers import Properties, packed
from dashboard.maps.map import Orientation
from dashboard.maps.panel import Panel, layer_profile
from dashboard.palette import Colours

Axes = Properties

_ROOMY = 110  # pixels from which there is room for words


def side_profiles(
    panels: Sequence[Panel], lies: Orientation, layers: tuple[int, ...], place: Arrangement, palette: Colours
) -> tuple[list[Properties], Axes]:
    """Bars on the panels' own layer axis, facilitation to the right (or up), interference to the left (or down)."""
    traces: list[Properties] = []
    axes: Axes = {"barmode": "relative", "bargap": 0.15}
    most = max((_most(panel) for panel in panels), default=0.0) or 1.0
    two = any(len(panel.categories) == 2 for panel in panels)
    for number, (panel, box) in enumerate(zip(panels, place.sides, strict=True), start=1):
        mark = str(len(panels) + number)
        traces += _bars(panel, lies, layers, palette, mark)
        axes |= _axes(lies, len(layers), place, box, mark, (-most if two else 0.0, most), palette)
    return traces, axes


def _most(panel: Panel) -> float:
    return float(np.nanmax(np.nan_to_num(layer_profile(panel)), initial=0.0)) if panel.belongs is not None else 0.0


def _bars(panel: Panel, lies: Orientation, layers: tuple[int, ...], palette: Colours, mark: str) -> list[Properties]:
    """One trace for each role; an empty one keeps the number of traces when nothing is known."""
    rows = layer_profile(panel) if panel.belongs is not None else np.zeros((1, len(layers)))
    across = lies.across
    bars = []
    for i, row in enumerate(rows):
        signed = np.nan_to_num(-row if i else row)
        place = list(range(len(layers)))
        bars.append(
            {
                "type": "bar",
                "x": packed(signed) if across else place,
                "y": place if across else packed(signed),
                "orientation": "h" if across else "v",
                "customdata": list(layers),
                "text": [f"{100 * share:.0f} %" for share in np.nan_to_num(row)],
                "textposition": "none",
                "hovertemplate": "layer %{customdata}: %{text}<extra></extra>",
                "marker": {"color": palette.of(panel.categories[i] if panel.categories else "")},
                "name": f"{panel.key} {i}",
                "xaxis": f"x{mark}",
                "yaxis": f"y{mark}",
                "showlegend": False,
            }
        )
    return bars


def _axes(
    lies: Orientation, layers: int, place: Arrangement, box: Box, mark: str, ends: tuple[float, float], palette: Colours
) -> Axes:
    """The layers follow the panel's axis; the shares have one scale in all panels."""
    across = [box.left / place.width, (box.left + box.width) / place.width]
    up = [1 - (box.top + box.height) / place.height, 1 - box.top / place.height]
    marked = (-ends[1], 0.0, ends[1]) if box.width >= _ROOMY else (0.0,)
    ticks = [tick for tick in marked if tick >= ends[0]]
    share = {
        "range": [ends[0] * 1.2, ends[1] * 1.2],
        "tickvals": ticks,
        "ticktext": [f"{abs(100 * tick):.0f} %" for tick in ticks],
        "fixedrange": True,
        "zeroline": True,
        "zerolinecolor": palette.faint,
        "zerolinewidth": 1,
        "showgrid": False,
        "ticks": "",
    }
    ends_of_layers = [-0.5, layers - 0.5]
    layer = {"range": ends_of_layers, "showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    if lies.across:
        words = "share of heads" if ends[0] == 0 else "N · share of heads · F" if box.width >= _ROOMY else "N · F"
        title = {"title": {"text": words, "standoff": 2}}
        x, y = {**share, **title}, {**layer, "matches": "y"}
    else:
        x, y = {**layer, "matches": "x"}, share
    return {
        f"xaxis{mark}": {**x, "domain": across, "anchor": f"y{mark}"},
        f"yaxis{mark}": {**y, "domain": up, "anchor": f"x{mark}"},
    }
