"""Label against cause, head by head: a plot for each panel, and where the same is compared with anything else."""

from math import ceil

import numpy as np

from analysis.evidence.agreement import NAME, LabelComparison
from analysis.evidence.quantity import ANY, strength_key
from analysis.results.own_sets import found_set, own_items, set_id
from dashboard.addresses import CompareState, compare_address
from dashboard.figures.numbers import FONT, Figure, Properties, heading, packed, plain
from dashboard.maps.agreement.sides import AgreementView, comparisons_of, sides
from dashboard.palette import Colours
from dashboard.query import named

_NARROWEST = 300  # pixels of a plot; with less room they stand below each other
_HEIGHT = 290  # pixels of a row of plots
_GAP = 0.07  # between plots, as a share of the whole


def address(shown: AgreementView, each: LabelComparison) -> str:
    """The same heads on the page that compares any two numbers, coloured by their classes."""
    model = named(shown.card)
    own = own_items(dict(shown.by_method)[each.what].provenance)
    chosen = found_set(shown.sets, set_id((item.name, item.hash) for item in own)) if own else None
    state = CompareState(
        a=model,
        b=model,
        own=chosen.address if chosen is not None else "",
        x=strength_key(each.what, each.item if each.own else ANY),
        y=strength_key(each.whether, each.item),
        colour="/".join((NAME, each.what, each.whether, each.item)),
    )
    return compare_address(state)


def scatter(shown: AgreementView, width: int, palette: Colours) -> Figure:
    """A plot for each task or relation; points carry the names of their heads, which links them with the maps."""
    comparisons = comparisons_of(shown, "mean", "all")
    columns = max(1, min(len(comparisons), width // _NARROWEST))
    rows = ceil(len(comparisons) / columns)
    layout: Properties = {
        "height": rows * _HEIGHT,
        "margin": {"l": 46, "r": 12, "t": 26, "b": 40},
        "font": {"family": FONT, "size": 11, "color": palette.ink},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "annotations": [],
    }
    points = []
    for at, each in enumerate(comparisons):
        number = str(at + 1) if at else ""
        left, right = _span(at % columns, columns)
        top, bottom = (1 - edge for edge in _span(at // columns, rows, 2 * _GAP))
        label, cause = sides(shown).label.words, sides(shown).cause.words
        layout[f"xaxis{number}"] = _axis(label, (left, right), f"y{number}", palette)
        layout[f"yaxis{number}"] = _axis(cause, (bottom, top), f"x{number}", palette)
        layout["annotations"].append(heading(plain(each.title), left, top))
        points.append(_points(shown, each, number, palette))
    return {"data": points, "layout": layout}


def _span(at: int, count: int, gap: float = _GAP) -> tuple[float, float]:
    """Where one of several that share the whole begins and ends."""
    size = (1 - gap * (count - 1)) / count
    start = at * (size + gap)
    return start, start + size


def _axis(title: str, domain: tuple[float, float], anchor: str, palette: Colours) -> Properties:
    return {
        "title": {"text": plain(title), "standoff": 4},
        "domain": [max(domain[0], 0.0), min(domain[1], 1.0)],
        "anchor": anchor,
        "gridcolor": palette.empty,
        "zeroline": False,
        "fixedrange": True,
        "nticks": 6,
    }


def _points(shown: AgreementView, each: LabelComparison, number: str, palette: Colours) -> Properties:
    """The heads that have both numbers."""
    x, y = each.label.ravel(), each.cause.ravel()
    names = [f"L{layer}H{head}" for layer in shown.card.layers for head in range(shown.card.heads)]
    drawn = ~(np.isnan(x) | np.isnan(y))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": packed(x[drawn].astype(np.float32)),
        "y": packed(y[drawn].astype(np.float32)),
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "customdata": [name for name, flag in zip(names, drawn, strict=True) if flag],
        "meta": {"tone": ""},  # by which the scripts follow the palette
        "marker": {"color": palette.of(""), "size": 7, "opacity": 0.65, "line": {"width": 0}},
        "selected": {"marker": {"color": palette.pin, "size": 11, "opacity": 1}},
        "unselected": {"marker": {"opacity": 0.65}},
        "hoverinfo": "none",  # the tooltip is the page's own
        "cliponaxis": False,
    }
