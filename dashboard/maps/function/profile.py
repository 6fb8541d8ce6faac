"""Where in the network: the share of heads of each category, layer by layer."""

import numpy as np

from dashboard.maps.function.panels import coloured
from dashboard.maps.panel import Bools, Panel, layer_shares
from dashboard.maps.profile import Profile
from dashboard.palette import SEVERAL, Colours

HINT = "Share of a layer's heads in each category. Each head counts once: one of several categories counts as such."


def profile(panel: Panel, palette: Colours) -> Profile:
    """The share of each layer's heads by their colour, none counted twice."""
    names, flags = _hues(panel)
    shares = np.nan_to_num(layer_shares(flags, panel.reason))
    return Profile(tuple(name.capitalize() for name in names), tuple(map(palette.of, names)), tuple(shares))


def _hues(panel: Panel) -> tuple[list[str], Bools]:  # [name, layer, head]
    """The colours that members have, and which have each."""
    if panel.belongs is None:
        return [panel.tone], panel.member[None]
    categories = coloured(panel.belongs, panel.filled)
    how_many = categories.sum(axis=0)
    only = [mine & (how_many == 1) for mine in categories]
    several = [how_many == count for count in (2, 3)] + [how_many > 3]
    there = [(name, flags) for name, flags in zip(SEVERAL, several, strict=True) if flags.any()]
    names = [*panel.categories, *(name for name, _ in there)]
    return names, np.stack([*only, *(flags for _, flags in there)])
