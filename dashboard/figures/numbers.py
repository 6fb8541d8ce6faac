"""What all figures share: plain data, packed numbers, the page's font."""

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

Figure = dict[str, Any]  # a plotly figure as plain data: building plotly's own object takes longer than all the rest
Properties = dict[str, Any]  # of a trace, an axis, an annotation: as plotly names them

FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"


def packed(array: npt.NDArray[Any]) -> dict[str, str]:
    """An array as plotly reads it from JSON without turning every number into text."""
    kind = {"float32": "f4", "float64": "f8", "uint8": "u1"}[array.dtype.name]
    content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": kind, "bdata": content, "shape": ", ".join(map(str, array.shape))}


def plain(text: str) -> str:
    """A title in which nothing is read as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def see_through(colour: str, share: float) -> str:
    """A colour, written #rrggbb, of which so much is seen."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def heading(text: str, x: float, y: float) -> Properties:
    """A title above a plot, at a place of the whole figure."""
    paper = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "x": x, "y": y, **paper, "showarrow": False, "font": {"size": 13}}
