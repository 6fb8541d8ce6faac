"""The pieces of the page below the maps: each is drawn again only when what it depends on has changed."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from dash import html, no_update

from dashboard.maps.section import Section
from dashboard.page import ids
from dashboard.view import View


@dataclass(frozen=True)
class Sent:
    """What a page keeps of the section in one place."""

    key: str = ""
    mark: str = ""  # of all that the section depends on
    open: bool = False


@dataclass(frozen=True)
class Drawn:
    """What the places of the sections are to show, and what the page is to keep of it."""

    contents: list[Any]  # one for each place; `no_update` where nothing has changed
    sent: list[dict[str, Any]]


def sections(view: View, width: int, dark: bool, sent: Any) -> Drawn:
    """The sections of the map on the page, those that are not on it already; `sent` is what the page has kept."""
    wanted = list(view.map.sections(view.shown, width, dark)) if view.shown is not None else []
    before = _read(sent)
    contents: list[Any] = []
    now: list[Sent] = []
    for place, last in enumerate(before):
        if place >= len(wanted):
            now.append(Sent())
            contents.append([] if last is None or last.key else no_update)
            continue
        this = _sent(view.map.name, wanted[place], last)
        now.append(this)
        contents.append(no_update if this == last else [_card(wanted[place], this.open)])
    return Drawn(contents, [asdict(each) for each in now])


def _read(sent: Any) -> list[Sent | None]:
    """What was sent to each place; a browser may say anything."""
    entries: list[Sent | None] = []
    for place in range(len(ids.SECTIONS)):
        entry = sent[place] if isinstance(sent, list) and place < len(sent) else None
        fields = entry if isinstance(entry, dict) else {}
        is_complete = set(fields) == set(Sent.__dataclass_fields__)
        entries.append(Sent(**fields) if is_complete else None)
    return entries


def _sent(map_name: str, section: Section, last: Sent | None) -> Sent:
    """What the page is to keep; a fold that was opened stays open."""
    mark = hashlib.sha256(f"{map_name} {section.depends}".encode()).hexdigest()[:16]
    was_open = last is not None and last.key == section.key and bool(last.open)
    return Sent(section.key, mark, section.open or was_open)


def _card(section: Section, is_open: bool) -> Any:
    content = html.Div(section.draw(), id=section.key)
    if not section.title:
        return html.Div(content, className=section.key)
    hint = [html.P(section.hint, className="hint")] if section.hint else []
    name = f"{section.key}-card"
    if section.folded:
        opened = {"open": True} if is_open else {}  # whoever opens it by hand is not contradicted
        summary = html.Summary(html.H2(section.title))
        return html.Details([summary, *hint, content], id=name, className="card", **opened)
    style = "card beside" if section.beside else "card"
    return html.Section([html.H2(section.title), *hint, content], id=name, className=style)
