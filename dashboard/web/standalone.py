"""A view as one file that opens without a network: maps, the cards of pinned heads, the way back to the view."""

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from dash import html

from analysis.models.card import HeadId
from dashboard.figures.numbers import plain
from dashboard.figures.view_figure import view_picture
from dashboard.maps.panel import title_of
from dashboard.page.inspector import inspector
from dashboard.page.markup import as_data, data_html
from dashboard.palette import tone_styles
from dashboard.view import View

_ASSETS = Path(__file__).parent.parent.parent / "assets"
_STYLES = ("1-base", "5-cards", "6-tasks")
_OWN = "main { max-width: 1280px; margin: 0 auto; padding: 12px; background: var(--paper); } .steps { display: none; }"


def standalone(view: View, origin: str, facts: str) -> str:
    """The page; `origin` is where the view is served, `facts` its provenance as JSON."""
    figure = view_picture(view)
    drawn = figure.to_html(include_plotlyjs=True, full_html=False, config={"displaylogo": False})
    address = f"{origin}/{view.named.to_query()}"
    title = plain(view.title)
    escaped = facts.replace("<", "\\u003c")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{_styles()}{tone_styles(view.state.palette)}{_OWN}</style>"
        f'<script type="application/json" id="provenance">{escaped}</script></head><body><main>'
        f'<h1 class="unseen">{title}</h1>'
        f'<p>This view in Head Atlas: <a href="{escape(address)}">{escape(address)}</a></p>'
        f"{_warning(view, origin)}{drawn}{_cards(view, origin)}</main></body></html>"
    )


def _warning(view: View, origin: str) -> str:
    """What one must know before believing the map, as above it on the page."""
    words = view.map.warning(view.shown) if view.shown is not None else []
    if not words:
        return ""
    return data_html(_still(as_data(html.P(words, className="notice", role="note")), view, origin))


def _cards(view: View, origin: str) -> str:
    """The cards of the pinned heads; nothing when there are none."""
    if not view.state.pins:
        return ""
    return "".join(data_html(_still(as_data(card), view, origin)) for card in inspector(view, dark=False))


def _still(piece: Any, view: View, origin: str, roles: str = "") -> Any:
    """A piece of the page without scripts: buttons become their text, or nothing, and a head's roles are filled in."""
    if isinstance(piece, str):
        return piece
    tag, properties, children = piece
    if "data-name" in properties:
        roles = _roles(view, HeadId.parse(properties["data-name"]))
    kept = [_still(child, view, origin, roles) for child in children]
    if properties.get("className") == "roles" and not kept:
        kept = [roles]
    if tag == "button":
        is_text = properties.get("className") in {"pairs", "mate"}
        return ["span", {}, [*kept, " "]] if is_text else ""
    if str(properties.get("href", "")).startswith("/"):
        properties = {**properties, "href": origin + properties["href"]}
    return [tag, properties, kept]


def _roles(view: View, head: HeadId) -> str:
    """What the maps of the view call a head."""
    return title_of(view.panels, (view.card.layers.index(head.layer), head.head))


@cache
def _styles() -> str:
    return "".join((_ASSETS / f"{name}.css").read_text("utf-8") for name in _STYLES)
