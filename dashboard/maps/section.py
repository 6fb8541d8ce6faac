"""Pieces of the page below the maps: what is always there of each, and what a view shows in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Section:
    """A card with a title. It stays on the page while its content changes."""

    key: str  # the id of its content
    title: str = ""  # without one it is plain text and no card
    hint: str = ""
    height: int = 0  # pixels of a figure that is as wide as its card; 0 for one that has a size of its own
    is_figure: bool = False  # its content is a plotly figure, else pieces of the page
    beside: bool = False  # it shares its row with a neighbour that does, too
    folded: bool = False  # a person opens it
    has_heads: bool = False  # of a figure: its points are heads, named by their customdata
    scripted: bool = False  # the scripts draw its content, which follows the controls

    @property
    def has_own_size(self) -> bool:
        """Whether it is a figure that says itself how large it is."""
        return self.is_figure and not self.height


@dataclass(frozen=True)
class Content:
    """What a view shows in a section, drawn again only when what it depends on has changed."""

    depends: str  # all that it is drawn from, as text
    draw: Callable[[], Any]
    open: bool = False  # of a folded section: it is to be open now
