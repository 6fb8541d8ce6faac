"""A small map of all heads with one of them outlined, as an SVG picture."""

import base64

import numpy as np
from dash import html

from analysis.models.card import HeadId, ModelCard
from dashboard.maps.look import HALF, HOLLOW, Look
from dashboard.palette import blend

_CELL = 10  # units of a square's side
_INSIDE = "m2 2h5v5h-5z"  # of a square that is an outline
_UPPER_HALF = f"h{_CELL - 1}v{_CELL - 1}z"  # what half a square leaves out
_INSIDE_HALF = "m2 4v3h3z"  # of half a square that is an outline


def small_map(title: str, look: Look, card: ModelCard, head: HeadId) -> html.Img:
    """Layers across, heads down, in the colours that the map itself has."""
    drawn = _drawn(look) + _marks(look)
    column, row = card.layers.index(head.layer), head.head
    outline = (
        f'<rect x="{column * _CELL - 2}" y="{row * _CELL - 2}" width="{_CELL + 4}" height="{_CELL + 4}" '
        'fill="none" stroke="#d6336c" stroke-width="3"/>'
    )
    width, height = len(card.layers) * _CELL, card.heads * _CELL
    box = f"-4 -4 {width + 8} {height + 8}"
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{drawn}{outline}</svg>'
    content = base64.b64encode(picture.encode()).decode()
    words = f"{title}: all heads, layers across and heads down, {head} outlined"
    return html.Img(src=f"data:image/svg+xml;base64,{content}", alt=words)


def _drawn(look: Look) -> str:
    """A path for each colour."""
    paths = []
    for code in np.unique(look.codes).tolist():
        squares = []
        for layer, head in zip(*np.nonzero(look.codes == code), strict=True):
            squares.append(f"M{layer * _CELL} {head * _CELL}h{_CELL - 1}v{_CELL - 1}h-{_CELL - 1}z")
        paths.append(f'<path fill="{look.shades[code]}" d="{"".join(squares)}"/>')
    return "".join(paths)


def _marks(look: Look) -> str:
    """Half squares, and what is inside those that are not filled."""
    if look.marks is None:
        return ""
    paths = []
    for layer, head in zip(*np.nonzero(look.marks), strict=True):
        flags = int(look.marks[layer, head])
        start = f"M{layer * _CELL} {head * _CELL}"
        if flags & HALF:
            paths.append(f'<path fill="{look.empty}" d="{start}{_UPPER_HALF}"/>')
        if flags & ~HALF:
            inside = look.empty if flags & HOLLOW else blend(look.shades[look.codes[layer, head]], look.empty, 0.5)
            paths.append(f'<path fill="{inside}" d="{start}{_INSIDE_HALF if flags & HALF else _INSIDE}"/>')
    return "".join(paths)
