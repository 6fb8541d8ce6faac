"""Every head as a row: the maps' twin for sorting, filtering and screen readers."""

from typing import Any

import dash_ag_grid as dag

from dashboard.maps import MAPS
from dashboard.maps.columns import NUMBER, TEXT, Column
from dashboard.maps.map import MapView
from dashboard.page import ids
from dashboard.view import View


def table() -> dag.AgGrid:
    """The empty grid; rows come with the view."""
    return dag.AgGrid(
        id=ids.TABLE,
        rowData=[],
        columnDefs=[],
        getRowId="params.data.name",
        defaultColDef={"sortable": True, "resizable": True, "filter": True, "suppressHeaderMenuButton": False},
        dashGridOptions={
            "rowSelection": {
                "mode": "multiRow",
                "checkboxes": False,
                "headerCheckbox": False,
                "enableClickSelection": False,
            },
            "rowHeight": 30,
            "headerHeight": 34,
            "animateRows": False,
            "ensureDomOrder": True,
            "tooltipShowDelay": 300,
        },
        className="ag-theme-quartz",
        style={"height": "62vh", "width": "100%"},
    )


def columns(view: View) -> list[Column]:
    """Name and place of the head, then the columns of every map of the model."""
    definitions: list[Column] = [
        {"field": "name", "headerName": "Head", "pinned": "left", "width": 110, **TEXT},
        {"field": "layer", "headerName": "Layer", **NUMBER, "width": 96},
        {"field": "head", "headerName": "Head no.", **NUMBER, "width": 110},
    ]
    for shown in _maps(view):
        definitions += shown.map.columns(shown)
    return definitions


def rows(view: View) -> list[Column]:
    """One per head."""
    card = view.card
    values: dict[str, list[Any]] = {
        "name": [f"L{layer}H{head}" for layer in card.layers for head in range(card.heads)],
        "layer": [layer for layer in card.layers for _ in range(card.heads)],
        "head": list(range(card.heads)) * len(card.layers),
    }
    for shown in _maps(view):
        values |= shown.map.cells(shown)
    names = list(values)
    return [dict(zip(names, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _maps(view: View) -> list[MapView[Any]]:
    """The maps that the model has a result of."""
    with_result = []
    for each in MAPS:
        shown = view.of(each)
        if shown is not None:
            with_result.append(shown)
    return with_result
