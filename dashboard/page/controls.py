"""What a person can change, from the most used on: the maps' controls and those of every view."""

from functools import cache
from typing import Any

import dash_mantine_components as dmc
from dash import html

from analysis.models.card import ModelCard
from dashboard.maps import MAPS
from dashboard.maps.control import Choice, Control, segments
from dashboard.maps.map import Map
from dashboard.page import ids
from dashboard.query import named
from dashboard.setting import settings_of
from dashboard.state import ViewState


def common_controls() -> list[Control]:
    """Those that every map has."""
    transpose = dmc.Switch(id=ids.TRANSPOSE, checked=False, label="Transpose", size="sm")
    palette = segments(ids.PALETTE, "Palette", ViewState().palette, **{"okabe-ito": "Safe", "paper": "Paper"})
    colours = "Safe (Okabe–Ito) is colour-blind safe; Paper uses the published colours."
    return [
        Control(ids.TRANSPOSE, "Axes", "Swap layers and heads (t).", transpose, prop="checked"),
        Control(ids.PALETTE, "Palette", colours, palette),
    ]


def all_controls() -> list[Control]:
    """Every control below the header."""
    return _controls_of(tuple(MAPS))


@cache
def _controls_of(maps: tuple[Map[Any], ...]) -> list[Control]:
    """Made once: every change of the page asks for their keys."""
    controls_of_maps: list[Control] = []
    for each in maps:
        controls_of_maps += each.controls()
    return [*controls_of_maps, *common_controls()]


def control_props() -> dict[str, tuple[str, str]]:
    """By its key in an address, the component and the property that hold the value of a control."""
    props = {key: (key, "value") for key in (ids.MODEL, ids.VIEW)}
    for control in all_controls():
        props[control.key] = (control.key, control.prop)
    return props


def controls() -> html.Div:
    """The bar above the maps: a group for each map, one of which is in sight. Values come with the first view."""
    groups = []
    for number, each in enumerate(MAPS):
        parts = [_labelled(control) for control in each.controls() if not control.advanced]
        parts += _folded(each)
        groups.append(html.Div(parts, className="group", hidden=number > 0, id=ids.group(each.name)))
    groups.append(html.Div([_labelled(control) for control in common_controls()], className="group"))
    return html.Div(groups, className="controls", role="group", **{"aria-label": "What the maps show"})


def _folded(of_map: Map[Any]) -> list[html.Details]:
    """The controls that few people need, and where the method was published."""
    folded = [_labelled(control) for control in of_map.controls() if control.advanced]
    folded += _published(of_map)
    if not folded:
        return []
    summary = html.Summary("More settings", className="button")
    return [html.Details([summary, html.Div(folded)], id=ids.advanced(of_map.name), className="advanced")]


def _published(of_map: Map[Any]) -> list[html.Div]:
    """A link to the paper."""
    if of_map.paper is None:
        return []
    link = html.A(of_map.paper.short, href=of_map.paper.address, title=of_map.paper.words)
    return [html.Div([html.Span("Method", className="label"), link], className="control")]


def unfolded(state: ViewState) -> dict[str, bool]:
    """Which folded controls are to be in sight, by the id of their fold: those that say something."""
    is_open = {}
    for each in MAPS:
        keys = [control.key for control in each.controls() if control.advanced]
        part = state.of(each.part)
        chosen = [one for key, one in settings_of(each.part).items() if key in keys]
        if keys:
            is_open[ids.advanced(each.name)] = any(getattr(part, one.name) != one.default for one in chosen)
    return is_open


def _labelled(control: Control) -> html.Div:
    """A control under its name; hovering explains it."""
    named = {"id": ids.control(control.key), "title": control.explained}
    reason = html.Span(id=ids.reason(control.key), className="reason")  # why it does nothing now (scripts)
    if not control.has_number:
        name = html.Span(control.label, className="label")
        return html.Div([name, control.component, reason], className="control", **named)
    name = html.Span([f"{control.label} = ", html.Output(id=ids.number(control.key))], className="label")
    return html.Div([name, control.component, reason], className="control wide", **named)


def model_choices(cards: list[ModelCard]) -> list[Choice]:
    """The models that have a map; a fingerprint is added where two have one name."""
    names = [card.id for card in cards]
    choices = []
    for card in cards:
        label = card.id if names.count(card.id) == 1 else f"{card.id} {card.fingerprint[:8]}"
        choices.append({"value": named(card), "label": label})
    return choices
