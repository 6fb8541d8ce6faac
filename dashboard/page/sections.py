"""The pieces of the page below the maps: each is drawn again only when what it depends on has changed."""

from dataclasses import dataclass
from typing import Any

from dash import html, no_update

from dashboard.maps.section import Section
from dashboard.page import ids
from dashboard.view import View


@dataclass(frozen=True)
class Drawn:
    """What the places of the sections are to show, and what a page must remember of it."""

    contents: list[Any]  # one for each place; `no_update` where nothing has changed
    sent: list[dict[str, Any]]


def sections(view: View, width: int, dark: bool, sent: Any) -> Drawn:
    """The sections of the map on the page; `sent` is what the page remembers, in which a browser may say anything."""
    found = list(view.map.sections(view.shown, width, dark)) if view.shown is not None else []
    before = [entry for entry in sent if isinstance(entry, dict)] if isinstance(sent, list) else []
    contents: list[Any] = []
    now: list[dict[str, Any]] = []
    for place in range(len(ids.SECTIONS)):
        section = found[place] if place < len(found) else None
        last = before[place] if place < len(before) else {}
        mark = f"{view.map.name} {section.key} {section.depends}" if section is not None else ""
        is_open = section is not None and (section.open or (last.get("key") == section.key and bool(last.get("open"))))
        now.append({"key": section.key if section is not None else "", "mark": mark, "open": is_open})
        if last == now[-1]:
            contents.append(no_update)
        else:
            contents.append([_card(section, is_open)] if section is not None else [])
    return Drawn(contents, now)


def _card(section: Section, is_open: bool) -> Any:
    content = html.Div(section.draw(), id=section.key)
    if not section.title:
        return html.Div(content, className=section.key)
    hint = [html.P(section.hint, className="hint")] if section.hint else []
    name = f"{section.key}-card"
    if section.folded:
        opened = {"open": True} if is_open else {}  # a person who opens it is not contradicted
        summary = html.Summary(html.H2(section.title))
        return html.Details([summary, *hint, content], id=name, className="card", **opened)
    style = "card beside" if section.beside else "card"
    return html.Section([html.H2(section.title), *hint, content], id=name, className=style)
