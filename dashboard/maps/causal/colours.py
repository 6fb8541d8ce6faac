"""The colours of the causal map: a code for every cell and a colour for every code, 1 byte per cell."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from analysis.results.scores import Floats
from dashboard.maps.causal.gates import COLUMN_NAMES, PREVIEW
from dashboard.maps.causal.state import CausalState
from dashboard.maps.look import Look, level, slopes
from dashboard.maps.panel import Codes, Panel
from dashboard.maps.steps import NO_STEP, SLOPES, STEPS, score_steps, slope_steps
from dashboard.palette import DIM, Colours, mixed

LEVELS = 13  # of each of two roles: 169 colours
FINE = 65  # of one score or gradient


def looks(panels: Sequence[Panel], state: CausalState, palette: Colours) -> list[Look]:
    """Two roles mixed, one score from none to full, or gradients around 0 with one scale for each column."""
    coloured = []
    for panel in panels:
        codes, shades = _coded(panel, state, palette)
        shown_codes = np.where(np.isnan(panel.value), panel.reason, codes + len(palette.missing))
        ground = "" if state.gates == PREVIEW else palette.ground
        coloured.append(Look(shown_codes.astype(np.uint8), (*palette.missing, *shades), palette.empty, ground=ground))
    return coloured


def _coded(panel: Panel, state: CausalState, palette: Colours) -> tuple[Codes, Sequence[str]]:
    """A code for every cell, and the colour of every code."""
    if state.gates == PREVIEW:
        share = (slope_steps(panel.value, panel.steepest) / SLOPES + 1) / 2
        return level(share, FINE), slopes(palette, FINE)
    if panel.strengths is None:
        return np.zeros(panel.value.shape, np.uint8), []
    if len(panel.categories) == 1:
        shades = [palette.glow(panel.categories[0], step / (FINE - 1)) for step in range(FINE)]
        return level(_light(panel.strengths[0], state.threshold), FINE), shades
    helps, hurts = (level(_light(strength, state.threshold), LEVELS) for strength in panel.strengths)
    return helps * LEVELS + hurts, mixtures(palette, LEVELS)


def mixtures(palette: Colours, levels: int) -> tuple[str, ...]:
    """Every mixture of the two roles, facilitation first."""
    return _mixtures(palette.corners, levels)


@cache
def _mixtures(corners: tuple[str, str, str, str], levels: int) -> tuple[str, ...]:
    ends = [i / (levels - 1) for i in range(levels)]
    return tuple(mixed(corners, helps, hurts) for helps in ends for hurts in ends)


def _light(score: Floats, threshold: float) -> Floats:
    """How strong a role looks, from 0 to 1."""
    steps = score_steps(score).astype(np.float64)
    steps[steps == NO_STEP] = 0
    with np.errstate(invalid="ignore"):
        strength = np.where(score >= threshold, steps, DIM * steps)
    return strength / STEPS


def scale_words(panels: Sequence[Panel]) -> str:
    """How far each column's scale goes, of those that show anything."""
    scales = {panel.column: panel.steepest for panel in panels if np.nan_to_num(panel.value).any()}
    if len(scales) == 1:
        return f"±{next(iter(scales.values())):.2g}"
    return ", ".join(f"{COLUMN_NAMES[column]} ±{scale:.2g}" for column, scale in scales.items())
