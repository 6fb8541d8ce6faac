"""The maps of heads: one square per head, layers along one side, heads along the other, panels beside each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.arrange import Arrangement, Box
from dashboard.figures.numbers import FONT, Figure, Properties, heading, packed, plain
from dashboard.maps.look import Look
from dashboard.maps.map import Orientation
from dashboard.maps.panel import Panel
from dashboard.palette import Colours

INSIDE = "inside"  # the group of the maps that are drawn over others (scripts)
_TICK = 22  # pixels between tick labels, at least


@dataclass(frozen=True)
class Sheet:
    """What all panels of a figure share."""

    layers: tuple[int, ...]
    lies: Orientation
    place: Arrangement
    palette: Colours
    revision: str  # the zoom stays while this does


def head_maps(panels: Sequence[Panel], looks: Sequence[Look], sheet: Sheet) -> Figure:
    """All panels in one figure, so that they zoom together and leave the page as one picture."""
    layout: Properties = _page(sheet)
    traces, insides = [], []
    for number, (panel, look, box) in enumerate(zip(panels, looks, sheet.place.boxes, strict=True), start=1):
        mark = "" if number == 1 else str(number)
        traces.append(_trace(panel, look, sheet.lies, mark))
        if look.inside is not None:
            insides.append(_inside(panel, look.inside, sheet.lies, box, mark))
        x, y = _axes(sheet, panel.value.shape[1], box, mark)
        framed = {"showline": True, "mirror": True, "linecolor": look.ground} if look.ground else {}
        layout[f"xaxis{mark}"], layout[f"yaxis{mark}"] = {**x, **framed}, {**y, **framed}
        layout["annotations"].append(_title(panel, box, sheet))
        if look.ground:
            layout["shapes"].append(_ground(look.ground, mark))
    return {"data": [*traces, *insides], "layout": layout}


def _inside(panel: Panel, look: Look, lies: Orientation, box: Box, mark: str) -> Properties:
    """Another map over the middles of the cells: only their outlines keep the colour of the first."""
    trace = _trace(panel, look, lies, mark)
    across = panel.value.shape[1 if lies.across else 0]
    outline = min(max(round(box.width / across / 8), 1), 3)  # whole pixels: plotly rounds half of a gap
    gap = trace["xgap"] + 2 * outline
    return {**trace, "xgap": gap, "ygap": gap, "legendgroup": INSIDE, "hoverinfo": "skip"}


def _trace(panel: Panel, look: Look, lies: Orientation, mark: str) -> Properties:
    gap = 1 if min(panel.value.shape) <= 40 else 0.5
    return {
        "type": "heatmap",
        "z": packed(look.numbers if lies.across else look.numbers.T),
        "colorscale": look.scale,
        "zmin": look.low,
        "zmax": look.high,
        "xgap": gap,
        "ygap": gap,
        "xaxis": f"x{mark}",
        "yaxis": f"y{mark}",
        "name": panel.key,
        "showscale": False,
        "meta": look.ground,  # between the cells (scripts)
        "hoverinfo": "none",  # the tooltip is the page's own: it names the head in every panel at once
    }


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
        "uirevision": sheet.revision,
    }
