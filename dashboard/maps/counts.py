"""How many heads each panel's question is true of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """A row for each panel: its title, its heads, its colour, all heads."""

    caption: str
    rows: tuple[tuple[str, int, str, int], ...]
