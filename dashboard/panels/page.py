"""The page as a whole: header, controls, maps, what is below them."""

from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from dashboard import ids
from dashboard.panels.controls import EXPLAINED, controls
from dashboard.panels.table import table
from dashboard.panels.workshop import workshop
from dashboard.view import VIEW_NAMES

_SHORTCUTS = (
    ("← ↑ → ↓", "move over the heads of a focused map"),
    ("Enter", "pin the head"),
    ("Esc", "clear pins"),
    ("/", "search a head: 10.7 or L10H7"),
    ("t", "transpose"),
    ("c", "copy the link to this view"),
    ("?", "this help"),
)


_STORES = (ids.ADDRESS, ids.SCREEN, ids.PINS, ids.QUERY, ids.HEADS, ids.TITLE, ids.CARDS, ids.JOBS, ids.FRESH)


def page(read_only: bool = False) -> dmc.MantineProvider:
    """Everything that is on the page before a view is known."""
    return dmc.MantineProvider(
        [
            *(dcc.Store(id=name) for name in _STORES),
            html.A("Skip to the maps", href=f"#{ids.FRAME}", className="skip"),
            html.Div([_header(), _main(read_only)], id=ids.PAGE),
            _help(),
            html.Div(id=ids.LIVE, className="unseen", role="status", **{"aria-live": "polite"}),
        ],
        id=ids.PROVIDER,
        theme={
            "primaryColor": "indigo",
            "fontFamily": "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
            "defaultRadius": "sm",
        },
    )


def _header() -> html.Header:
    return html.Header(
        [
            html.A(
                [_logo(), html.Span("Head Atlas")], href="/", className="brand", **{"aria-label": "Head Atlas, start"}
            ),
            dmc.Select(
                id=ids.MODEL,
                data=[],
                size="xs",
                w=230,
                allowDeselect=False,
                searchable=True,
                clearSearchOnFocus=True,
                nothingFoundMessage="No model of that name",
                **{"aria-label": "Model"},
            ),
            dmc.SegmentedControl(
                id=ids.VIEW,
                value="function",
                size="xs",
                data=[{"value": value, "label": label} for value, label in VIEW_NAMES.items()],
                **{"aria-label": "View"},
            ),
            html.Div(className="spring"),
            dmc.TextInput(
                id=ids.SEARCH,
                placeholder="Find a head: 10.7",
                size="xs",
                w=150,
                **{"aria-label": "Find a head by its name"},
            ),
            html.Button("Copy link", id=ids.COPY, className="button"),
            html.Details([html.Summary("Download", className="button"), html.Div(id=ids.DOWNLOADS)], className="menu"),
            dmc.SegmentedControl(
                id=ids.THEME,
                value="system",
                size="xs",
                data=[{"value": v, "label": v.capitalize()} for v in ("system", "light", "dark")],
                **{"aria-label": "Theme"},
            ),
            html.Button("?", id=ids.HELP_OPEN, className="button round", **{"aria-label": "Help"}),
        ],
        className="top",
    )


def _main(read_only: bool) -> html.Main:
    return html.Main(
        [
            html.Div(id=ids.NOTICES, role="status"),
            html.Div(_atlas(), id=ids.ATLAS),
            html.Div(workshop(read_only), id=ids.WORKSHOP, hidden=True),
            dcc.Interval(id=ids.POLL, interval=3000),
        ]
    )


def _atlas() -> list[Any]:
    return [
        html.Div(id=ids.SENTENCE, className="sentence"),
        controls(),
        html.Div(id=ids.LEGEND, className="legend"),
        html.Div(
            dcc.Graph(
                id=ids.MAPS,
                config={"displayModeBar": False, "doubleClick": False, "scrollZoom": False},
                responsive=False,
                style={"minHeight": "160px"},
            ),
            id=ids.FRAME,
            className="frame",
            tabIndex=0,
            role="application",
            **{"aria-label": "Maps of heads. Arrow keys move, Enter pins. The table view lists the same numbers."},
        ),
        html.Div(table(), id=ids.TABLE_FRAME, hidden=True),
        html.Div(id=ids.INSPECTOR, className="inspector"),
        html.Div(
            [
                html.Section(
                    [
                        html.H2("By layer"),
                        html.P(
                            "Share of a layer's heads in each category, stacked: a head of two counts in both.",
                            className="hint",
                        ),
                        dcc.Graph(id=ids.PROFILE, config={"displayModeBar": False}),
                    ],
                    className="card profile",
                ),
                html.Section([html.H2("Counts"), html.Div(id=ids.COUNTS)], className="card"),
            ],
            className="beside",
        ),
        html.P(id=ids.ABSENT, className="absent"),
    ]


def _help() -> dmc.Modal:
    keys = [html.Tr([html.Td(dmc.Kbd(key)), html.Td(words)]) for key, words in _SHORTCUTS]
    return dmc.Modal(
        [
            html.P(
                "Every square is one attention head. Its score for a relation, such as country → capital, is the share "
                "of word pairs for which the head's weights alone lift the right word to the top of the vocabulary "
                "(promote), or push it to the bottom (suppress). A head belongs to a category when a score is above τ."
            ),
            html.P("The address of the page is the view: send it, and a colleague sees what you see."),
            html.Dl([part for name, text in EXPLAINED.items() for part in (html.Dt(name), html.Dd(text))]),
            html.Table(html.Tbody(keys), className="keys"),
        ],
        id=ids.HELP,
        title="How to read the maps",
        size="lg",
        closeButtonProps={"aria-label": "Close"},
    )


def _logo() -> html.Img:
    return html.Img(src="/assets/favicon.svg", alt="", width=22, height=22)


def downloads(query: str) -> list[Any]:
    """Links that carry the view; pictures are drawn in the browser."""
    mark = "&" if query else "?"
    files = (
        ("csv", "This view, CSV", f"/export/view.csv{query}"),
        ("csv-all", "All scores, CSV", f"/export/scores.csv{query}"),
        ("parquet-view", "This view, Parquet", f"/export/view.parquet{query}"),
        ("parquet", "All scores, Parquet", f"/export/scores.parquet{query}"),
        ("html", "Stand-alone page, HTML", f"/export/page.html{query}"),
        ("py", "Reproduce, Python", f"/export/reproduce.py{query}"),
    )
    links = [html.A(words, href=href, download=True, **{"data-export": name}) for name, words, href in files]
    pictures = [
        html.Button(
            f"Picture, {kind.upper()}", **{"data-picture": kind, "data-figure": f"/export/figure.json{query}{mark}"}
        )
        for kind in ("png", "svg")
    ]
    return [*pictures, *links]
