"""How the cells of a panel are coloured: a code for every cell, a colour for every code, marks on some cells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.maps.panel import Codes, Panel
from dashboard.palette import Colours, blend

LEVELS = 64  # of a continuous scale
HOLLOW, PALE, SUPPRESS = 1, 2, 4  # flags of a cell's mark (assets/atlas/squares.mjs)


@dataclass(frozen=True, eq=False)
class Look:
    """One byte per cell [layer, head], so that big models stay small on the wire."""

    codes: Codes
    shades: Sequence[str]  # by code
    empty: str = ""  # the colour of a head with nothing to show: what is left out of a marked cell
    marks: Codes | None = None  # flags: outline only; lighter inside; the lower left half of the square
    ground: str = ""  # the colour between the cells; empty: the page's own

    @classmethod
    def of_scores(cls, panel: Panel, palette: Colours) -> "Look":
        """Between empty and the panel's colour, from a score of 0 to a score of 1; reasons where there is none."""
        first, top = len(palette.missing), palette.of(panel.tone)
        share = np.clip(np.nan_to_num(panel.value), 0, 1)
        levels = first + np.rint(share * (LEVELS - 1))
        codes = np.where(np.isnan(panel.value), panel.reason, levels).astype(np.uint8)
        shades = [blend(palette.empty, top, level / (LEVELS - 1)) for level in range(LEVELS)]
        return cls(codes, (*palette.missing, *shades), palette.empty)

    @classmethod
    def of_missing(cls, panel: Panel, palette: Colours) -> "Look":
        """Nothing but the reasons why there is no score."""
        return cls(panel.reason.astype(np.uint8), palette.missing, palette.empty)
