"""One head from all sides, and several side by side: cards of equal build, so that the eye can compare rows."""

from typing import Any

from dash import html

from analysis.models.card import HeadId, ModelCard
from dashboard.addresses import page_of
from dashboard.maps import MAPS
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.page.matrix import matrix
from dashboard.palette import Colours, colours
from dashboard.view import View

_MOST_CARDS = 2  # beside each other


def inspector(view: View, dark: bool) -> list[Any]:
    """A card for each pinned head; of several a matrix, which fits the screen."""
    heads = view.state.pins
    if not heads:
        return [_invitation()] if view.shown is not None else []
    if len(heads) > _MOST_CARDS:
        return [matrix(view)]
    palette = colours(view.state.palette, dark)
    return [_card(view, head, palette) for head in heads]


def _invitation() -> html.Div:
    return html.Div(
        [
            html.H2("No head pinned"),
            html.P(
                "Hover over a square to see what the head does. Click to pin it here, shift-click to compare several, "
                "or press / and type a name such as 10.7."
            ),
        ],
        className="card invitation",
    )


def _card(view: View, head: HeadId, palette: Colours) -> html.Section:
    header = [
        html.H2(str(head)),
        html.Span(className="roles"),  # the scripts write what the maps on the page call it
        html.A(
            "Page", href=page_of(view.card, head), className="step", title=f"Everything about {head} on its own page"
        ),
        _neighbours(),
        html.Button("×", className="unpin", **{"aria-label": f"Unpin {head}", "data-unpin": str(head)}),
    ]
    parts = _parts(view, head, palette)
    return html.Section(
        [html.Header(header), html.Div(_columns(view.card, head, parts), className="head-body")],
        className="card head-card",
        **{"aria-label": f"Head {head}", "data-name": str(head)},
    )


def _parts(view: View, head: HeadId, palette: Colours) -> list[HeadPart]:
    """What every map says of a head, the map on the page first."""
    at = MAPS.index(view.map)
    parts = []
    for each in [*MAPS[at:], *MAPS[:at]]:
        asked = AskedHead(head, view.state.pins, view.card, palette, on_page=each is view.map)
        part = each.head_part(asked, view.of(each))
        if part is not None:
            parts.append(part)
    return parts


def _columns(card: ModelCard, head: HeadId, parts: list[HeadPart]) -> list[html.Div]:
    """The first half of the parts and wide ones on the left; on the right the others, then what concerns the model."""
    middle = (len(parts) + 1) // 2
    left: list[Any] = []
    right: list[Any] = []
    for i, part in enumerate(parts):
        column = left if i < middle or part.wide else right
        column += part.content
    right += _mates(card, head)
    for part in parts:
        right += part.facts
    return [html.Div(left), html.Div(right)]


def _neighbours() -> html.Span:
    """Buttons to the heads beside it; which these are depends on how the maps lie, which the scripts know."""
    buttons = [html.Button(arrow, className="step", disabled=True) for arrow in "←→↑↓"]
    return html.Span(buttons, className="steps")


def _mates(card: ModelCard, head: HeadId) -> list[Any]:
    """The heads that share its value matrix."""
    mates = card.group_mates(head)
    if not mates:
        return []
    buttons = [html.Button(str(mate), className="mate", **{"data-pin": str(mate)}) for mate in mates]
    return [html.Div([html.H3("Shares its value matrix with"), html.P(buttons, className="mates")])]
