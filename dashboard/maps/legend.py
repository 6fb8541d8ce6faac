"""The legend of the map on the page: its entries, then why there is no score; as data and as pieces of the page."""

from collections.abc import Callable, Mapping
from typing import Any

from dash import html

from analysis.results.own_sets import found_set
from dashboard.addresses import search_address
from dashboard.maps import MAPS
from dashboard.maps.entry import LegendEntry
from dashboard.maps.map import MapView, missing_words
from dashboard.maps.panel import reasons


def entries(shown: MapView[Any], dark: bool) -> list[LegendEntry]:
    """The colours that the maps on the page use, most telling first, then why there is no score."""
    palette = shown.palette(dark)
    entries = [] if all(panel.is_empty for panel in shown.panels) else shown.map.legend(shown, palette)
    for reason in reasons(shown.panels):
        entries.append(LegendEntry(missing_words(shown, reason), palette.missing[reason], "outlined"))
    return entries


def own_set_of(shown: MapView[Any]) -> str:
    """The id of the custom relation set in the address, in which its links search, too; empty for none."""
    for each in MAPS:
        own = found_set(shown.sets, each.own_set(shown.common.of(each.part)))
        if own is not None:
            return own.id
    return ""


def legend(shown: MapView[Any], dark: bool) -> list[Any]:
    """The same on the page; an entry that is called like a panel leads to the heads that it is about."""
    titles = {panel.title for panel in shown.panels}
    own = own_set_of(shown)
    drawn: list[Any] = []
    for entry in entries(shown, dark):
        content = [*_DRAWN[entry.kind](entry), entry.words]
        if entry.words not in titles:
            drawn.append(html.Span(content, className="legend-entry"))
            continue
        title = f"Search for {entry.words}: its heads as a list"
        address = search_address(shown.card, entry.words, own)
        drawn.append(html.A(content, className="legend-entry", href=address, title=title))
    return drawn


def _swatch(entry: LegendEntry) -> list[Any]:
    return [html.I(className="swatch", style={"background": entry.colour})]


def _outlined(entry: LegendEntry) -> list[Any]:
    return [html.I(className="swatch outlined", style={"background": entry.colour})]


def _framed(entry: LegendEntry) -> list[Any]:
    return [html.I(className="swatch framed", style={"background": entry.inside, "borderColor": entry.colour})]


def _half(entry: LegendEntry) -> list[Any]:
    """The lower left half of a square, as on the maps."""
    halves = f"linear-gradient(to top right, {entry.colour} 50%, {entry.inside} 50%)"
    return [html.I(className="swatch", style={"background": halves})]


def _ramp(entry: LegendEntry) -> list[Any]:
    """A colour bar, with the numbers at its ends if there are any."""
    bar = html.I(className="ramp", style={"background": f"linear-gradient(90deg, {', '.join(entry.shades)})"})
    return [html.Span(entry.ends[0]), bar, html.Span(entry.ends[1])] if entry.ends else [bar]


def _square(entry: LegendEntry) -> list[Any]:
    """Every mixture of two colours, one to the right and one upwards."""
    cells = [html.I(style={"background": shade}) for shade in entry.shades]
    square = html.Span(cells, className="channels", role="img", **{"aria-label": f"Colours: {entry.ends[2]}"})
    up, right = (html.Span(words, className=name) for words, name in zip(entry.ends, _SIDES, strict=False))
    return [up, square, right]


_SIDES = ("channel-up", "channel-right")
_DRAWN: Mapping[str, Callable[[LegendEntry], list[Any]]] = {
    "swatch": _swatch,
    "outlined": _outlined,
    "framed": _framed,
    "half": _half,
    "ramp": _ramp,
    "square": _square,
    "words": lambda entry: [],
}
