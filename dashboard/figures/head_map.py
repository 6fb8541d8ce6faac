"""The maps of heads: one square per head, layers along one side, heads along the other, panels beside each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.results.scores import Codes
from dashboard.arrange import Arrangement, Box
from dashboard.figures.numbers import FONT, Figure, Properties, heading, packed, plain
from dashboard.maps.look import HALF, HOLLOW, PALE, Look
from dashboard.maps.map import Orientation
from dashboard.maps.panel import Panel
from dashboard.palette import Colours, blend

INSIDE = "inside"  # the group of the maps that are drawn over others
_TICK = 22  # pixels between tick labels, at least
_NOTHING = "rgba(0,0,0,0)"  # leaves what is below as it is


@dataclass(frozen=True)
class Sheet:
    """What all panels of a figure share."""

    layers: tuple[int, ...]
    lies: Orientation
    place: Arrangement
    palette: Colours


def head_maps(panels: Sequence[Panel], looks: Sequence[Look], sheet: Sheet) -> Figure:
    """All panels in one figure, so that they zoom together and leave the page as one picture."""
    layout: Properties = _page(sheet)
    traces, insides = [], []
    for number, (panel, look, box) in enumerate(zip(panels, looks, sheet.place.boxes, strict=True), start=1):
        mark = "" if number == 1 else str(number)
        traces.append(_trace(panel, _outer(look), [*look.shades, look.empty or _NOTHING], sheet.lies, mark))
        if look.marks is not None and (look.marks & (HOLLOW | PALE)).any():
            insides.append(_inside(panel, look, sheet.lies, box, mark))
        x, y = _axes(sheet, panel.value.shape[1], box, mark)
        framed = {"showline": True, "mirror": True, "linecolor": look.ground} if look.ground else {}
        layout[f"xaxis{mark}"], layout[f"yaxis{mark}"] = {**x, **framed}, {**y, **framed}
        layout["annotations"].append(_title(panel, box, sheet))
        if look.ground:
            layout["shapes"].append(_ground(look.ground, mark))
        layout["shapes"] += _triangles(look, sheet.lies, mark)
    return {"data": [*traces, *insides], "layout": layout}


def _outer(look: Look) -> Codes:
    """The codes of whole squares: one more than there are shades stands for a square of which a triangle is drawn."""
    if look.marks is None:
        return look.codes
    return np.where(look.marks & HALF, len(look.shades), look.codes).astype(np.uint8)


def _inside(panel: Panel, look: Look, lies: Orientation, box: Box, mark: str) -> Properties:
    """Another map over the middles of the cells: empty or lighter, so that an outline of the first remains."""
    marks = np.zeros_like(look.codes) if look.marks is None else look.marks
    whole = (marks & HALF) == 0
    inside = np.where(whole & ((marks & PALE) > 0), look.codes + 2, 0)
    inside = np.where(whole & ((marks & HOLLOW) > 0), 1, inside).astype(np.uint8)
    lighter = [blend(look.empty, shade, 0.5) for shade in look.shades]
    trace = _trace(panel, inside, [_NOTHING, look.empty, *lighter], lies, mark)
    across = panel.value.shape[1 if lies.across else 0]
    outline = min(max(round(box.width / across / 8), 1), 3)  # whole pixels: plotly rounds half of a gap
    gap = trace["xgap"] + 2 * outline
    return {**trace, "xgap": gap, "ygap": gap, "legendgroup": INSIDE, "hoverinfo": "skip"}


def _trace(panel: Panel, codes: Codes, shades: Sequence[str], lies: Orientation, mark: str) -> Properties:
    gap = 1 if min(panel.value.shape) <= 40 else 0.5
    return {
        "type": "heatmap",
        "z": packed(codes if lies.across else codes.T),
        "colorscale": _scale(shades),
        "zmin": -0.5,
        "zmax": len(shades) - 0.5,
        "xgap": gap,
        "ygap": gap,
        "xaxis": f"x{mark}",
        "yaxis": f"y{mark}",
        "name": panel.key,
        "showscale": False,
    }


def _scale(shades: Sequence[str]) -> list[list[Any]]:
    """One colour for each code."""
    scale: list[list[Any]] = []
    for code, shade in enumerate(shades):
        scale += [[code / len(shades), shade], [(code + 1) / len(shades), shade]]
    return scale


def _triangles(look: Look, lies: Orientation, mark: str) -> list[Properties]:
    """The lower left halves of squares, one shape for each fill and line."""
    if look.marks is None:
        return []
    paths: dict[tuple[str, str], list[str]] = {}
    for layer, head in np.argwhere(look.marks & HALF):
        shade, flags = look.shades[look.codes[layer, head]], look.marks[layer, head]
        fill = look.empty if flags & HOLLOW else blend(look.empty, shade, 0.5) if flags & PALE else shade
        x, y = (head, layer) if lies.across else (layer, head)
        up = 1 if lies.upward else -1
        low, left, span = y - 0.46 * up, x - 0.46, 0.92
        corners = f"M{left:.2f},{low + span * up:.2f}L{left:.2f},{low:.2f}L{left + span:.2f},{low:.2f}Z"
        paths.setdefault((fill, shade), []).append(corners)
    shapes = []
    for (fill, shade), corners_of_all in paths.items():
        line = {"color": shade, "width": 1.5 if fill != shade else 0}
        where = {"xref": f"x{mark}", "yref": f"y{mark}"}
        shapes.append({"type": "path", "path": "".join(corners_of_all), "fillcolor": fill, "line": line, **where})
    return shapes


def _ground(colour: str, mark: str) -> Properties:
    """Paper of another colour under the cells."""
    where = {"xref": f"x{mark} domain", "yref": f"y{mark} domain", "x0": 0, "x1": 1, "y0": 0, "y1": 1}
    return {"type": "rect", **where, "fillcolor": colour, "line": {"width": 0}, "layer": "below"}


def _axes(sheet: Sheet, heads: int, box: Box, mark: str) -> tuple[Properties, Properties]:
    """Both axes of a panel, in cells; every panel follows the first one's zoom."""
    place = sheet.place
    names: tuple[tuple[str, Sequence[int]], ...] = (("layer", sheet.layers), ("head", range(heads)))
    (across, columns), (down, rows) = names[::-1] if sheet.lies.across else names
    x = {
        **_axis(across, columns, box.width / len(columns)),
        "anchor": f"y{mark}",
        "domain": [box.left / place.width, (box.left + box.width) / place.width],
        "range": [-0.5, len(columns) - 0.5],
    }
    y = {
        **_axis(down, rows, box.height / len(rows)),
        "anchor": f"x{mark}",
        "domain": [1 - (box.top + box.height) / place.height, 1 - box.top / place.height],
        "range": [-0.5, len(rows) - 0.5] if sheet.lies.upward else [len(rows) - 0.5, -0.5],
    }
    if mark:
        x["matches"], y["matches"] = "x", "y"
    return x, y


def _axis(name: str, numbers: Sequence[int], size: float) -> Properties:
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


def _title(panel: Panel, box: Box, sheet: Sheet) -> Properties:
    place = sheet.place
    text = f"<b>{plain(panel.title)}</b>  <span style='color:{sheet.palette.faint}'>{panel.note}</span>"
    return heading(text, box.left / place.width, 1 - (box.top - 6) / place.height)


def _page(sheet: Sheet) -> Properties:
    return {
        "width": sheet.place.width,
        "height": sheet.place.height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "annotations": [],
        "shapes": [],
        "font": {"family": FONT, "size": 11, "color": sheet.palette.ink},
        "showlegend": False,
        "dragmode": "zoom",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
