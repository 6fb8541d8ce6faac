"""The colours of the function map: a code for every cell and a colour for every code."""

from dataclasses import replace

import numpy as np

from analysis.results.scores import Bools, Codes, Floats
from dashboard.maps.function.panels import coloured
from dashboard.maps.function.state import FunctionState
from dashboard.maps.look import HALF, HOLLOW, PALE, Look
from dashboard.maps.panel import Panel
from dashboard.palette import Colours, blend

SEVERAL = ("2 categories", "3 categories", "4 or more categories")
SEVERAL_TONES = ("several-2", "several-3", "several-4")
TINTS = 8  # steps of a category's tint below τ
_CATEGORIES = (
    "algorithmic",
    "knowledge",
    "linguistic",
    "translation",
    "custom",
)  # by hue; all others: the last
_SEVERAL = {"okabe-ito": ("#cc79a7", "#5d3a3a", "#000000"), "paper": ("#8c564b", "#e377c2", "#7f7f7f")}
_SEVERAL_DARK = {"okabe-ito": ("#cc79a7", "#c8a2a2", "#f5f5f5"), "paper": ("#8c564b", "#e377c2", "#bcbcbc")}
_SPECIAL = 8  # codes before those of the categories: 5 for missing scores, 3 for several categories


def tones(palette: Colours) -> dict[str, str]:
    """A colour for each category, and for several at once."""
    several = (_SEVERAL_DARK if palette.dark else _SEVERAL)[palette.name]
    categories = zip(_CATEGORIES, palette.hues, strict=False)
    return dict(categories) | dict(zip(SEVERAL_TONES, several, strict=True))


def tint(palette: Colours, category: str, step: int) -> str:
    """A faint version of a category's colour: none at step 0, then stronger up to TINTS - 1."""
    share = 0.06 + 0.44 * (step - 1) / (TINTS - 2) if step else 0.0
    return blend(palette.empty, palette.of(category), share)


def look(panel: Panel, state: FunctionState, palette: Colours) -> Look:
    """Categories above τ and tints below it, or the scores themselves."""
    if state.colour == "scores":
        in_scores = ((HOLLOW, panel.hollow), (HALF, panel.falls))
        return replace(Look.of_scores(panel, palette), marks=_marks(in_scores, panel.value.shape))
    shades = [*palette.missing, *(palette.of(tone) for tone in SEVERAL_TONES)]
    for category in panel.categories or (panel.tone,):
        shades += [tint(palette, category, step) for step in range(TINTS)]
        shades.append(palette.of(category))
    if panel.belongs is not None and panel.strengths is not None:
        codes = _codes_of_several(panel, coloured(panel.belongs, panel.filled), panel.strengths, state.tau)
    else:
        codes = _codes(panel.value, panel.member, state.tau, 0)
    shown_codes = np.where(np.isnan(panel.value), panel.reason, codes).astype(np.uint8)
    flags = ((PALE, panel.pale), (HOLLOW, panel.hollow), (HALF, panel.half))
    return Look(shown_codes, shades, palette.empty, _marks(flags, panel.value.shape))


def _marks(flags: tuple[tuple[int, Bools | None], ...], shape: tuple[int, ...]) -> Codes:
    """An outline for hollow cells, a lighter inside for pale ones, half a square for those that suppress."""
    marks = np.zeros(shape, np.uint8)
    for flag, heads in flags:
        if heads is not None:
            marks[heads] |= flag
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
