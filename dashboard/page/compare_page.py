"""Any number of every head against any other: two maps side by side, their difference, a scatter, matched heads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dash import dcc, html

from analysis.evidence.quantity import Quantity
from analysis.models.card import ModelCard
from analysis.results.own_sets import OwnSet
from dashboard.addresses import CompareState
from dashboard.maps import map_of
from dashboard.page.beside import header, settings_of_form
from dashboard.query import named
from dashboard.setting import MAX_PINS

_NOTHING = Quantity("", "all alike", "")
_OVER_WORDS = {  # by how samples are taken together
    "one": "one value per head",
    "mean": "mean",
    "always": "always: the smallest",
    "any": "any: the largest",
}


@dataclass(frozen=True)
class Choices:
    """What can be chosen, and what is: models by their id and fingerprint, numbers by their keys, sets by name@id."""

    left: ModelCard
    models: tuple[ModelCard, ...]
    of_a: tuple[Quantity, ...]
    of_b: tuple[Quantity, ...]
    chosen: CompareState
    sets: tuple[OwnSet, ...]  # custom relation sets
    own: Mapping[str, str]  # by axis the id of the set whose scores are among the numbers; empty for none
    notices: tuple[str, ...] = ()


def compare_page(choices: Choices) -> list[Any]:
    """The page without its drawings, which a script makes from the API."""
    main = [
        html.H1("Compare"),
        html.P(
            "Each square and each point is one attention head. Hover to find a head everywhere, drag over the "
            "points to select several, click to open a head's page. On a map, arrow keys move and Enter opens. "
            "All choices are in the address.",
            className="hint",
        ),
        _form(choices),
        html.P(id="compare-note", className="hint", role="status"),
        html.P(id="compare-head", className="hint", role="status"),
        html.Div(id="compare-maps", className="compare-maps"),
        html.Section(id="compare-scatter", className="card"),
        html.Section(id="compare-heads", className="card"),
        html.Section(id="compare-matches", className="card"),
        html.Div(id="compare-sources", className="hint"),
    ]
    return [header(choices.left), html.Main(main, className="head-page")]


def _form(choices: Choices) -> html.Form:
    """What is compared, with all that the script needs to know of the choices."""
    data = {
        "data-classes": json.dumps(_classes([*choices.of_a, *choices.of_b])),
        "data-samples": json.dumps({"x": _samples(choices.of_a), "y": _samples(choices.of_b)}),
        "data-over": json.dumps(_OVER_WORDS),
        "data-own": json.dumps(dict(choices.own)),
        "data-pins": str(MAX_PINS),
    }
    return html.Form(
        _fields(choices),
        id="compare-form",
        action="/compare",
        method="get",
        className="compare-form",
        **settings_of_form(CompareState),
        **data,
    )


def _fields(choices: Choices) -> list[Any]:
    """Model, number and samples of both sides, and how points are drawn."""
    models = [(named(card), card.id, "") for card in choices.models]
    numbers = [each for each in choices.of_a if not each.is_class]
    sets = [("", "none", ""), *((one.address, one.name, "") for one in choices.sets)]
    return [
        _field("a", "Left: model", models, choices),
        _field("x", "Left: number", _options(choices.of_a), choices),
        _over_field("x_over", "Left: samples", choices.of_a, choices.chosen.x, choices.chosen.x_over),
        _field("b", "Right: model", models, choices),
        _field("y", "Right: number", _options(choices.of_b), choices),
        _over_field("y_over", "Right: samples", choices.of_b, choices.chosen.y, choices.chosen.y_over),
        _field("colour", "Point colour", _options([_NOTHING, *choices.of_a]), choices),
        _field("size", "Point size", _options([_NOTHING, *numbers]), choices),
        *([_field("own", "Own relations", sets, choices)] if choices.sets else []),
        dcc.Input(type="hidden", name="brush", value=choices.chosen.brush),
    ]


def samples_of(listed: Sequence[Quantity], key: str) -> tuple[str, ...]:
    """How the samples of a number can be taken together instead of their mean."""
    for each in listed:
        if each.key == key:
            return each.samples
    return ()


def _samples(listed: Sequence[Quantity]) -> dict[str, tuple[str, ...]]:
    """The same by method and kind: it is the same for all items."""
    return {_kind_of(each.key): each.samples for each in listed if each.samples}


def _kind_of(key: str) -> str:
    name, _, rest = key.partition("/")
    return f"{name}/{rest.rpartition('/')[2]}"


def _over_field(name: str, label: str, listed: Sequence[Quantity], key: str, chosen: str) -> html.Label:
    """How samples are taken together; there may be only one."""
    samples = samples_of(listed, key)
    words = {"": _OVER_WORDS["mean" if samples else "one"]}
    words |= {sample: _OVER_WORDS.get(sample, sample) for sample in samples}
    options = [_option(value, text, value == chosen) for value, text in words.items()]
    return html.Label([html.Span(label), html.Select(options, name=name, disabled=not samples)])


def _classes(listed: Sequence[Quantity]) -> dict[str, list[tuple[str, str]]]:
    """The words and the tone of each class, by the map that leads the keys of its numbers."""
    classes = {}
    for quantity in listed:
        leading = map_of(quantity.map)
        if quantity.is_class and leading is not None:
            classes[quantity.map] = list(leading.classes())
    return classes


def _options(listed: Sequence[Quantity]) -> list[tuple[str, str, str]]:
    return [(each.key, each.title, each.group) for each in listed]


def _field(key: str, label: str, options: Sequence[tuple[str, str, str]], choices: Choices) -> html.Label:
    """A picker; what it offers stands in groups."""
    groups: list[Any] = []
    chosen = getattr(choices.chosen, key)
    for group, members in groupby(options, key=lambda option: option[2]):
        listed = [_option(value, words, value == chosen) for value, words, _ in members]
        groups += [html.Optgroup(listed, label=group)] if group else listed
    of_chosen = next((group for value, _, group in options if value == chosen), "")
    name = html.Span([label, html.B(f" · {of_chosen}" if of_chosen else "")])  # a closed picker does not say the group
    return html.Label([name, html.Select(groups, name=key)])


def _option(value: str, words: str, chosen: bool) -> html.Option:
    return html.Option(words, value=value, selected=chosen)
