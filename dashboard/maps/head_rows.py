"""What a map says of several heads side by side: rows of a matrix whose columns are the heads."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any


@dataclass(frozen=True)
class HeadCell:
    """One head's place in a row."""

    text: Any  # or pieces of the page
    strength: float = 0.0  # from 0 to 1: how much of its colour it has
    colour: str = ""  # none: the accent
    title: str = ""  # more, for the pointer


@dataclass(frozen=True)
class HeadRow:
    """The same number of every head."""

    title: Any  # text, or a link to the map of this row alone
    cells: tuple[HeadCell, ...]
    when: str = ""  # the key of a setting and the value with which alone the row is shown; empty for always

    @property
    def strongest(self) -> float:
        """The largest strength in the row."""
        return max((cell.strength for cell in self.cells), default=0.0)


@dataclass(frozen=True)
class HeadRows:
    """A map's rows."""

    title: str
    rows: tuple[HeadRow, ...]
    note: str = ""  # below them


def row_of_numbers(title: Any, values: Sequence[float], digits: int = 2) -> HeadRow:
    """A row of numbers between 0 and 1; a missing one is empty."""
    cells = []
    for value in values:
        if isnan(value):
            cells.append(HeadCell("", 0.0))
        else:
            cells.append(HeadCell(f"{value:.{digits}f}", min(max(value, 0.0), 1.0)))
    return HeadRow(title, tuple(cells))
