"""Scores and gradients in two bytes, as the page's scripts get them; colours are made of these in both places.

A score between 0 and 1 becomes a step of 1/60,000 such that it reaches a threshold of four decimals, as an address
has it, exactly when its step reaches the threshold's. Gradients become steps up to the steepest.
"""

import numpy as np
import numpy.typing as npt

from analysis.results.scores import Floats

Steps = npt.NDArray[np.uint16]
Slopes = npt.NDArray[np.int16]

STEPS = 60_000  # a score of 1
NO_STEP = 65_535  # no score
SLOPES = 32_767  # the steepest gradient
NO_SLOPE = -32_768  # no gradient

_GRID = np.arange(10_001) / 10_000  # every threshold
_FINER = STEPS // 10_000


def score_steps(scores: Floats) -> Steps:
    """The step of every score."""
    filled = np.clip(np.nan_to_num(scores), 0.0, 1.0)
    reached = np.searchsorted(_GRID, filled, side="right") - 1  # the highest threshold that a score reaches
    beyond = np.floor((filled - _GRID[reached]) * STEPS)
    steps = _FINER * reached + np.clip(beyond, 0, _FINER - 1)
    return np.where(np.isnan(scores), NO_STEP, steps).astype(np.uint16)


def slope_steps(gradients: Floats, steepest: float) -> Slopes:
    """The step of every gradient."""
    steps = np.floor(np.nan_to_num(gradients) / steepest * SLOPES + 0.5)
    return np.where(np.isnan(gradients), NO_SLOPE, steps).astype(np.int16)
