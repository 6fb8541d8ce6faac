"""Every head as a row: the maps' twin for sorting, filtering and screen readers."""

import base64
from collections.abc import Mapping
from typing import Any

import dash_ag_grid as dag
import numpy as np
import pandas as pd
from dash import html

from analysis.results.provenance import JsonObject
from dashboard.maps import MAPS
from dashboard.maps.columns import NUMBER, TEXT, WHOLE, Cells, Column, leaves
from dashboard.maps.map import MapView, with_model, with_source
from dashboard.maps.packing import fewest_bytes
from dashboard.page import ids
from dashboard.view import View

ROW = 30  # pixels of height


def table() -> list[Any]:
    """How many rows there are, what to do with them, and the place of the grid; the scripts make the rows."""
    tools = [
        html.Span(id=ids.TABLE_COUNT, role="status"),
        html.Button("Clear filter", className="button", id=ids.TABLE_CLEAR, hidden=True),
        html.Span(className="spring"),
        html.Button("Copy table", className="button", **{"data-copy": ids.TABLE}),
        html.Button("Download as CSV", className="button", **{"data-csv": ids.TABLE}),
    ]
    return [html.Div(tools, className="table-tools"), html.Div(id=ids.TABLE_GRID)]


def grid() -> dag.AgGrid:
    """The empty grid. Its scripts are large, so it comes when the table is opened for the first time."""
    return dag.AgGrid(
        id=ids.TABLE,
        rowData=[],
        columnDefs=[],
        getRowId="params.data.name",
        defaultColDef={
            "sortable": True,
            "resizable": True,
            "filter": True,
            "suppressHeaderMenuButton": False,
            "suppressSpanHeaderHeight": True,  # else rows of headings have no cells where columns stand in no group
        },
        dashGridOptions={
            "rowSelection": {
                "mode": "multiRow",
                "checkboxes": False,
                "headerCheckbox": False,
                "enableClickSelection": False,
            },
            "rowHeight": ROW,
            "headerHeight": 30,
            "groupHeaderHeight": 24,
            "animateRows": False,
            "ensureDomOrder": True,
            "tooltipShowDelay": 300,
        },
        className="ag-theme-quartz",
        style={"height": "62vh", "width": "100%"},
    )


def content(view: View) -> JsonObject:
    """The columns in their groups and all cells, packed for the scripts."""
    packed = {field: _coded(cells) for field, cells in all_cells(view).items()}
    return {"columns": columns(view), "cells": packed}


def table_follows() -> list[str]:
    """The keys of the local settings whose change makes the page ask for the cells again."""
    keys: set[str] = set()
    for each in MAPS:
        keys |= each.cells_follow()
    return sorted(keys)


def columns(view: View) -> list[Column]:
    """Name and place of the head, then the columns of every map of the model."""
    definitions: list[Column] = [
        {"field": "name", "headerName": "Head", "pinned": "left", "width": 104, **TEXT},
        {"field": "layer", "headerName": "Layer", **NUMBER, **WHOLE, "width": 96},
        {"field": "head", "headerName": "Head no.", **NUMBER, **WHOLE, "width": 116},
    ]
    for shown in _maps(view):
        definitions += shown.map.columns(shown)
    return definitions


def all_cells(view: View) -> dict[str, Cells]:
    """The values of all columns by their fields, one per head in the order of layers and heads."""
    card = view.card
    values: dict[str, Cells] = {
        "name": [f"L{layer}H{head}" for layer in card.layers for head in range(card.heads)],
        "layer": [layer for layer in card.layers for _ in range(card.heads)],
        "head": list(range(card.heads)) * len(card.layers),
    }
    for shown in _maps(view):
        values |= shown.map.cells(shown)
    return values


def frame(view: View) -> pd.DataFrame:
    """The table as a file has it: a row per head, columns by their fields; a missing score is empty."""
    cells = all_cells(view)
    values: dict[str, pd.Series[Any]] = {}
    for column in leaves(columns(view)):
        series = pd.Series(cells[column["field"]])
        values[column["field"]] = pd.to_numeric(series, errors="coerce") if "written" in column else series
    whole = pd.DataFrame(values).drop(columns="name")
    for shown in _maps(view)[:1]:
        whole = with_source(with_model(whole, shown.result), shown.result)
    return whole


def _coded(cells: Cells) -> Mapping[str, Any]:
    """The distinct values of a column, and of every head the place of its own: most heads share a few."""
    if isinstance(cells, np.ndarray):
        distinct, codes = np.unique(cells, return_inverse=True)
        values = [None if value != value else value for value in distinct.tolist()]
    else:
        places: dict[Any, int] = {}
        codes = np.array([places.setdefault(value, len(places)) for value in cells], np.intp)
        values = list(places)
    packed = fewest_bytes(codes)
    written = packed.astype(packed.dtype.newbyteorder("<")).tobytes()
    return {"values": values, "codes": base64.b64encode(written).decode()}


def _maps(view: View) -> list[MapView[Any]]:
    """The maps that the model has a result of."""
    with_result = []
    for each in MAPS:
        shown = view.of(each)
        if shown is not None:
            with_result.append(shown)
    return with_result
