"""A piece of the page below the maps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Section:
    """A card with a title, drawn again only when what it depends on has changed."""

    key: str  # the id of its content
    depends: str  # all that it shows, as text
    draw: Callable[[], Any]
    title: str = ""  # without one it is plain text and no card
    hint: str = ""
    beside: bool = False  # it shares its row with a neighbour that does, too
    folded: bool = False  # a person opens it
    open: bool = False  # folded, but open now
