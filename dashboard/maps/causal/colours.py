"""The colours of the causal map: a code for every cell and a colour for every code, 1 byte a cell."""

from functools import cache

import numpy as np
import numpy.typing as npt

from dashboard.maps.function.panels import Panel
from dashboard.palette import DIM, UNLIT, Colours, added, blend
from dashboard.state import ViewState

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

LEVELS = 13  # of each of two channels: 169 colours
FINE = 65  # of one score or gradient


def coded(panel: Panel, state: ViewState, palette: Colours, scale: float) -> tuple[Codes, list[str]]:
    """A code for every cell, and the colour of every code; the first codes are the reasons for missing scores."""
    missing = list(palette.missing)
    if state.gates == "preview":
        shades = [palette.slope(share) for share in np.linspace(-1, 1, FINE)]
        codes = _level((np.nan_to_num(panel.value) / scale + 1) / 2, FINE)
    elif panel.strengths is None:
        shades, codes = [], np.zeros(panel.value.shape, np.uint8)
    elif len(panel.categories) == 1:
        (role,) = panel.categories
        shades = [palette.glow(role, level) for level in np.linspace(0, 1, FINE)]
        codes = _level(_light(panel.strengths[0], state.role), FINE)
    else:
        shades = list(_squares(palette.channels))
        helps, hurts = (_level(_light(strength, state.role), LEVELS) for strength in panel.strengths)
        codes = helps * LEVELS + hurts
    return np.where(np.isnan(panel.value), panel.reason, codes + len(missing)).astype(np.uint8), missing + shades


@cache
def _squares(channels: tuple[str, str]) -> tuple[str, ...]:
    """Every mixture of the two lights, facilitation first."""
    first, second = ([blend(UNLIT, tone, i / (LEVELS - 1)) for i in range(LEVELS)] for tone in channels)
    return tuple(added(one, other) for one in first for other in second)


def _light(score: Floats, threshold: float) -> Floats:
    known = np.nan_to_num(score)
    return np.where(known >= threshold, known, DIM * known)


def _level(share: Floats, levels: int) -> Codes:
    return np.clip(np.rint(share * (levels - 1)), 0, levels - 1).astype(np.uint8)
