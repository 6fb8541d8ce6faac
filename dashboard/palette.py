"""The colours of the maps: one per category, some for several at once, tints below τ, greys for what is missing."""

from dataclasses import asdict, dataclass
from functools import cache
from math import floor
from typing import Any, get_args

from dashboard.state import Palette

SEVERAL = ("2 categories", "3 categories", "4 or more categories")
TINTS = 8  # steps of a category's tint below τ

# Okabe & Ito, "Color Universal Design", 2008: colour-blind safe. `other` is an olive of ours: their yellow is lost on a
# light page.
_OKABE_ITO = {
    "algorithmic": "#0072b2",
    "knowledge": "#e69f00",
    "linguistic": "#009e73",
    "translation": "#56b4e9",
    "custom": "#d55e00",
    "other": "#999933",
}
# matplotlib's tab10, in the order in which the published figures use it.
_PAPER = {
    "algorithmic": "#1f77b4",
    "knowledge": "#ff7f0e",
    "linguistic": "#2ca02c",
    "translation": "#d62728",
    "custom": "#9467bd",
    "other": "#bcbd22",
}
_SEVERAL = {"okabe-ito": ("#cc79a7", "#5d3a3a", "#000000"), "paper": ("#8c564b", "#e377c2", "#7f7f7f")}
_SEVERAL_DARK = {"okabe-ito": ("#cc79a7", "#c8a2a2", "#f5f5f5"), "paper": ("#8c564b", "#e377c2", "#bcbcbc")}
# The causal map mixes four corners: neither role, facilitation, interference, both. The published ones are lights on
# black, green and red, which add up to yellow; ours stand on the page's own ground, and *both* is a colour of its own
# that is told apart from the others with every common kind of colour vision.
_CORNERS = {False: ("#eceff3", "#2f86c9", "#e68a00", "#7a1f6b"), True: ("#262b33", "#2a85d0", "#e8762c", "#ffd8f4")}
_LIGHTS = ("#000000", "#00ff00", "#ff0000", "#ffff00")
_GROUND = "#30353d"  # under cells of light: on white the gaps between black cells would outshine them
_IDLE = {False: "#5f6b7a", True: "#9aa5b1"}  # irrelevance, when it is shown alone
_IDLE_LIGHT = "#f2f2f2"
DIM = 0.4  # of the strength of a role below the threshold
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
_PIN = "#d6336c"  # a pinned head among points
_ACCENT = {False: "#3b5bdb", True: "#748ffc"}
_STRONGER = {False: "darker", True: "brighter"}  # what a tint becomes that comes nearer to its colour


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
    corners: tuple[str, str, str, str]  # of the causal map: neither role, facilitation, interference, both
    idle: str  # irrelevance alone
    ground: str  # between the cells of the causal map; empty: the page's own
    inks: tuple[str, str]  # facilitation and interference as bars, dots and lines
    stronger: str  # in words: what a tint becomes on its way to the full colour
    pin: str = _PIN

    def of(self, category: str) -> str:
        """A category's colour; those we do not know are other, and what is of no category has the accent."""
        roles = {"facilitation": self.inks[0], "interference": self.inks[1], "irrelevance": self.faint}
        several = dict(zip(SEVERAL, self.several, strict=True))
        tones = self.category | roles | several
        return tones.get(category, self.category["other"]) if category else self.accent

    def light(self, facilitation: float, interference: float) -> str:
        """Both roles at once, each from 0 to 1: between the four corners."""
        return mixed(self.corners, facilitation, interference)

    def glow(self, role: str, score: float) -> str:
        """One score alone, from none to its corner's colour."""
        tones = {"facilitation": self.corners[1], "interference": self.corners[2]}
        return blend(self.corners[0], tones.get(role, self.idle), score)

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
    lights = palette == "paper"
    return Colours(
        category=category,
        several=several[palette],
        empty=_EMPTY[dark],
        missing=_MISSING[dark],
        ink=_INK[dark],
        faint=_FAINT[dark],
        accent=_ACCENT[dark],
        corners=_LIGHTS if lights else _CORNERS[dark],
        idle=_IDLE_LIGHT if lights else _IDLE[dark],
        ground=_GROUND if lights else "",
        inks=inks,
        stronger=_STRONGER[dark],
    )


def tone_name(tone: str) -> str:
    """A category's or role's colour by its name, for pieces of the page that stay while the palette changes."""
    known = (*_OKABE_ITO, "facilitation", "interference", "irrelevance")
    return f"var(--tone-{tone if tone in known else 'other'})"


def tones(palette: Colours) -> dict[str, str]:
    """The colours behind those names as CSS variables, for a page whose palette does not change."""
    named = (*palette.category, "facilitation", "interference", "irrelevance")
    return {f"--tone-{name}": palette.of(name) for name in named}


def tone_styles(palette: Palette) -> str:
    """The same as a style sheet, light and dark."""
    rules = []
    for dark, selector in ((False, ":root"), (True, ':root[data-mantine-color-scheme="dark"]')):
        body = "".join(f"{name}:{colour};" for name, colour in tones(colours(palette, dark)).items())
        rules.append(f"{selector}{{{body}}}")
    return "".join(rules)


def as_data() -> dict[str, dict[str, dict[str, Any]]]:
    """All of them as plain data for the scripts, by palette and theme."""
    themes = {"light": False, "dark": True}
    return {name: {theme: asdict(colours(name, dark)) for theme, dark in themes.items()} for name in get_args(Palette)}


def blend(base: str, top: str, share: float) -> str:
    """A colour between two, `share` of the way to the second; halves are rounded up, as scripts do."""
    mixed = (floor(a + (b - a) * share + 0.5) for a, b in zip(_rgb(base), _rgb(top), strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def mixed(corners: tuple[str, str, str, str], facilitation: float, interference: float) -> str:
    """A colour between those of neither role, the first, the second and both."""
    neither, helps, hurts, both = corners
    return blend(blend(neither, helps, facilitation), blend(hurts, both, facilitation), interference)


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
