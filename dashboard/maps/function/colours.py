"""The colours of the function map: a code for every cell and a colour for every code."""

import numpy as np

from analysis.results.scores import Floats
from dashboard.maps.function.state import FunctionState
from dashboard.maps.look import HOLLOW, PALE, Look
from dashboard.maps.panel import Bools, Codes, Panel
from dashboard.palette import TINTS, Colours

_SPECIAL = 8  # codes before those of the categories: 5 for missing scores, 3 for several categories


def look(panel: Panel, state: FunctionState, palette: Colours) -> Look:
    """Categories above τ and tints below it, or the scores themselves."""
    if state.colour == "scores":
        return Look.of_scores(panel, palette)
    shades = [*palette.missing, *palette.several]
    for category in panel.categories or (panel.tone,):
        shades += [palette.tint(category, step) for step in range(TINTS)]
        shades.append(palette.of(category))
    if panel.belongs is not None and panel.strengths is not None:
        codes = _codes_of_several(panel, _coloured(panel, panel.belongs), panel.strengths, state.tau)
    else:
        codes = _codes(panel.value, panel.member, state.tau, 0)
    shown_codes = np.where(np.isnan(panel.value), panel.reason, codes).astype(np.uint8)
    return Look(shown_codes, shades, palette.empty, _marks(panel))


def _coloured(panel: Panel, belongs: Bools) -> Bools:
    """The categories that colour a head: those by which it is filled, or else those by which it is hollow."""
    if panel.filled is None:
        return belongs
    return np.where(panel.filled.any(axis=0), panel.filled, belongs)


def _marks(panel: Panel) -> Codes | None:
    """An outline for hollow cells, a lighter inside for pale ones; None where no panel could have any."""
    if panel.hollow is None and panel.pale is None:
        return None
    marks = np.zeros(panel.value.shape, np.uint8)
    if panel.pale is not None:
        marks[panel.pale] = PALE
    if panel.hollow is not None:
        marks[panel.hollow] = HOLLOW
    return marks


def _codes(value: Floats, member: Bools, tau: float, category: int) -> Codes:
    """No tint for 0, tints up to τ, the full colour for members."""
    first = _SPECIAL + category * (TINTS + 1)
    share = np.nan_to_num(value) / tau if tau > 0 else np.nan_to_num(value)
    steps = np.where(share > 0, np.clip(np.ceil(share * (TINTS - 1)), 1, TINTS - 1), 0)
    return (first + np.where(member, TINTS, steps)).astype(np.uint8)


def _codes_of_several(panel: Panel, belongs: Bools, strengths: Floats, tau: float) -> Codes:
    """The panel of all categories: the only category's colour, a colour for several, else the strongest one's tint."""
    how_many = belongs.sum(axis=0)
    strongest = np.nan_to_num(strengths, nan=-1.0).argmax(axis=0)
    only = np.where(how_many == 1, belongs.argmax(axis=0), strongest)
    codes = np.zeros(panel.value.shape, np.uint8)
    for category in range(len(panel.categories)):
        mine = only == category
        codes[mine] = _codes(strengths[category], belongs[category], tau, category)[mine]
    several = _SPECIAL - 3 + np.clip(how_many - 2, 0, 2)
    return np.where(how_many > 1, several, codes).astype(np.uint8)
