"""Where in the network: the share of heads of each category, layer by layer."""

import numpy as np

from analysis.results.scores import Bools
from dashboard.maps.function.colours import SEVERAL, SEVERAL_TONES
from dashboard.maps.function.panels import coloured
from dashboard.maps.panel import Panel, layer_shares
from dashboard.maps.profile import Profile
from dashboard.palette import Colours

HINT = (
    "Share of each layer's heads per category. Each head counts once, in the colour of its square: heads in several "
    "categories have a colour of their own, and hollow labels do not count beside filled ones."
)


def profile(panel: Panel, palette: Colours) -> Profile:
    """The share of each layer's heads by their colour, none counted twice."""
    hues, flags = _hues(panel)
    shares = np.nan_to_num(layer_shares(flags, panel.reason))
    names = tuple(name.capitalize() for name, _ in hues)
    return Profile(names, tuple(palette.of(tone) for _, tone in hues), tuple(shares))


def _hues(panel: Panel) -> tuple[list[tuple[str, str]], Bools]:  # [name, layer, head]
    """The colours that members have, each with its name and tone, and which have each."""
    if panel.belongs is None:
        return [(panel.tone, panel.tone)], panel.member[None]
    categories = coloured(panel.belongs, panel.filled)
    how_many = categories.sum(axis=0)
    hues = [(name, name) for name in panel.categories]
    members = [mine & (how_many == 1) for mine in categories]
    several = (how_many == 2, how_many == 3, how_many > 3)
    for name, tone, flags in zip(SEVERAL, SEVERAL_TONES, several, strict=True):
        if flags.any():
            hues.append((name, tone))
            members.append(flags)
    return hues, np.stack(members)
