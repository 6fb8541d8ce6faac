"""Small plots of the same kind side by side, or below each other where there is no room."""

from collections.abc import Sequence

from dashboard.figures.numbers import FONT, Figure, Properties, heading, plain
from dashboard.palette import Colours

_LEAST = 320  # pixels of a plot with its margins
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 24, 40
_LEGEND, _LEGEND_BROKEN, _NARROW = 26, 46, 480  # pixels of a legend on one line, on two, and from where it has one


def small_multiples(titles: Sequence[str], width: int, height: int, palette: Colours) -> Figure:
    """An empty plot under each title; further ones share the first one's y axis."""
    beside = max(1, min(len(titles), width // _LEAST))
    rows = max(1, -(-len(titles) // beside))
    legend = _LEGEND if width >= _NARROW else _LEGEND_BROKEN
    total = rows * height + legend
    layout: Properties = {
        "width": width,
        "height": total,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "font": {"family": FONT, "size": 11, "color": palette.ink},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "top",
            "bgcolor": "rgba(0,0,0,0)",
            "font": {"size": 12},
        },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "annotations": [],
        "dragmode": False,
    }
    for number, title in enumerate(titles):
        mark = "" if number == 0 else str(number + 1)
        left = number % beside * (width // beside) + _LEFT
        top = number // beside * height + _TOP + legend
        right, bottom = left + width // beside - _LEFT - _RIGHT, top + height - _TOP - _BOTTOM
        layout[f"xaxis{mark}"] = {**_axis(palette), "domain": [left / width, right / width], "anchor": f"y{mark}"}
        shared = {"matches": "y"} if mark else {}
        domain = [1 - bottom / total, 1 - top / total]
        layout[f"yaxis{mark}"] = {**_axis(palette), "domain": domain, "anchor": f"x{mark}", "nticks": 5, **shared}
        layout["annotations"].append(heading(f"<b>{plain(title)}</b>", left / width, 1 - (top - 4) / total))
    return {"data": [], "layout": layout}


def _axis(palette: Colours) -> Properties:
    return {"gridcolor": palette.empty, "zeroline": False, "fixedrange": True}
