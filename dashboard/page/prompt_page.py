"""A text of one's own: where heads look, and what each head does for the next token. A script asks and draws."""

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from analysis.models.card import ModelCard
from dashboard.page.compare_page import named
from dashboard.page.head_page import copy_button

KEYS = ("model", "text", "head")
EXAMPLE = "When Mary and John went to the store, John gave a drink to"
LONGEST = 2000  # characters of a text


def prompt_page(models: Sequence[ModelCard], chosen: str, text: str, heads: str) -> list[Any]:
    """The page without what the worker computes."""
    options = [html.Option(card.id, value=named(card), selected=named(card) == chosen) for card in models]
    form = html.Form(
        [
            html.Label([html.Span("Model"), html.Select(options, name="model")]),
            html.Label(
                [html.Span("Heads whose attention is shown"), _input("head", heads, "L18H6 L16H0")], className="few"
            ),
            html.Label([html.Span("Text"), _input("text", text, EXAMPLE)], className="long"),
            html.Button("Read it", className="button"),
        ],
        id="prompt-form",
        action="/prompt",
        method="get",
        className="prompt-form",
    )
    header = html.Header(
        [
            html.A("Head Atlas", href="/", className="brand"),
            html.A("The maps", href="/", className="button"),
            copy_button(),
        ],
        className="top",
    )
    return [
        header,
        html.Main(
            [
                html.H1("On my prompt"),
                form,
                html.P(id="prompt-note", className="hint", role="status"),
                html.Section(id="prompt-next", className="card", hidden=True),
                html.Div(id="prompt-maps", className="compare-maps"),
                html.Div(id="prompt-patterns", className="prompt-patterns"),
            ],
            className="head-page",
        ),
    ]


def _input(name: str, value: str, example: str) -> dcc.Input:
    return dcc.Input(type="text", name=name, value=value, placeholder=example)
