"""The colours of the page and the scales of the maps; what a map colours by name, it brings itself (`Map.tones`)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import floor
from typing import TYPE_CHECKING, Any, get_args

from dashboard.state import Palette

if TYPE_CHECKING:
    from dashboard.maps.map import Map

# Hues that are told apart; the last is for whatever has none of its own. Okabe & Ito, "Color Universal Design", 2008:
# colour-blind safe; the last is an olive of ours, because their yellow is lost on a light page. The other palette is
# matplotlib's tab10, in the order in which the published figures use it.
_HUES = {
    "okabe-ito": ("#0072b2", "#e69f00", "#009e73", "#56b4e9", "#d55e00", "#999933"),
    "paper": ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#bcbd22"),
}
# The ends of a scale with a middle: below 0 and above it.
_ENDS = {"okabe-ito": ("#0072b2", "#d55e00"), "paper": ("#188038", "#d62728")}
_ENDS_DARK = {"okabe-ito": ("#56b4e9", "#ff9142"), "paper": ("#4ade80", "#ff6b6b")}
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

BELOW, ABOVE, OTHER = "below", "above", "other"  # tones that every palette has


@dataclass(frozen=True)
class Colours:
    """Ready colours for one palette and theme: generic scales, and by name the tones that the maps bring."""

    name: Palette
    dark: bool
    hues: tuple[str, ...]
    ends: tuple[str, str]  # below 0 and above it: of a scale with a middle, of bars, dots and lines
    empty: str
    missing: tuple[str, ...]  # by `Missing`
    ink: str
    faint: str
    accent: str
    stronger: str  # in words: what a tint becomes on its way to the full colour
    pin: str = _PIN
    tones: Mapping[str, str] = field(default_factory=dict)

    def of(self, tone: str) -> str:
        """A tone's colour; one that nobody brought has the last hue, and what has no tone the accent."""
        return self.tones.get(tone, self.tones[OTHER]) if tone else self.accent

    def slope(self, share: float) -> str:
        """On a scale with a middle, from -1 over 0 (empty) to 1."""
        return blend(self.empty, self.ends[1 if share > 0 else 0], abs(share))


def colours(palette: Palette, dark: bool) -> Colours:
    """The colours of a palette on a light or dark page, with the tones of all maps."""
    from dashboard.maps import MAPS  # here, because maps are made of colours

    return _with_tones(palette, dark, tuple(MAPS))


@cache
def _with_tones(palette: Palette, dark: bool, maps: "tuple[Map[Any], ...]") -> Colours:
    scales = _scales(palette, dark)
    tones = dict(scales.tones)
    for each in maps:
        tones |= each.tones(scales)
    return replace(scales, tones=tones)


def _scales(palette: Palette, dark: bool) -> Colours:
    ends = (_ENDS_DARK if dark else _ENDS)[palette]
    return Colours(
        name=palette,
        dark=dark,
        hues=_HUES[palette],
        ends=ends,
        empty=_EMPTY[dark],
        missing=_MISSING[dark],
        ink=_INK[dark],
        faint=_FAINT[dark],
        accent=_ACCENT[dark],
        stronger=_STRONGER[dark],
        tones={BELOW: ends[0], ABOVE: ends[1], OTHER: _HUES[palette][-1]},
    )


def tone_name(tone: str) -> str:
    """A tone's colour by its name, for pieces of the page that stay while the palette changes."""
    names = colours(get_args(Palette)[0], False).tones
    return f"var(--tone-{tone if tone in names else OTHER})"


def tones(palette: Colours) -> dict[str, str]:
    """The colours behind those names as CSS variables, for a page whose palette does not change."""
    return {f"--tone-{name}": colour for name, colour in palette.tones.items()}


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
