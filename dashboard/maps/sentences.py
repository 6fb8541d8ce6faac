"""Sentences as plain data, so that the page's scripts can say the same: text, and pieces that stand out."""

from collections.abc import Sequence
from typing import Any

from dash import html

Said = str | dict[str, str]  # text, {"b": bold} or {"code": a command}

_TAGS = {"b": html.B, "code": html.Code}


def bold(text: str) -> Said:
    """A word that stands out."""
    return {"b": text}


def code(text: str) -> Said:
    """Something to type."""
    return {"code": text}


def components(said: Sequence[Said]) -> list[Any]:
    """The same as pieces of the page."""
    pieces: list[Any] = []
    for piece in said:
        if isinstance(piece, str):
            pieces.append(piece)
        else:
            pieces += [_TAGS[tag](text) for tag, text in piece.items()]
    return pieces


def number(value: float) -> str:
    """A number without needless digits."""
    return f"{value:g}"
