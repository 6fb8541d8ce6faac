"""The colours of the causal map: a code for every cell and a colour for every code, 1 byte per cell."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from dashboard.maps.causal.gates import COLUMN_NAMES, PREVIEW
from dashboard.maps.causal.state import CausalState
from dashboard.maps.look import Look
from dashboard.maps.panel import Codes, Panel
from dashboard.palette import DIM, UNLIT, Colours, added, blend

Floats = npt.NDArray[np.float64]

GROUND = "#30353d"  # under cells of light: on white the gaps between black cells would outshine them
LEVELS = 13  # of each of two channels: 169 colours
FINE = 65  # of one score or gradient


def looks(panels: Sequence[Panel], state: CausalState, palette: Colours) -> list[Look]:
    """Two lights added, one score from dark to light, or gradients around 0 with one scale for each column."""
    scales = steepest(panels)
    coloured = []
    for panel in panels:
        codes, shades = _coded(panel, state, palette, scales[panel.column])
        shown_codes = np.where(np.isnan(panel.value), panel.reason, codes + len(palette.missing))
        ground = "" if state.gates == PREVIEW else GROUND
        coloured.append(Look(shown_codes.astype(np.uint8), (*palette.missing, *shades), palette.empty, ground=ground))
    return coloured


def _coded(panel: Panel, state: CausalState, palette: Colours, scale: float) -> tuple[Codes, Sequence[str]]:
    """A code for every cell, and the colour of every code."""
    if state.gates == PREVIEW:
        shades = [palette.slope(share) for share in np.linspace(-1, 1, FINE)]
        return _level((np.nan_to_num(panel.value) / scale + 1) / 2, FINE), shades
    if panel.strengths is None:
        return np.zeros(panel.value.shape, np.uint8), []
    if len(panel.categories) == 1:
        shades = [palette.glow(panel.categories[0], level) for level in np.linspace(0, 1, FINE)]
        return _level(_light(panel.strengths[0], state.threshold), FINE), shades
    helps, hurts = (_level(_light(strength, state.threshold), LEVELS) for strength in panel.strengths)
    return helps * LEVELS + hurts, _squares(palette.channels)


@cache
def _squares(channels: tuple[str, str]) -> tuple[str, ...]:
    """Every mixture of the two lights, facilitation first."""
    first, second = ([blend(UNLIT, tone, i / (LEVELS - 1)) for i in range(LEVELS)] for tone in channels)
    return tuple(added(one, other) for one in first for other in second)


def _light(score: Floats, threshold: float) -> Floats:
    filled = np.nan_to_num(score)
    return np.where(filled >= threshold, filled, DIM * filled)


def _level(share: Floats, levels: int) -> Codes:
    return np.clip(np.rint(share * (levels - 1)), 0, levels - 1).astype(np.uint8)


def steepest(panels: Sequence[Panel]) -> dict[str, float]:
    """Of each column the largest gradient, up to which its scale goes; never 0. Means are far below single prompts."""
    scales: dict[str, float] = {}
    for panel in panels:
        most = 0.0 if panel.is_empty else float(np.nanmax(np.abs(panel.value)))
        scales[panel.column] = max(scales.get(panel.column, 0.0), most)
    return {column: scale or 1.0 for column, scale in scales.items()}


def scale_words(panels: Sequence[Panel]) -> str:
    """How far each column's scale goes, of those that show anything."""
    scales = {column: scale for column, scale in steepest(panels).items() if _shows(panels, column)}
    if len(scales) == 1:
        return f"±{next(iter(scales.values())):.2g}"
    return ", ".join(f"{COLUMN_NAMES[column]} ±{scale:.2g}" for column, scale in scales.items())


def _shows(panels: Sequence[Panel], column: str) -> bool:
    return any(np.nan_to_num(panel.value).any() for panel in panels if panel.column == column)
