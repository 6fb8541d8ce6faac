"""The maps as a picture that stands alone: title, legend and provenance are in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from analysis.models.card import HeadId, ModelCard
from dashboard.figures.head_map import INSIDE
from dashboard.figures.numbers import plain
from dashboard.maps.look import SUPPRESS
from dashboard.maps.map import Orientation
from dashboard.maps.panel import Panel
from dashboard.maps.swatch import Swatch

_ABOVE, _BELOW = 64, 52  # pixels for title and legend, and for the provenance
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
    """The same maps on paper of their own."""
    height = figure.layout.height
    figure.update_layout(
        height=height + _ABOVE + _BELOW,
        margin={"l": 8, "r": 8, "t": _ABOVE, "b": _BELOW, "autoexpand": False},
        width=figure.layout.width + 16,
        paper_bgcolor=_PAPER[dark],
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1 + 2 / height,
            "yanchor": "bottom",
            "itemclick": False,
            "bgcolor": "rgba(0,0,0,0)",
        },
    )
    maps = [trace for trace in figure.data if trace.type == "heatmap" and trace.legendgroup != INSIDE]
    for trace, panel in zip(maps, panels, strict=True):
        _add_hover(trace, panel, card, lies)
    for head in pins:
        _add_pin(figure, head, len(panels), card, lies)
    figure.add_traces([_swatch(each) for each in caption.swatches])
    for text, y, anchor, size in (
        (caption.heading, 1 + 34 / height, "bottom", 15),
        (caption.source, -12 / height, "top", 10),
    ):
        figure.add_annotation(
            text=text, x=0, y=y, xref="paper", yref="paper", xanchor="left", yanchor=anchor, showarrow=False,
            font={"size": size}, align="left",
        )  # fmt: skip
    return figure


def _add_hover(trace: go.Heatmap, panel: Panel, card: ModelCard, lies: Orientation) -> None:
    """Away from the page a square tells its own name and score."""
    names = np.array([[f"L{layer}H{head}" for head in range(card.heads)] for layer in card.layers])
    numbers = {measure.name: measure.value for measure in panel.measures} or {"": panel.value}
    stacked = np.stack(list(numbers.values()), axis=-1)
    if not lies.across:
        names, stacked = names.T, stacked.transpose(1, 0, 2)
    told = ", ".join(f"{name} %{{customdata[{i}]:.3g}}".strip() for i, name in enumerate(numbers))
    trace.update(text=names, customdata=stacked, hoverinfo=None, hovertemplate=f"%{{text}}: {told}<extra></extra>")


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


def _swatch(swatch: Swatch) -> go.Scatter:
    """A legend entry; it draws nothing."""
    if swatch.mark & SUPPRESS:
        marker = {"color": swatch.colour, "symbol": "triangle-sw", "size": 11}
    else:
        line = {"color": swatch.colour, "width": 2} if swatch.inside else {"color": "#868e96", "width": 0.5}
        marker = {"color": swatch.inside or swatch.colour, "symbol": "square", "size": 11, "line": line}
    words = plain(swatch.words)
    return go.Scatter(x=[None], y=[None], mode="markers", name=words, marker=marker, xaxis="x", yaxis="y")
