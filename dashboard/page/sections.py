"""The pieces of the page below the maps. They stay on it; what they show is sent only when it has changed."""

import hashlib
from dataclasses import dataclass
from typing import Any

from dash import Output, dcc, html, no_update

from dashboard.maps import MAPS
from dashboard.maps.section import Section
from dashboard.page import ids
from dashboard.view import View

HEAD_POINTS = "head-points"  # the class of figures whose points are heads (scripts)


@dataclass(frozen=True)
class DrawnSections:
    """What changes on the page below the maps."""

    contents: dict[str, Any]  # by the keys of the sections; `no_update` where nothing has changed
    open: dict[str, Any]  # of the folded ones
    sizes: dict[str, Any]  # styles of those whose figures have a size of their own
    hidden: dict[str, bool]  # by the ids of the cards and of each map's sections
    sent: dict[str, str]  # marks of what the sections show, which the page keeps


def all_sections() -> list[Section]:
    """The sections of all maps."""
    sections_of_maps: list[Section] = []
    for each in MAPS:
        sections_of_maps += each.sections()
    return sections_of_maps


def section_parts() -> list[str]:
    """The ids of what may be hidden: each map's sections, and every card."""
    groups = [ids.sections(each.name) for each in MAPS]
    return [*groups, *(ids.card(section.key) for section in all_sections())]


def section_output(section: Section) -> Output:
    """Where the content of a section goes."""
    return Output(ids.figure(section.key), "data") if section.is_figure else Output(section.key, "children")


def sections() -> list[html.Div]:
    """The sections of every map, without content."""
    groups = []
    for each in MAPS:
        cards = [_card(section) for section in each.sections()]
        groups.append(html.Div(cards, id=ids.sections(each.name), className="sections", hidden=True))
    return groups


def _card(section: Section) -> Any:
    content = _figure(section) if section.is_figure else html.Div(id=section.key)
    name = ids.card(section.key)
    if not section.title:
        return html.Div(content, id=name, className=section.key)
    hint = [html.P(section.hint, className="hint")] if section.hint else []
    if section.folded:
        return html.Details([html.Summary(html.H2(section.title)), *hint, content], id=name, className="card")
    style = "card beside" if section.beside else "card"
    return html.Section([html.H2(section.title), *hint, content], id=name, className=style)


def _figure(section: Section) -> html.Div:
    """A figure, and the place where the scripts draw it once that comes near the window."""
    name = f"figure {HEAD_POINTS}" if section.has_heads else "figure"
    size = _tall(section.height) if section.height else {}
    return html.Div([dcc.Store(id=ids.figure(section.key)), html.Div(id=section.key, className=name, style=size)])


def _tall(pixels: int) -> dict[str, str]:
    """The style of a figure's place: as tall as the figure, so that nothing moves when it is drawn."""
    return {"height": f"{pixels}px"}


def drawn_sections(view: View, width: int, dark: bool, sent: Any) -> DrawnSections:
    """The sections of the map on the page; `sent` is what the page has kept, and a browser may say anything."""
    contents = view.map.contents(view.shown, width, dark) if view.shown is not None else {}
    marks = dict(sent) if isinstance(sent, dict) else {}
    drawn = DrawnSections({}, {}, {}, {ids.sections(each.name): each is not view.map for each in MAPS}, marks)
    for section in all_sections():
        content = contents.get(section.key)
        drawn.hidden[ids.card(section.key)] = content is None
        drawn.contents[section.key] = no_update
        if section.has_own_size:
            drawn.sizes[section.key] = no_update
        if section.folded:
            drawn.open[section.key] = True if content is not None and content.open else no_update
        if content is None:
            continue
        mark = hashlib.sha256(content.depends.encode()).hexdigest()[:16]
        if marks.get(section.key) != mark and not section.scripted:
            made = content.draw()
            drawn.contents[section.key] = made
            if section.has_own_size:
                drawn.sizes[section.key] = _tall(made["layout"]["height"])
            marks[section.key] = mark
    return drawn
