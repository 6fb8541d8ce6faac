"""The maps as a picture that stands alone: title, legend and provenance are in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from analysis.models.card import HeadId, ModelCard
from dashboard.figures.head_map import INSIDE
from dashboard.figures.numbers import plain
from dashboard.maps.look import HALF
from dashboard.maps.map import Orientation
from dashboard.maps.panel import Panel
from dashboard.maps.swatch import Swatch

_HEADING, _ROW, _BELOW = 34, 18, 30  # pixels for the title, a row of the legend, and the provenance
_SIDE, _SQUARE, _NARROWEST = 10, 11, 480  # pixels beside the maps, of a colour in the legend, of the paper at least
_LETTER = 0.54  # the width of a letter by its height, on average
_PIN = "#14171c"  # around a pinned head, with white, as in assets/4-maps.css
_PAPER = {False: "#ffffff", True: "#14171c"}


@dataclass(frozen=True)
class Caption:
    """What a picture says of itself."""

    heading: str  # with markup: texts of others in it are `plain`
    source: str
    swatches: Sequence[Swatch]


def picture(
    figure: go.Figure,
    panels: Sequence[Panel],
    card: ModelCard,
    lies: Orientation,
    pins: Sequence[HeadId],
    caption: Caption,
    dark: bool,
) -> go.Figure:
    """The same maps on paper of their own, which is no wider than they and their words need."""
    entries = _legend(caption.swatches, _cropped(figure, caption))
    height, above = figure.layout.height, _HEADING + _ROW * (1 + max((entry.row for entry in entries), default=0))
    maps = [trace for trace in figure.data if trace.type == "heatmap" and trace.legendgroup != INSIDE]
    for trace, panel in zip(maps, panels, strict=True):
        _add_hover(trace, panel, card, lies)
    for head in pins:
        _add_pin(figure, head, len(panels), card, lies)
    for entry in entries:
        _add_entry(figure, entry, (above - _HEADING - _ROW * entry.row) / height)
    _add_text(figure, caption.heading, 1 + (above - 8) / height, "top", 15)
    _add_text(figure, caption.source, -4 / height, "top", 10)
    figure.update_layout(
        height=height + above + _BELOW,
        margin={"l": _SIDE, "r": _SIDE, "t": above, "b": _BELOW, "autoexpand": False},
        width=figure.layout.width + 2 * _SIDE,
        paper_bgcolor=_PAPER[dark],
        showlegend=False,
    )
    return figure


def _cropped(figure: go.Figure, caption: Caption) -> float:
    """Take away the paper to the right of the last map; gives the width that is left, in pixels."""
    axes = [axis for axis in figure.layout.to_plotly_json() if axis.startswith("xaxis")]
    before = figure.layout.width
    right = max(figure.layout[axis].domain[1] for axis in axes) * before + _SIDE
    words = max(_width(caption.heading, 15), _width(caption.source, 10))
    after = min(before, max(right, words, _NARROWEST))
    for axis in axes:
        start, end = figure.layout[axis].domain
        figure.layout[axis].domain = [start * before / after, min(1, end * before / after)]
    for note in figure.layout.annotations:
        if note.xref == "paper":
            note.x *= before / after
    figure.layout.width = after
    return float(after)


@dataclass(frozen=True)
class _PlacedSwatch:
    """A colour of the legend and where it stands, in pixels from the left and in rows from the top."""

    swatch: Swatch
    left: float
    row: int
    share: float  # of the paper's width that a pixel is


def _legend(swatches: Sequence[Swatch], width: float) -> list[_PlacedSwatch]:
    """All entries, in as many rows as they need."""
    entries: list[_PlacedSwatch] = []
    left, row = 0.0, 0
    for swatch in swatches:
        wide = _SQUARE + 6 + _width(swatch.words, 11) + 16
        if left and left + wide > width:
            left, row = 0.0, row + 1
        entries.append(_PlacedSwatch(swatch, left, row, 1 / width))
        left += wide
    return entries


def _width(text: str, size: int) -> float:
    """About how wide a text is; markup in it has no width."""
    return len(re.sub(r"<[^>]*>|&[a-z]+;", "", text)) * size * _LETTER


def _add_entry(figure: go.Figure, entry: _PlacedSwatch, y: float) -> None:
    """A square in its colour, or half of one, and its words beside it; `y` is above the maps."""
    swatch, height = entry.swatch, figure.layout.height
    left, right = entry.left * entry.share, (entry.left + _SQUARE) * entry.share
    top, bottom = 1 + y, 1 + y - _SQUARE / height
    where = {"xref": "paper", "yref": "paper", "layer": "above"}
    line = {"color": swatch.colour, "width": 2} if swatch.inside else {"color": "#868e96", "width": 0.5}
    if swatch.mark & HALF:
        corners = f"M {left} {top} L {right} {bottom} L {left} {bottom} Z"
        figure.add_shape(type="path", path=corners, fillcolor=swatch.colour, line={"width": 0}, **where)
    else:
        fill = swatch.inside or swatch.colour
        figure.add_shape(type="rect", x0=left, x1=right, y0=bottom, y1=top, fillcolor=fill, line=line, **where)
    figure.add_annotation(
        text=plain(swatch.words), x=right + 6 * entry.share, y=(top + bottom) / 2, xref="paper", yref="paper",
        xanchor="left", yanchor="middle", showarrow=False, font={"size": 11},
    )  # fmt: skip


def _add_text(figure: go.Figure, text: str, y: float, anchor: str, size: int) -> None:
    figure.add_annotation(
        text=text, x=0, y=y, xref="paper", yref="paper", xanchor="left", yanchor=anchor, showarrow=False,
        font={"size": size}, align="left",
    )  # fmt: skip


def _add_hover(trace: go.Heatmap, panel: Panel, card: ModelCard, lies: Orientation) -> None:
    """Away from the page a square tells its own name and score."""
    names = np.empty((len(card.layers), card.heads), dtype=object)
    for row, layer in enumerate(card.layers):
        for head in range(card.heads):
            names[row, head] = f"L{layer}H{head}"
    numbers = {measure.name: measure.value for measure in panel.measures} or {"": panel.value}
    stacked = np.stack(list(numbers.values()), axis=-1)
    if not lies.across:
        names, stacked = names.T, stacked.transpose(1, 0, 2)
    shown = ", ".join(f"{name} %{{customdata[{i}]:.3g}}".strip() for i, name in enumerate(numbers))
    trace.update(text=names, customdata=stacked, hoverinfo=None, hovertemplate=f"%{{text}}: {shown}<extra></extra>")


def _add_pin(figure: go.Figure, head: HeadId, panels: int, card: ModelCard, lies: Orientation) -> None:
    """A pinned head is outlined in every map and named in the first."""
    layer = card.layers.index(head.layer)
    x, y = (head.head, layer) if lies.across else (layer, head.head)
    corners = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
    for mark in ("", *(str(number) for number in range(2, panels + 1))):
        for colour, width in (("#ffffff", 5), (_PIN, 2)):  # seen on every colour
            figure.add_shape(xref=f"x{mark}", yref=f"y{mark}", line={"color": colour, "width": width}, **corners)
    left = x > figure.layout.xaxis.range[1] / 2  # the name stands where the map has more room
    figure.add_annotation(
        text=str(head), xref="x", yref="y", x=x - 0.6 if left else x + 0.6, y=y,
        xanchor="right" if left else "left", yanchor="middle", showarrow=False,
        bgcolor=_PIN, bordercolor="#ffffff", borderpad=1, font={"size": 9, "color": "#ffffff"},
    )  # fmt: skip
