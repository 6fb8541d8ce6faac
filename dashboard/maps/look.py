"""How the cells of a panel are coloured: a code for every cell, a colour for every code, marks on some cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.results.scores import Codes, Floats
from dashboard.maps.panel import Panel
from dashboard.palette import Colours, blend

HOLLOW, PALE, HALF = 1, 2, 4  # flags of a cell's mark (assets/atlas/squares.mjs)
LEVELS = 64  # of a continuous scale


@dataclass(frozen=True, eq=False)
class Look:
    """The codes of a map [layer, head], 1 byte per cell so that big models stay small on the wire."""

    codes: Codes
    shades: Sequence[str]  # by code
    empty: str = ""  # the colour of a head with nothing to show: what is left out of a marked cell
    marks: Codes | None = None  # flags: outline only; lighter inside; the lower left half of the square
    ground: str = ""  # the colour between the cells; empty: the page's own

    @classmethod
    def of_scores(cls, panel: Panel, palette: Colours) -> "Look":
        """Colours between empty and the panel's own, from a score of 0 to a score of 1."""
        shades = [*palette.missing, *scale(palette.empty, palette.of(panel.tone))]
        codes = np.where(np.isnan(panel.value), panel.reason, level(panel.value, LEVELS) + len(palette.missing))
        return cls(codes.astype(np.uint8), tuple(shades), palette.empty)

    @classmethod
    def of_missing(cls, panel: Panel, palette: Colours) -> "Look":
        """Nothing but the reasons why there is no score."""
        return cls(panel.reason.astype(np.uint8), palette.missing, palette.empty)


def level(share: Floats, levels: int) -> Codes:
    """The nearest of so many levels, for shares from 0 to 1; halves go up, as in the scripts."""
    filled = np.nan_to_num(share)
    return np.clip(np.floor(filled * (levels - 1) + 0.5), 0, levels - 1).astype(np.uint8)


def scale(lowest: str, highest: str, levels: int = LEVELS) -> list[str]:
    """The colours of so many levels between two."""
    return [blend(lowest, highest, i / (levels - 1)) for i in range(levels)]


def slopes(palette: Colours, levels: int) -> list[str]:
    """The colours of a scale with a middle, from its lower end to its upper one."""
    half = (levels - 1) / 2
    return [palette.slope((step - half) / half) for step in range(levels)]
