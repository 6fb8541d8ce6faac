"""The maps of a view as one plotly figure: pictures and pages that people take away."""

import plotly.graph_objects as go

from dashboard.arrange import HIGH, LARGEST, Arrangement, arrange
from dashboard.drawn import drawn_maps, grid_of
from dashboard.figures.head_map import Sheet, head_maps
from dashboard.figures.numbers import Figure, plain
from dashboard.figures.picture import Caption, picture
from dashboard.figures.profile import side_profiles
from dashboard.maps.panel import reasons
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours, colours
from dashboard.view import View

PICTURE_WIDTH = 1240
_LOWER = (420, 300)  # pixels of panels that would leave most of the paper empty if they stood below each other
_ENOUGH = 0.35  # the share of the paper that shows heads


def view_figure(view: View, width: int, dark: bool) -> Figure:
    """The maps of a view, with their layer profiles."""
    drawn = drawn_maps(view, dark)
    grid = grid_of(view.panels, drawn.profiles, view.orientation)
    cells = view.orientation.cells(view.card)
    places = [
        arrange(len(view.panels), cells, width, high, LARGEST, grid.profile, grid.columns, grid.alike)
        for high in (HIGH, *_LOWER)
    ]
    place = places[0] if _filled(places[0]) >= _ENOUGH else max(places, key=_filled)
    sheet = Sheet(view.card.layers, view.orientation, place, drawn.palette)
    figure = head_maps(view.panels, drawn.looks, sheet)
    if place.sides:
        traces, axes = side_profiles(drawn.profiles, sheet, len(view.panels))
        figure["data"] += traces
        figure["layout"] |= axes
    return figure


def _filled(place: Arrangement) -> float:
    """The share of the paper that shows heads."""
    return place.area / (place.width * place.height)


def view_picture(view: View, width: int = PICTURE_WIDTH, dark: bool = False) -> go.Figure:
    """The maps with title, legend and provenance, as they leave the page."""
    figure = go.Figure(view_figure(view, width, dark))
    palette = colours(view.state.palette, dark)
    caption = Caption(_heading(view), _source(view), _swatches(view, palette))
    return picture(figure, view.panels, view.card, view.orientation, view.state.pins, caption, dark)


def _heading(view: View) -> str:
    words = view.map.heading(view.shown) if view.shown is not None else f"no {view.map.title.lower()} yet"
    return f"<b>{plain(view.card.id)}</b>: {plain(words)}"


def _source(view: View) -> str:
    """Version, weights and settings in one line."""
    if view.shown is None:
        return f"fingerprint {view.card.fingerprint[:16]}"
    facts, each, card = view.shown.result.provenance, view.map, view.card
    parts = [
        f"Head Atlas {facts.atlas}",
        f"{each.origin(facts)}, version {facts.version}",
        f"fingerprint {card.fingerprint[:16]}",
        *each.source(facts),
        card.note or card.dtype,
        facts.date[:10],
    ]
    return " · ".join(plain(part) for part in parts)


def _swatches(view: View, palette: Colours) -> list[Swatch]:
    """The colours of the maps, then the reasons for missing scores."""
    shown = view.shown
    swatches: list[Swatch] = []
    if shown is not None and not all(panel.is_empty for panel in view.panels):
        swatches += shown.map.swatches(shown, palette)
    for reason in reasons(view.panels):
        swatches.append(Swatch(palette.missing[reason], reason.words))
    return swatches
