"""A text of one's own: where heads look, and what each head does for the next token. A script asks and draws."""

from collections.abc import Mapping, Sequence
from typing import Any

from dash import dcc, html

from analysis.models.card import ModelCard
from analysis.prompt.question import MAX_HEADS
from dashboard.addresses import PromptState
from dashboard.page.beside import header, settings_of_form
from dashboard.query import named

_OFF = {"last": "the last token", "all": "every token", "none": "no token (skip this)"}  # where heads are switched off
_INSTEAD = {"zero": "zero", "mean": "its mean over the text"}
EXAMPLE = "When Mary and John went to the store, John gave a drink to"


def prompt_page(card: ModelCard, models: Sequence[ModelCard], asked: PromptState) -> list[Any]:
    """The page without what the worker computes; heads of `card` are searched, `asked` is what the address says."""
    names = {named(card): card.id for card in models}
    if not asked.model:
        names = {"": "Choose a model", **names}
    form = html.Form(
        [
            html.Label([html.Span("Model"), _select("model", names, asked.model)]),
            html.Label([html.Span(f"Show the attention of heads (at most {MAX_HEADS})"), _heads(asked.head)]),
            html.Label([html.Span("Switch heads off at"), _select("ablate", _OFF, asked.ablate)]),
            html.Label([html.Span("Replace their output by"), _select("instead", _INSTEAD, asked.instead)]),
            html.Label([html.Span("Text"), _text(asked.text)], className="long"),
            html.Button("Run", className="button"),
        ],
        id="prompt-form",
        action="/prompt",
        method="get",
        className="prompt-form",
        **settings_of_form(PromptState),
        **{"data-heads": str(MAX_HEADS)},
    )
    return [
        header(card),
        html.Main(
            [
                html.H1("On my prompt"),
                html.P(
                    "Type a text to see where heads look, what the model predicts next, and which heads matter for it.",
                    className="hint",
                ),
                form,
                html.P(id="prompt-note", className="hint", role="status"),
                html.Section(id="prompt-next", className="card", hidden=True),
                html.Div(id="prompt-maps", className="compare-maps"),
                html.P(id="prompt-left-out", className="hint", role="status"),
                html.Div(id="prompt-patterns", className="prompt-patterns"),
                html.P(id="prompt-source", className="hint"),
            ],
            className="head-page",
        ),
    ]


def _select(name: str, options: Mapping[str, str], chosen: str) -> html.Select:
    """The chosen one, or else the first."""
    listed = [html.Option(words, value=value, selected=value == chosen) for value, words in options.items()]
    return html.Select(listed, name=name)


def _heads(value: str) -> dcc.Input:
    return dcc.Input(type="text", name="head", value=value, placeholder="L18H6 L16H0")


def _text(value: str) -> html.Textarea:
    """Line breaks count; the first one of a text area would not."""
    return html.Textarea(f"\n{value}" if value.startswith("\n") else value, name="text", placeholder=EXAMPLE)
