"""The causal map's own colours: two channels of light added on black, and the same as ink on a page."""

from dashboard.palette import Colours, added, blend

# Azure and orange add up to white and are told apart with every common kind of colour vision; the published pair is
# green and red, which add up to yellow.
_CHANNELS = {"okabe-ito": ("#008cff", "#ff7300"), "paper": ("#00ff00", "#ff0000")}
UNLIT = "#000000"  # neither role
_IDLE = "#f2f2f2"  # irrelevance, when it is shown alone
DIM = 0.4  # of the light of a channel below the threshold
_INKS = {"okabe-ito": ("#0072b2", "#d55e00"), "paper": ("#188038", "#d62728")}
_INKS_DARK = {"okabe-ito": ("#56b4e9", "#ff9142"), "paper": ("#4ade80", "#ff6b6b")}


def channels(palette: Colours) -> tuple[str, str]:
    """Facilitation and interference as light."""
    return _CHANNELS[palette.name]


def inks(palette: Colours) -> tuple[str, str]:
    """The same for bars, dots and lines."""
    return (_INKS_DARK if palette.dark else _INKS)[palette.name]


def ink(palette: Colours, role: str) -> str:
    """A role's colour on the page; what has no role has the page's accent."""
    helps, hurts = inks(palette)
    return {"facilitation": helps, "interference": hurts, "irrelevance": palette.faint}.get(role, palette.accent)


def light(palette: Colours, facilitation: float, interference: float) -> str:
    """Both channels added, each from 0 to 1."""
    helps, hurts = channels(palette)
    return added(blend(UNLIT, helps, facilitation), blend(UNLIT, hurts, interference))


def glow(palette: Colours, role: str, score: float) -> str:
    """One score alone, from black to its channel's colour."""
    helps, hurts = channels(palette)
    return blend(UNLIT, {"facilitation": helps, "interference": hurts}.get(role, _IDLE), score)


def slope(palette: Colours, share: float) -> str:
    """A gradient from -1 (facilitating) over 0 (empty) to 1 (interfering)."""
    helps, hurts = inks(palette)
    return blend(palette.empty, hurts if share > 0 else helps, abs(share))
