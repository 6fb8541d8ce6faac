"""What is drawn of a view: how its panels look and what stands beside them, for the page and for pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.maps.look import Look
from dashboard.maps.map import Orientation
from dashboard.maps.panel import Panel
from dashboard.maps.profile import Profile
from dashboard.palette import Colours, colours
from dashboard.view import View


@dataclass(frozen=True)
class DrawnMaps:
    """The looks and profiles of all panels of a view."""

    looks: Sequence[Look]
    profiles: Sequence[Profile | None]
    palette: Colours


@dataclass(frozen=True)
class Grid:
    """How panels that belong in a grid stand."""

    columns: int  # 0 for panels that may stand anywhere
    profile: str  # "beside" or "below" each panel, so that it shares the panel's layers; empty without any
    alike: bool  # no panel stands for all others together


def drawn_maps(view: View, dark: bool) -> DrawnMaps:
    """Every panel of a view; only reasons where there is no result."""
    shown, palette = view.shown, colours(view.state.palette, dark)
    if shown is None:
        looks = [Look.of_missing(panel, palette) for panel in view.panels]
        return DrawnMaps(looks, [None] * len(looks), palette)
    profiles = [view.map.profile(panel, palette) for panel in view.panels]
    return DrawnMaps(shown.map.looks(shown, palette), profiles, palette)


def grid_of(panels: Sequence[Panel], profiles: Sequence[Profile | None], lies: Orientation) -> Grid:
    """The columns that the panels name, and where their profiles go."""
    columns = len({panel.column for panel in panels if panel.column})
    alike = not panels[0].leads
    if all(profile is None for profile in profiles):
        return Grid(columns, "", alike)
    return Grid(columns, "beside" if lies.across else "below", alike)
