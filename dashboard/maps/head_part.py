"""A map's part of the card of a pinned head."""

from dataclasses import dataclass, field
from typing import Any

from dash import html

from analysis.models.card import HeadId, ModelCard
from dashboard.palette import Colours


@dataclass(frozen=True)
class AskedHead:
    """The head that a map is asked about."""

    head: HeadId
    pinned: tuple[HeadId, ...]  # all heads that are compared; what is listed stands in the same order for each
    card: ModelCard
    palette: Colours
    on_page: bool  # the map is the one on the page


@dataclass(frozen=True)
class HeadPart:
    """What a map says of a head."""

    content: list[Any]
    facts: list[Any] = field(default_factory=list)  # where its numbers come from, at the end of the card
    wide: bool = False  # it needs the wider column


def provenance_table(title: str, rows: dict[str, str]) -> html.Details:
    """Where numbers come from, folded."""
    body = [html.Tr([html.Th(name, scope="row"), html.Td(value)]) for name, value in rows.items()]
    return html.Details([html.Summary(title), html.Table(html.Tbody(body), className="provenance")])
