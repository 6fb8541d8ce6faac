"""The page as a whole: header, controls, maps, what is below them."""

from collections.abc import Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from dashboard.maps import MAPS
from dashboard.maps.paper import Paper
from dashboard.page import ids
from dashboard.page.controls import all_controls, controls
from dashboard.page.pairs import pairs_dialog
from dashboard.page.sections import sections
from dashboard.page.table import table, table_follows
from dashboard.page.workshop import workshop
from dashboard.state import ViewState
from dashboard.view import view_titles

THEMES = {"system": "System", "light": "Light", "dark": "Dark"}

_SHORTCUTS = (
    ("← ↑ → ↓", "move over the heads of a focused map"),
    ("Enter", "pin the head"),
    ("Esc", "clear pins"),
    ("/", "search heads: 10.7, capital, Paris, needed for math"),
    ("t", "transpose"),
    ("c", "copy the link to this view"),
    ("?", "this help"),
)


_STORES = (
    ids.ADDRESS,
    ids.SCREEN,
    ids.PINS,
    ids.QUERY,
    ids.HEADS,
    ids.FOLLOWED,
    ids.CARDS,
    ids.TABLE_CONTENT,
    ids.JOBS,
    ids.NEWS,
    ids.FRESH,
    ids.SENT,
    ids.FINISHED,
)


def page(read_only: bool = False) -> dmc.MantineProvider:
    """Everything that is on the page before a view is known."""
    return dmc.MantineProvider(
        [
            *(dcc.Store(id=name) for name in _STORES),
            html.A("Skip to the maps", href=f"#{ids.FRAME}", className="skip"),
            html.Div([_header(), _main(read_only)], id=ids.PAGE),
            _help(),
            pairs_dialog(),
            html.Div(id=ids.LIVE, className="unseen", role="status", **{"aria-live": "polite"}),
        ],
        id=ids.PROVIDER,
        theme={
            "primaryColor": "indigo",
            "fontFamily": "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
            "defaultRadius": "sm",
        },
    )


def brand() -> html.A:
    """The name of the product, which leads to the start."""
    name = [_logo(), html.Span("Head Atlas")]
    return html.A(name, href="/", className="brand", **{"aria-label": "Head Atlas, start"})


def _header() -> html.Header:
    return html.Header(
        [
            brand(),
            _model(),
            _segments(ids.VIEW, "View", _short(view_titles())),
            html.Div(className="spring"),
            _search(),
            html.Button("Copy link", id=ids.COPY, className="button"),
            html.Details([html.Summary("Download", className="button"), html.Div(id=ids.DOWNLOADS)], className="menu"),
            html.Details([html.Summary("More", className="button"), html.Div(_more())], className="menu"),
            html.Button("?", id=ids.HELP_OPEN, className="button round", **{"aria-label": "Help"}),
        ],
        className="top",
    )


def _short(titles: Mapping[str, str]) -> dict[str, str]:
    """The views as the picker calls them: that they are maps, one sees."""
    return {name: title.removesuffix(" map") for name, title in titles.items()}


def _more() -> list[Any]:
    """The pages beside this one, whose addresses the scripts add the model to, and the theme."""
    return [
        html.A("Compare numbers and models", href="/compare", **{"data-page": "a", "data-own": ""}),
        html.A("On my prompt", href="/prompt", **{"data-page": "model", "data-heads": ""}),
        html.A("API", href="/api/docs"),
        _segments(ids.THEME, "Theme", THEMES),
    ]


def _model() -> dmc.Select:
    return dmc.Select(
        id=ids.MODEL, data=[], searchable=True, clearSearchOnFocus=True, allowDeselect=False,
        nothingFoundMessage="No model with that name", size="xs", w=190, **{"aria-label": "Model"},
    )  # fmt: skip


def _search() -> dmc.TextInput:
    label = {"aria-label": "Find heads by name, relation, token or task"}
    return dmc.TextInput(id=ids.SEARCH, placeholder="10.7, capital, Paris", size="xs", w=140, **label)


def _segments(part: str, label: str, choices: Mapping[str, str]) -> dmc.SegmentedControl:
    """A choice; the first is the one at the start."""
    data = [{"value": value, "label": words} for value, words in choices.items()]
    return dmc.SegmentedControl(id=part, value=data[0]["value"], size="xs", data=data, **{"aria-label": label})


def _main(read_only: bool) -> html.Main:
    return html.Main(
        [
            html.H1(id=ids.HEADING, className="unseen"),
            html.Div(id=ids.NOTICES, role="status"),
            html.Div(_atlas(), id=ids.ATLAS),
            html.Div(workshop(read_only), id=ids.WORKSHOP, hidden=True),
            dcc.Interval(id=ids.POLL, interval=3000),
        ]
    )


def _atlas() -> list[Any]:
    return [
        html.Div(id=ids.WARNING, className="notice", role="note", hidden=True),
        html.P([html.Span(id=ids.SENTENCE), papers_in_short()], className="sentence"),
        html.Button("Settings", className="button fold", **{"data-fold": "controls", "aria-expanded": "false"}),
        controls(),
        html.Section(id=ids.EMPTY, className="card empty", hidden=True),
        html.Div(id=ids.LEGEND, className="legend"),
        _maps(),
        html.Div(table(), id=ids.TABLE_FRAME, hidden=True, **{"data-follows": " ".join(table_follows())}),
        _drawer(),
        *sections(),
    ]


def _maps() -> html.Div:
    label = "Maps of heads. Arrow keys move, Enter pins. The table view lists the same numbers."
    maps = html.Div(id=ids.MAPS, className="sheet")
    return html.Div(maps, id=ids.FRAME, className="frame", tabIndex=0, role="application", **{"aria-label": label})


def _drawer() -> html.Div:
    """The cards of pinned heads; on a phone they come up from below when a head is tapped."""
    close = html.Button("Close", className="button lower", **{"data-lower": ids.DRAWER})
    return html.Div([close, html.Div(id=ids.INSPECTOR, className="inspector")], id=ids.DRAWER)


def _help() -> dmc.Modal:
    keys = [html.Tr([html.Td(dmc.Kbd(key)), html.Td(words)]) for key, words in _SHORTCUTS]
    explained: list[Any] = []
    for control in all_controls():
        explained += [html.Dt(control.label), html.Dd(control.explained)]
    return dmc.Modal(
        [
            *(html.P(each.help) for each in MAPS if each.help),
            html.P(["Published in ", *_papers(), "."]),
            html.P("The page's address holds the whole view: send it, and a colleague sees what you see."),
            html.Dl(explained),
            html.Table(html.Tbody(keys), className="keys"),
        ],
        id=ids.HELP,
        title="How to read the maps",
        size="lg",
        closeButtonProps={"aria-label": "Close"},
    )


def papers_in_short() -> html.Span:
    """Links to the papers, behind the first sentence."""
    return html.Span([" Papers: ", *_papers(short=True), "."])


def _papers(short: bool = False) -> list[Any]:
    """Links to the papers of all maps, in full or by authors and year."""
    links: list[Any] = []
    for each in MAPS:
        if each.paper is not None:
            links += [" and " if links else "", _paper(each.paper, short)]
    return links


def _paper(paper: Paper, short: bool) -> html.A:
    return html.A(paper.short if short else paper.words, href=paper.address, title=paper.words if short else "")


def _logo() -> html.Img:
    return html.Img(src="/assets/favicon.svg", alt="", width=22, height=22)


def downloads(state: ViewState) -> list[Any]:
    """Links that carry the view, whose state names the checkpoint; pictures are drawn in the browser."""
    query = state.to_query()
    files = (
        ("csv", "All heads of this view, CSV", "view.csv"),
        ("csv-all", "All scores, CSV", "scores.csv"),
        ("parquet-view", "All heads of this view, Parquet", "view.parquet"),
        ("parquet", "All scores, Parquet", "scores.parquet"),
        ("html", "Stand-alone page, HTML", "page.html"),
        ("py", "Reproduce, Python", "reproduce.py"),
    )
    links: list[Any] = []
    for kind in ("png", "svg"):
        drawn_from = {"data-picture": kind, "data-figure": f"/export/figure.json{query}"}
        links.append(html.Button(f"Picture of all heads, {kind.upper()}", **drawn_from))
    for name, words, file in files:
        links.append(html.A(words, href=f"/export/{file}{query}", download=True, **{"data-export": name}))
    return links
