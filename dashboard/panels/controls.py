"""What a person can change, from the most used on."""

from typing import Any

import dash_mantine_components as dmc
from dash import html

from analysis.heads import ModelCard
from analysis.scores import Scores
from dashboard import ids
from dashboard.state import ViewState

EXPLAINED = {
    "Category rule": "Any: at least one relation of the category scores above τ. Always: every relation does.",
    "Effect": "Promote: the head lifts the right token to the top. Suppress: it pushes it to the bottom.",
    "Colour by": "Category: one colour each above τ. Score: the number itself, from 0 to 1.",
    "Threshold τ": "A score is the share of a relation's word pairs that the head maps rightly. Above τ it counts.",
    "Relation": "One relation instead of the categories.",
    "Only the best": "The strongest heads of each category; empty shows all.",
    "Axes": "Swap layers and heads (t).",
    "Palette": "Safe (Okabe–Ito) is told apart with every common colour vision; Paper uses the published colours.",
}


def controls() -> html.Div:
    """The bar above the maps. Values come with the first view."""
    default = ViewState()
    return html.Div(
        [
            _labelled(
                "Category rule",
                EXPLAINED["Category rule"],
                _segments(ids.HOW, default.how, (("any", "Any"), ("always", "Always"))),
            ),
            _labelled(
                "Effect",
                EXPLAINED["Effect"],
                _segments(ids.KIND, default.kind, (("both", "Both"), ("promote", "Promote"), ("suppress", "Suppress"))),
            ),
            _labelled(
                "Colour by",
                EXPLAINED["Colour by"],
                _segments(ids.COLOUR, default.colour, (("categories", "Category"), ("scores", "Score"))),
            ),
            _labelled(
                ["Threshold τ = ", html.Output(id=ids.TAU_SHOWN)],
                EXPLAINED["Threshold τ"],
                dmc.Slider(
                    id=ids.TAU,
                    value=default.tau,
                    min=0,
                    max=1,
                    step=0.01,
                    precision=2,
                    size="sm",
                    w=150,
                    updatemode="drag",
                    marks=[{"value": 0.15}],
                    thumbLabel="Threshold τ",
                ),
                wide=True,
            ),
            _labelled(
                "Relation",
                EXPLAINED["Relation"],
                dmc.Select(
                    id=ids.RELATION,
                    data=[],
                    value="",
                    searchable=True,
                    clearSearchOnFocus=True,
                    nothingFoundMessage="No relation of that name",
                    clearable=False,
                    allowDeselect=False,
                    size="xs",
                    w=210,
                    maxDropdownHeight=360,
                    **{"aria-label": "Relation"},
                ),
            ),
            _labelled(
                "Only the best",
                EXPLAINED["Only the best"],
                dmc.NumberInput(
                    id=ids.TOP,
                    value="",
                    placeholder="all",
                    min=0,
                    max=999,
                    size="xs",
                    w=70,
                    allowDecimal=False,
                    allowNegative=False,
                    debounce=300,
                    **{"aria-label": "Only the best heads"},
                ),
            ),
            _labelled(
                "Axes",
                EXPLAINED["Axes"],
                dmc.Switch(id=ids.TRANSPOSE, checked=False, label="Transpose", size="sm"),
            ),
            _labelled(
                "Palette",
                EXPLAINED["Palette"],
                _segments(ids.PALETTE, default.palette, (("okabe-ito", "Safe"), ("paper", "Paper"))),
            ),
        ],
        className="controls",
        role="group",
        **{"aria-label": "What the maps show"},
    )


def _segments(name: str, value: str, choices: tuple[tuple[str, str], ...]) -> dmc.SegmentedControl:
    data = [{"value": key, "label": label} for key, label in choices]
    return dmc.SegmentedControl(id=name, value=value, data=data, size="xs", **{"aria-label": name.capitalize()})


def _labelled(label: Any, help_text: str, control: Any, wide: bool = False) -> html.Div:
    """A control under its name; hovering explains it, and so does the help."""
    name = html.Span(label, className="label", title=help_text)
    return html.Div([name, control], className="control wide" if wide else "control", title=help_text)


def model_choices(cards: list[ModelCard]) -> list[dict[str, str]]:
    """The models that have a map; a fingerprint is added where two have one name."""
    names = [card.id for card in cards]
    return [
        {
            "value": f"{card.id}@{card.fingerprint[:8]}",
            "label": card.id if names.count(card.id) == 1 else f"{card.id} {card.fingerprint[:8]}",
        }
        for card in cards
    ]


def relation_choices(scores: Scores) -> list[dict[str, Any]]:
    """All categories first, then the relations of each."""
    groups = [
        {
            "group": category.capitalize(),
            "items": [{"value": name, "label": scores.item(name)["title"]} for name in scores.items(category)],
        }
        for category in scores.categories()
    ]
    return [{"value": "", "label": "All, by category"}, *groups]
