"""How many heads each panel's question is true of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PanelCounts:
    """A row for each panel: its title, its heads, its colour, all heads."""

    caption: str
    rows: tuple[tuple[str, int, str, int], ...]


@dataclass(frozen=True)
class ShareTable:
    """How many heads are something, of one task in several columns."""

    task: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[float, ...]], ...]  # words, colour, heads in each column (-1: not known)
    total: int
