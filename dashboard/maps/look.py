"""How the cells of a panel are coloured: a code for every cell, a colour for every code, marks on some cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.results.scores import Floats
from dashboard.maps.panel import Codes, Panel
from dashboard.palette import Colours, blend

NOTHING = "rgba(0,0,0,0)"  # a colour that leaves what is below as it is (scripts)
HOLLOW, PALE, SUPPRESS = 1, 2, 4  # marks, which add up: an outline, a lighter inside, half of the square (scripts)
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

    # ---- As plotly takes it --------------------------------------------------------------------------------------

    @property
    def numbers(self) -> Codes:
        """The numbers of a heat map."""
        return self.codes

    @property
    def scale(self) -> list[list[Any]]:
        """Its colour scale: [place from 0 to 1, colour], a step for each code."""
        steps: list[list[Any]] = []
        for code, shade in enumerate(self.shades):
            steps += [[code / len(self.shades), shade], [(code + 1) / len(self.shades), shade]]
        return steps

    @property
    def low(self) -> float:
        """The number at the beginning of the scale."""
        return -0.5

    @property
    def high(self) -> float:
        """The number at its end."""
        return len(self.shades) - 0.5

    @property
    def inside(self) -> "Look | None":
        """What is drawn over the middle of each cell, of which an outline remains: empty, or a lighter shade."""
        if self.marks is None or not (self.marks & (HOLLOW | PALE)).any():
            return None
        codes = np.zeros(self.codes.shape, np.uint8)
        pale, hollow = self.marks & PALE > 0, self.marks & HOLLOW > 0
        codes[pale] = self.codes[pale] + 2
        codes[hollow] = 1
        lighter = [blend(self.empty, shade, 0.5) for shade in self.shades]
        return Look(codes, [NOTHING, self.empty, *lighter])


def level(share: Floats, levels: int) -> Codes:
    """The nearest of so many levels, for shares from 0 to 1; halves go up, as in the scripts."""
    filled = np.nan_to_num(share)
    return np.clip(np.floor(filled * (levels - 1) + 0.5), 0, levels - 1).astype(np.uint8)


def scale(lowest: str, highest: str, levels: int = LEVELS) -> list[str]:
    """The colours of so many levels between two."""
    return [blend(lowest, highest, i / (levels - 1)) for i in range(levels)]
