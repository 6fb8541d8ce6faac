"""What can be read before the page's scripts run, and without them: which view this is and how to read it."""

from typing import Any

from dash import html

from dashboard.maps.legend import legend
from dashboard.page.layout import brand, papers_in_short
from dashboard.page.markup import as_html
from dashboard.view import View


def opening(view: View) -> str:
    """Header, heading, sentence and legend of a view, as HTML; nothing that would still have to be filled."""
    words: list[Any] = [html.H1(view.title, className="unseen")]
    if view.shown is not None:
        words.append(html.P([html.Span(view.map.sentence(view.shown)), papers_in_short()], className="sentence"))
        for dark, theme in ((False, "light"), (True, "dark")):  # which one is shown, the browser knows
            words.append(html.Div(legend(view.shown, dark), className=f"legend only-{theme}"))
    return as_html(html.Div([html.Header([brand()], className="top"), html.Main(words)], className="opening"))
