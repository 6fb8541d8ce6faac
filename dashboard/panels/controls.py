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
    parts = (
        ("Category rule", _segments(ids.HOW, default.how, any="Any", always="Always")),
        ("Effect", _segments(ids.KIND, default.kind, both="Both", promote="Promote", suppress="Suppress")),
        ("Colour by", _segments(ids.COLOUR, default.colour, categories="Category", scores="Score")),
        ("Threshold τ", _threshold(default.tau)),
        ("Relation", _relation()),
        ("Only the best", _only_the_best()),
        ("Axes", dmc.Switch(id=ids.TRANSPOSE, checked=False, label="Transpose", size="sm")),
        ("Palette", _segments(ids.PALETTE, default.palette, **{"okabe-ito": "Safe", "paper": "Paper"})),
    )
    labelled = [_labelled(name, control) for name, control in parts]
    return html.Div(labelled, className="controls", role="group", **{"aria-label": "What the maps show"})


def _segments(name: str, value: str, **labels: str) -> dmc.SegmentedControl:
    data = [{"value": key, "label": label} for key, label in labels.items()]
    return dmc.SegmentedControl(id=name, value=value, data=data, size="xs", **{"aria-label": name.capitalize()})


def _threshold(tau: float) -> dmc.Slider:
    return dmc.Slider(
        id=ids.TAU, value=tau, min=0, max=1, step=0.01, precision=2, marks=[{"value": 0.15}],
        size="sm", w=150, updatemode="drag", thumbLabel="Threshold τ",
    )  # fmt: skip


def _relation() -> dmc.Select:
    return dmc.Select(
        id=ids.RELATION, data=[], value="", searchable=True, clearSearchOnFocus=True,
        nothingFoundMessage="No relation of that name", clearable=False, allowDeselect=False,
        size="xs", w=210, maxDropdownHeight=360, **{"aria-label": "Relation"},
    )  # fmt: skip


def _only_the_best() -> dmc.NumberInput:
    return dmc.NumberInput(
        id=ids.TOP, value="", placeholder="all", min=0, max=999, allowDecimal=False, allowNegative=False,
        size="xs", w=70, debounce=300, **{"aria-label": "Only the best heads"},
    )  # fmt: skip


def _labelled(name: str, control: Any) -> html.Div:
    """A control under its name; hovering explains it, and so does the help."""
    wide = name == "Threshold τ"
    shown = html.Span([f"{name} = ", html.Output(id=ids.TAU_SHOWN)] if wide else name, className="label")
    return html.Div([shown, control], className="control wide" if wide else "control", title=EXPLAINED[name])


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
