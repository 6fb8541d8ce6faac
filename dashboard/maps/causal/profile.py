"""Beside each panel of the causal map: the share of a layer's heads that facilitate, and that interfere."""

import numpy as np

from dashboard.maps.causal.panels import SHORT_WORDS
from dashboard.maps.panel import Panel, layer_profile
from dashboard.maps.profile import Profile
from dashboard.palette import Colours


def layer_shares(panel: Panel, palette: Colours) -> Profile | None:
    """Facilitation to one side, interference to the other; None of a panel in which nothing is known."""
    if panel.belongs is None:
        return None
    rows = np.nan_to_num(layer_profile(panel))
    names = tuple(SHORT_WORDS[role] for role in panel.categories)
    shades = tuple(palette.of(role) for role in panel.categories)
    return Profile(names, shades, tuple(rows), signed=len(names) == 2)
