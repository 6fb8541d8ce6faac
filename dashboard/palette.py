"""The colours of the maps: one per category, some for several at once, tints below τ, greys for what is missing."""

from dataclasses import dataclass
from functools import cache

from dashboard.state import Palette

TINTS = 8  # steps of a category's tint below τ

# Okabe & Ito, "Color Universal Design", 2008: told apart with every common kind of colour vision.
_OKABE_ITO = {
    "algorithmic": "#0072b2",
    "knowledge": "#e69f00",
    "linguistic": "#009e73",
    "translation": "#56b4e9",
    "custom": "#d55e00",
}
# matplotlib's tab10, in the order in which the published figures use it.
_PAPER = {
    "algorithmic": "#1f77b4",
    "knowledge": "#ff7f0e",
    "linguistic": "#2ca02c",
    "translation": "#d62728",
    "custom": "#9467bd",
}
_SEVERAL = {"okabe-ito": ("#cc79a7", "#5d3a3a", "#000000"), "paper": ("#8c564b", "#e377c2", "#7f7f7f")}
_SEVERAL_DARK = {"okabe-ito": ("#cc79a7", "#c8a2a2", "#f5f5f5"), "paper": ("#8c564b", "#e377c2", "#bcbcbc")}
# The causal map adds two channels of light on black. Azure and orange add up to white and are told apart with every
# common kind of colour vision; the published pair is green and red, which add up to yellow.
_CHANNELS = {"okabe-ito": ("#008cff", "#ff7300"), "paper": ("#00ff00", "#ff0000")}
UNLIT = "#000000"  # neither role
_IDLE = "#f2f2f2"  # irrelevance, when it is shown alone
DIM = 0.4  # of the light of a channel below the threshold
_INKS = {"okabe-ito": ("#0072b2", "#d55e00"), "paper": ("#188038", "#d62728")}  # the same on paper: bars and dots
_INKS_DARK = {"okabe-ito": ("#56b4e9", "#ff9142"), "paper": ("#4ade80", "#ff6b6b")}
_EMPTY = {False: "#eceff3", True: "#262b33"}  # a head with nothing to show; by dark
# Without a score, by reason: never seen (there is a score), not computed, not applicable, failed, running; by dark
_MISSING = {
    False: ("#ffffff", "#ffffff", "#dfe3e8", "#f3c1bd", "#fff3bf"),
    True: ("#14171c", "#14171c", "#3a404a", "#6b2d2a", "#453b12"),
}
_INK = {False: "#1f2933", True: "#e4e7eb"}  # text
_FAINT = {False: "#5f6b7a", True: "#9aa5b1"}  # text of less weight
_PIN = "#d6336c"  # outline of a pinned head, as in assets/4-maps.css
_ACCENT = {False: "#3b5bdb", True: "#748ffc"}


@dataclass(frozen=True)
class Colours:
    """Ready colours for one palette and theme."""

    category: dict[str, str]
    several: tuple[str, str, str]  # 2, 3, 4 and more categories
    empty: str
    missing: tuple[str, str, str, str, str]  # by `Missing`
    ink: str
    faint: str
    accent: str
    channels: tuple[str, str]  # of the causal map: facilitation, interference; as light
    inks: tuple[str, str]  # the same, for bars, dots and lines
    pin: str = _PIN

    def of(self, category: str) -> str:
        """A category's colour; those we do not know are custom, and what is of no category has the accent."""
        roles = {"facilitation": self.inks[0], "interference": self.inks[1], "irrelevance": self.faint}
        tones = self.category | roles
        return tones.get(category, self.category["custom"]) if category else self.accent

    def light(self, facilitation: float, interference: float) -> str:
        """Both channels added, each from 0 to 1."""
        return added(blend(UNLIT, self.channels[0], facilitation), blend(UNLIT, self.channels[1], interference))

    def glow(self, role: str, score: float) -> str:
        """One score alone, from black to its channel's colour."""
        tones = {"facilitation": self.channels[0], "interference": self.channels[1]}
        return blend(UNLIT, tones.get(role, _IDLE), score)

    def slope(self, share: float) -> str:
        """A gradient from -1 (facilitating) over 0 (empty) to 1 (interfering)."""
        return blend(self.empty, self.inks[1 if share > 0 else 0], abs(share))

    def tint(self, category: str, step: int) -> str:
        """A faint version of a category's colour: none at step 0, then stronger up to TINTS - 1."""
        share = 0.06 + 0.44 * (step - 1) / (TINTS - 2) if step else 0.0
        return blend(self.empty, self.of(category), share)


@cache
def colours(palette: Palette, dark: bool) -> Colours:
    """The colours of a palette on a light or dark page."""
    several = _SEVERAL_DARK if dark else _SEVERAL
    category = _PAPER if palette == "paper" else _OKABE_ITO
    inks = (_INKS_DARK if dark else _INKS)[palette]
    return Colours(
        category, several[palette], _EMPTY[dark], _MISSING[dark], _INK[dark], _FAINT[dark], _ACCENT[dark],
        _CHANNELS[palette], inks,
    )  # fmt: skip


def added(one: str, other: str) -> str:
    """The sum of two lights."""
    channels = (min(a + b, 255) for a, b in zip(_rgb(one), _rgb(other), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def blend(base: str, top: str, share: float) -> str:
    """A colour between two, `share` of the way to the second."""
    mixed = (round(a + (b - a) * share) for a, b in zip(_rgb(base), _rgb(top), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """How bright a colour is, from 0 to 1 (WCAG 2)."""
    red, green, blue = (_linear(value / 255) for value in _rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    """A channel's light, from its value between 0 and 1."""
    return value / 12.92 if value <= 0.03928 else float(((value + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The WCAG 2 contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
