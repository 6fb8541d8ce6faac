"""How the cells of a panel are coloured: a number for every cell, a colour for every number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.results.scores import Floats
from dashboard.maps.panel import Codes, Panel
from dashboard.palette import Colours

NOTHING = "rgba(0,0,0,0)"  # a colour that leaves what is below as it is (scripts)


@dataclass(frozen=True, eq=False)
class Look:
    """The numbers of a heat map [layer, head] and its colour scale."""

    numbers: npt.NDArray[Any]
    scale: list[list[Any]]  # [place from 0 to 1, colour]
    low: float
    high: float
    ground: str = ""  # the colour between cells of light; empty: the page's own
    inside: "Look | None" = None  # drawn over the middle of each cell, of which an outline remains

    @classmethod
    def of_codes(cls, codes: Codes, shades: Sequence[str], ground: str = "") -> "Look":
        """One colour for each code: 1 byte per cell, so that big models stay small on the wire."""
        scale: list[list[Any]] = []
        for code, shade in enumerate(shades):
            scale += [[code / len(shades), shade], [(code + 1) / len(shades), shade]]
        return cls(codes, scale, -0.5, len(shades) - 0.5, ground)

    @classmethod
    def of_scores(cls, scores: Floats, lowest: str, highest: str) -> "Look":
        """Colours between two, from a score of 0 to a score of 1."""
        return cls(scores.astype(np.float32), [[0, lowest], [1, highest]], 0, 1)

    @classmethod
    def of_missing(cls, panel: Panel, palette: Colours) -> "Look":
        """Nothing but the reasons why there is no score."""
        return cls.of_codes(panel.reason.astype(np.uint8), palette.missing)
