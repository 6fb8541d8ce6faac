"""A small map of all heads with one of them outlined, as an SVG picture."""

import base64

import numpy as np
from dash import html

from analysis.models.card import HeadId, ModelCard
from dashboard.maps.panel import Panel
from dashboard.palette import Colours, blend

_LEVELS = 12  # shades; squares of one shade are one path
_CELL = 10  # units of a square's side


def small_map(panel: Panel, card: ModelCard, head: HeadId, palette: Colours) -> html.Img:
    """Layers across, heads down; the stronger the colour, the higher the panel's value among all heads."""
    drawn = _drawn(panel, palette)
    column, row = card.layers.index(head.layer), head.head
    outline = (
        f'<rect x="{column * _CELL - 2}" y="{row * _CELL - 2}" width="{_CELL + 4}" height="{_CELL + 4}" '
        'fill="none" stroke="#d6336c" stroke-width="3"/>'
    )
    width, height = len(card.layers) * _CELL, card.heads * _CELL
    box = f"-4 -4 {width + 8} {height + 8}"
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{drawn}{outline}</svg>'
    content = base64.b64encode(picture.encode()).decode()
    words = f"{panel.title}: all heads, layers across and heads down, {head} outlined"
    return html.Img(src=f"data:image/svg+xml;base64,{content}", alt=words)


def _drawn(panel: Panel, palette: Colours) -> str:
    """A path for each shade."""
    filled = np.nan_to_num(np.abs(panel.value))
    share = filled / (filled.max() or 1.0)
    levels = np.rint(share * (_LEVELS - 1)).astype(int)  # [layer, head]
    paths = []
    for level in np.unique(levels).tolist():
        squares = []
        for layer, head in zip(*np.nonzero(levels == level), strict=True):
            squares.append(f"M{layer * _CELL} {head * _CELL}h{_CELL - 1}v{_CELL - 1}h-{_CELL - 1}z")
        colour = blend(palette.empty, palette.of(panel.tone), level / (_LEVELS - 1))
        paths.append(f'<path fill="{colour}" d="{"".join(squares)}"/>')
    return "".join(paths)
