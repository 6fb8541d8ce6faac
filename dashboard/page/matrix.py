"""Three or more pinned heads: a column for each, a row for every number that the maps have of them."""

from collections.abc import Sequence
from typing import Any

from dash import html

from analysis.models.card import HeadId
from dashboard.addresses import page_of
from dashboard.maps import MAPS
from dashboard.maps.head_rows import HeadCell, HeadRow, HeadRows
from dashboard.view import View

_FULL = 45  # percent of a colour behind a cell of strength 1: text on it stays legible

_LEAST_BEST = 0.05  # strength: below it the strongest of a row is nothing to point at


def matrix(view: View) -> html.Section:
    """The pinned heads of a view; rows of the map on the page first."""
    heads = view.state.pins
    body: list[Any] = []
    notes: list[Any] = []
    for rows in _of_maps(view, heads):
        body.append(_group(rows, len(heads)))
        body += [_row(row) for row in rows.rows]
        if rows.note:
            notes.append(html.P(rows.note, className="hint"))
    header = html.Tr([html.Td(className="corner"), *(_column(view, head) for head in heads)])
    table = html.Table([html.Thead(header), html.Tbody(body)], className="matrix")
    title = html.H2(f"{len(heads)} heads side by side")
    return html.Section(
        [html.Header(title), html.Div(table, className="wide"), *notes],
        className="card head-card head-matrix",
        **{"aria-label": f"{len(heads)} pinned heads"},
    )


def _of_maps(view: View, heads: Sequence[HeadId]) -> list[HeadRows]:
    at = MAPS.index(view.map)
    listed = []
    for each in [*MAPS[at:], *MAPS[:at]]:
        shown = view.of(each)
        rows = each.head_rows(heads, shown) if shown is not None else None
        if rows is not None and rows.rows:
            listed.append(rows)
    return listed


def _column(view: View, head: HeadId) -> html.Th:
    """A head's name, which leads to its page, and what the maps on the page call it (scripts)."""
    name = html.A(str(head), href=page_of(view.card, head), title=f"Everything about {head} on its own page")
    close = html.Button("×", className="unpin", **{"aria-label": f"Unpin {head}", "data-unpin": str(head)})
    return html.Th(
        [html.Div([name, close], className="matrix-name"), html.Div(className="roles")],
        scope="col",
        **{"data-name": str(head)},
    )


def _group(rows: HeadRows, heads: int) -> html.Tr:
    """The title of a map's rows; the other cells are there because the scripts build no cell that spans several."""
    empty = [html.Td() for _ in range(heads)]
    return html.Tr([html.Th(rows.title, scope="row"), *empty], className="matrix-group")


def _row(row: HeadRow) -> html.Tr:
    """Of several for the values of a setting, the scripts show the one of its value."""
    cells = [html.Th(row.title, scope="row"), *(_cell(cell, row.strongest) for cell in row.cells)]
    return html.Tr(cells, **({"data-when": row.when} if row.when else {}))


def _cell(cell: HeadCell, strongest: float) -> html.Td:
    """The strongest of a row stands out."""
    best = "best" if cell.strength == strongest >= _LEAST_BEST else ""
    colour = cell.colour or "var(--accent)"
    share = round(_FULL * cell.strength)
    style = {"background": f"color-mix(in srgb, {colour} {share}%, transparent)"} if share else {}
    return html.Td(cell.text, className=best, title=cell.title, style=style)
