"""The pieces that legends are made of."""

from typing import Any

from dash import html

from dashboard.maps.map import MapView, missing_words
from dashboard.maps.panel import reasons


def entry(colour: str, words: str, name: str = "swatch", inside: str = "") -> html.Span:
    """A colour and what it means; with another colour inside, it is a frame around that."""
    style = {"background": inside, "borderColor": colour} if inside else {"background": colour}
    return html.Span([html.I(className=name, style=style), words], className="legend-entry")


def ramp(shades: list[str], words: str, ends: tuple[str, str] | None = None) -> html.Span:
    """A colour bar, with the numbers at its ends if there are any."""
    gradient = {"background": f"linear-gradient(90deg, {', '.join(shades)})"}
    bar = [html.I(className="ramp", style=gradient)]
    scale = [html.Span(ends[0]), *bar, html.Span(ends[1])] if ends else bar
    return html.Span([*scale, words], className="legend-entry")


def legend(shown: MapView[Any], dark: bool) -> list[Any]:
    """The colours that the maps on the page use, most telling first, then why there is no score."""
    palette = shown.palette(dark)
    entries = [] if all(panel.is_empty for panel in shown.panels) else shown.map.legend(shown, palette)
    for reason in reasons(shown.panels):
        entries.append(entry(palette.missing[reason], missing_words(shown, reason), "swatch outlined"))
    return entries
