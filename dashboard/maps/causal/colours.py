"""The colours of the causal map: a code for every cell and a colour for every code, 1 byte per cell."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from analysis.methods.causal.result import HEAD_ROLES
from analysis.results.scores import Codes, Floats
from dashboard.maps.causal.gates import COLUMN_NAMES, PREVIEW
from dashboard.maps.causal.state import CausalState
from dashboard.maps.look import Look, level, slopes
from dashboard.maps.panel import Panel
from dashboard.maps.steps import NO_STEP, SLOPES, STEPS, score_steps, slope_steps
from dashboard.palette import Colours, blend

LEVELS = 13  # of each of two roles: 169 colours
FINE = 65  # of one score or gradient
DIM = 0.4  # of the strength of a role below the threshold

# Cells mix four corners: neither role, facilitation, interference, both. The published ones are lights on black, green
# and red, which add up to yellow; ours stand on the page's own ground, and *both* is a colour of its own that is told
# apart from the others with every common kind of colour vision.
_CORNERS = {False: ("#eceff3", "#2f86c9", "#e68a00", "#7a1f6b"), True: ("#262b33", "#2a85d0", "#e8762c", "#ffd8f4")}
_LIGHTS = ("#000000", "#00ff00", "#ff0000", "#ffff00")
_GROUND = "#30353d"  # under cells of light: on white the gaps between black cells would outshine them
_IDLE_LIGHT = "#f2f2f2"
_CORNER_TONES = ("cell-neither", "cell-facilitation", "cell-interference", "cell-both")
_IDLE_TONE, _GROUND_TONE = "cell-irrelevance", "cell-ground"  # irrelevance alone; between the cells

Corners = tuple[str, ...]  # neither role, facilitation, interference, both


def tones(palette: Colours) -> dict[str, str]:
    """A colour for each role as a bar, dot or line, and the colours of the cells; no ground is the page's own."""
    is_light = palette.name == "paper"
    corners = _LIGHTS if is_light else _CORNERS[palette.dark]
    roles = dict(zip(HEAD_ROLES, (*palette.ends, palette.faint), strict=True))
    idle, ground = (_IDLE_LIGHT, _GROUND) if is_light else (palette.faint, "")
    return roles | dict(zip(_CORNER_TONES, corners, strict=True)) | {_IDLE_TONE: idle, _GROUND_TONE: ground}


def light(palette: Colours, facilitation: float, interference: float) -> str:
    """Both roles at once, each from 0 to 1: between the four corners."""
    return _mixed(_corners(palette), facilitation, interference)


def glow(palette: Colours, role: str, score: float) -> str:
    """One score alone, from none to its corner's colour."""
    return blend(palette.of(_CORNER_TONES[0]), palette.of(f"cell-{role}"), score)


def _corners(palette: Colours) -> Corners:
    return tuple(palette.of(tone) for tone in _CORNER_TONES)


def _mixed(corners: Corners, facilitation: float, interference: float) -> str:
    neither, helps, hurts, both = corners
    return blend(blend(neither, helps, facilitation), blend(hurts, both, facilitation), interference)


def looks(panels: Sequence[Panel], state: CausalState, palette: Colours) -> list[Look]:
    """Two roles mixed, one score from none to full, or gradients around 0 with one scale for each column."""
    coloured = []
    for panel in panels:
        codes, shades = _coded(panel, state, palette)
        shown_codes = np.where(np.isnan(panel.value), panel.reason, codes + len(palette.missing))
        ground = "" if state.gates == PREVIEW else palette.of(_GROUND_TONE)
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
        shades = [glow(palette, panel.categories[0], step / (FINE - 1)) for step in range(FINE)]
        return level(_light(panel.strengths[0], state.threshold), FINE), shades
    helps, hurts = (level(_light(strength, state.threshold), LEVELS) for strength in panel.strengths)
    return helps * LEVELS + hurts, mixtures(palette, LEVELS)


def mixtures(palette: Colours, levels: int) -> tuple[str, ...]:
    """Every mixture of the two roles, facilitation first."""
    return _mixtures(_corners(palette), levels)


@cache
def _mixtures(corners: Corners, levels: int) -> tuple[str, ...]:
    ends = [i / (levels - 1) for i in range(levels)]
    return tuple(_mixed(corners, helps, hurts) for helps in ends for hurts in ends)


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
