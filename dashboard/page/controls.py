"""What a person can change, from the most used on."""

from typing import Any

import dash_mantine_components as dmc
from dash import html

from analysis.models.card import ModelCard
from analysis.results.scores import Scores
from dashboard.maps.causal.gates import seeds
from dashboard.page import ids
from dashboard.state import FIRST, MAX_TASKS, ViewState

EXPLAINED = {
    "Category rule": "Any: at least one relation of the category scores above τ. Always: every relation does.",
    "Effect": "Promote: the head lifts the right token to the top. Suppress: it pushes it to the bottom.",
    "Colour by": "Category: one colour each above τ. Score: the number itself, from 0 to 1.",
    "Threshold τ": "A score is the share of a relation's word pairs that the head maps rightly. Above τ it counts.",
    "Relation": "One relation instead of the categories.",
    "Only the best": "The strongest heads of each category; empty shows all.",
    "Tasks": "The rows of the causal map: what the model was asked to do while its gates were fitted.",
    "Over the seeds": "Always: the least score of all random beginnings. Any: the largest.",
    "Show": "F and N as two colours of light, one score alone, or the gradient preview, a first-order estimate.",
    "Seeds": "How many random beginnings Always and Any go over, or one of them alone.",
    "Fit": "Which fit of the model's gates goes first: the longest, or one that somebody asked for.",
    "Threshold θ": "A head has a role from this score on; below it the light is dimmed. Published: 0.5.",
    "Axes": "Swap layers and heads (t).",
    "Palette": "Safe (Okabe–Ito) is told apart with every common colour vision; Paper uses the published colours.",
}


def controls() -> html.Div:
    """The bar above the maps. Values come with the first view."""
    default = ViewState()
    function = (
        ("Category rule", _segments(ids.HOW, default.how, any="Any", always="Always")),
        ("Effect", _segments(ids.KIND, default.kind, both="Both", promote="Promote", suppress="Suppress")),
        ("Colour by", _segments(ids.COLOUR, default.colour, categories="Category", scores="Score")),
        ("Threshold τ", _slider(ids.TAU, "Threshold τ", default.tau)),
        ("Relation", _relation()),
        ("Only the best", _only_the_best()),
    )
    causal = (
        ("Tasks", _tasks()),
        ("Over the seeds", _segments(ids.COLUMNS, default.columns, both="Always + Any", always="Always", any="Any")),
        ("Show", _gates(default.gates)),
        ("Seeds", _seed()),
        ("Fit", _fit()),
        ("Threshold θ", _slider(ids.ROLE, "Threshold θ", default.role)),
    )
    common = (
        ("Axes", dmc.Switch(id=ids.TRANSPOSE, checked=False, label="Transpose", size="sm")),
        ("Palette", _segments(ids.PALETTE, default.palette, **{"okabe-ito": "Safe", "paper": "Paper"})),
    )
    groups = [
        html.Div([_labelled(name, control) for name, control in parts], className="group", hidden=hidden, **name_of)
        for parts, hidden, name_of in (
            (function, False, {"id": ids.FUNCTION_CONTROLS}),
            (causal, True, {"id": ids.CAUSAL_CONTROLS}),
            (common, False, {}),
        )
    ]
    return html.Div(groups, className="controls", role="group", **{"aria-label": "What the maps show"})


def _segments(name: str, value: str, **labels: str) -> dmc.SegmentedControl:
    data = [{"value": key, "label": label} for key, label in labels.items()]
    return dmc.SegmentedControl(id=name, value=value, data=data, size="xs", **{"aria-label": name.capitalize()})


def _slider(name: str, label: str, value: float) -> dmc.Slider:
    return dmc.Slider(
        id=name, value=value, min=0, max=1, step=0.01, precision=2, marks=[{"value": value}],
        size="sm", w=130, updatemode="drag", thumbLabel=label,
    )  # fmt: skip


def _tasks() -> dmc.MultiSelect:
    return dmc.MultiSelect(
        id=ids.TASKS, data=[], value=[], size="xs", w=180, maxValues=MAX_TASKS,
        hidePickedOptions=True, clearable=False, **{"aria-label": "Tasks"},
    )  # fmt: skip


def _gates(value: str) -> dmc.SegmentedControl:
    names = {"both": "F and N", "facilitation": "F", "interference": "N", "irrelevance": "R", "preview": "Preview"}
    return _segments(ids.GATES, value, **names)


def _seed() -> dmc.Select:
    return dmc.Select(
        id=ids.SEED, data=[], value="", clearable=False, allowDeselect=False, size="xs", w=90,
        **{"aria-label": "Seeds"},
    )  # fmt: skip


def _fit() -> dmc.Select:
    return dmc.Select(
        id=ids.FIT, data=[], value="", clearable=False, allowDeselect=False, size="xs", w=96,
        comboboxProps={"width": 420, "position": "bottom-start"}, **{"aria-label": "Fit"},
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
    number = {"Threshold τ": ids.TAU_SHOWN, "Threshold θ": ids.ROLE_SHOWN}.get(name)
    shown = html.Span([f"{name} = ", html.Output(id=number)] if number else name, className="label")
    return html.Div([shown, control], className="control wide" if number else "control", title=EXPLAINED[name])


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


def task_choices(causal: Scores | None) -> list[dict[str, str]]:
    """The tasks that gates were fitted for."""
    items = causal.provenance.items if causal is not None else ()
    return [{"value": item["name"], "label": item["title"]} for item in items]


def fit_choices(fits: dict[str, str]) -> list[dict[str, str]]:
    """The usual one, then all by their words."""
    return [{"value": "", "label": "Longest"}, *({"value": name, "label": words} for name, words in fits.items())]


def seed_choices(causal: Scores | None) -> list[dict[str, Any]]:
    """All seeds, so many of them, one of them."""
    found = seeds(causal) if causal is not None else []
    fewer = [{"value": f"{FIRST}{count}", "label": f"First {count}"} for count in range(2, len(found))]
    single = [{"value": seed, "label": f"Seed {seed}"} for seed in found]
    every = {"value": "", "label": f"All {len(found)}" if found else "All"}
    return [every, *([{"group": "Fewer", "items": fewer}] if fewer else []), {"group": "One alone", "items": single}]
