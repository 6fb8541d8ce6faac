"""The page as a whole: header, controls, maps, what is below them."""

from collections.abc import Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from dashboard.page import ids
from dashboard.page.controls import EXPLAINED, controls
from dashboard.page.table import table
from dashboard.page.workshop import workshop
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


_STORES = (
    ids.ADDRESS,
    ids.SCREEN,
    ids.PINS,
    ids.QUERY,
    ids.HEADS,
    ids.TITLE,
    ids.CARDS,
    ids.JOBS,
    ids.FRESH,
    ids.CURVES,
)


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
    name = [_logo(), html.Span("Head Atlas")]
    return html.Header(
        [
            html.A(name, href="/", className="brand", **{"aria-label": "Head Atlas, start"}),
            _model(),
            _segments(ids.VIEW, "View", VIEW_NAMES),
            html.Div(className="spring"),
            _search(),
            html.Button("Copy link", id=ids.COPY, className="button"),
            html.Details([html.Summary("Download", className="button"), html.Div(id=ids.DOWNLOADS)], className="menu"),
            _segments(ids.THEME, "Theme", {"system": "System", "light": "Light", "dark": "Dark"}),
            html.Button("?", id=ids.HELP_OPEN, className="button round", **{"aria-label": "Help"}),
        ],
        className="top",
    )


def _model() -> dmc.Select:
    return dmc.Select(
        id=ids.MODEL, data=[], searchable=True, clearSearchOnFocus=True, allowDeselect=False,
        nothingFoundMessage="No model of that name", size="xs", w=205, **{"aria-label": "Model"},
    )  # fmt: skip


def _search() -> dmc.TextInput:
    label = {"aria-label": "Find a head by its name"}
    return dmc.TextInput(id=ids.SEARCH, placeholder="Find a head: 10.7", size="xs", w=125, **label)


def _segments(part: str, label: str, choices: Mapping[str, str]) -> dmc.SegmentedControl:
    """A choice; the first is the one at the start."""
    data = [{"value": value, "label": words} for value, words in choices.items()]
    return dmc.SegmentedControl(id=part, value=data[0]["value"], size="xs", data=data, **{"aria-label": label})


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
        html.Section(id=ids.NO_CAUSAL, className="card empty", hidden=True),
        html.Div(id=ids.LEGEND, className="legend"),
        _maps(),
        html.Div(table(), id=ids.TABLE_FRAME, hidden=True),
        html.Div(id=ids.INSPECTOR, className="inspector"),
        html.Div([_profile(), _counts()], id=ids.BESIDE, className="beside"),
        html.Div(_evidence(), id=ids.EVIDENCE, hidden=True),
        html.P(id=ids.ABSENT, className="absent"),
    ]


def _maps() -> html.Div:
    config = {"displayModeBar": False, "doubleClick": False, "scrollZoom": False}
    label = "Maps of heads. Arrow keys move, Enter pins. The table view lists the same numbers."
    graph = dcc.Graph(id=ids.MAPS, config=config, responsive=False, style={"minHeight": "160px"})
    return html.Div(graph, id=ids.FRAME, className="frame", tabIndex=0, role="application", **{"aria-label": label})


def _profile() -> html.Section:
    hint = "Share of a layer's heads in each category, stacked: a head of two counts in both."
    graph = dcc.Graph(id=ids.PROFILE, config={"displayModeBar": False})
    return html.Section([html.H2("By layer"), html.P(hint, className="hint"), graph], className="card profile")


def _counts() -> html.Section:
    return html.Section([html.H2("Counts"), html.Div(id=ids.COUNTS)], className="card")


def _evidence() -> list[Any]:
    """Below the causal map: its tasks, the validation curve, the loss curves."""
    quiet = {"displayModeBar": False}
    hint = (
        "Heads in the order of each score, highest first, and how the target's log-probability changes when such a "
        "head is switched off while the others stay at the first seed's G⁺ (a running mean over 5 % of the heads, in "
        "the order of the mean over the seeds, or of the seed that is shown alone). Below 0: the "
        "task needs them. About 0: they do not matter. Above 0: the task does better without them."
    )
    curves = (
        "One line a seed, the mean of ten updates: free gates first, then pushed open and pushed shut. Dotted: the "
        "untouched model on validation prompts. The first updates, from random gates, may lie above the frame."
    )
    return [
        html.Section([html.H2("Tasks"), html.Div(id=ids.FACTS)], className="card"),
        html.Section(
            [html.H2("Validation"), html.P(hint, className="hint"), dcc.Graph(id=ids.VALIDATION, config=quiet)],
            id=ids.VALIDATION_CARD,
            className="card",
        ),
        html.Details(
            [
                html.Summary(html.H2("Loss curves")),
                html.P(curves, className="hint"),
                dcc.Graph(id=ids.LOSSES, config=quiet),
            ],
            id=ids.LOSSES_CARD,
            className="card",
        ),
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
            html.P(
                "In the causal map every head has a gate, fitted while the model does a task. Facilitation F: the task "
                "needs the head. Interference N: the head hurts it. Irrelevance R: it does not matter."
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
    """Links that carry the view, whose query names the model at least; pictures are drawn in the browser."""
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
        html.Button(f"Picture, {kind.upper()}", **{"data-picture": kind, "data-figure": f"/export/figure.json{query}"})
        for kind in ("png", "svg")
    ]
    return [*pictures, *links]
