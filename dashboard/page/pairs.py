"""The pairs behind a score: a dialog with a table, which the scripts fill when somebody asks."""

import dash_ag_grid as dag
import dash_mantine_components as dmc
from dash import html

from dashboard.maps.columns import TEXT, Column
from dashboard.page import ids

_RANK = {"type": "numericColumn", "filter": False}
_COLUMNS: list[Column] = [
    {"field": "source", "headerName": "Source", **TEXT, "width": 120},
    {"field": "target", "headerName": "Target", **TEXT, "width": 120},
    {"field": "hit", "headerName": "Hit", **TEXT, "width": 90},
    {"field": "rank", "headerName": "Target's rank", **_RANK, "initialSort": "asc", "width": 150},
    {"field": "source_rank", "headerName": "Source's rank", **_RANK, "width": 150},
    {"field": "top", "headerName": "First five tokens", **TEXT, "flex": 1, "minWidth": 300},
]


def pairs_dialog() -> dmc.Modal:
    """Empty until it is opened."""
    grid = dag.AgGrid(
        id=ids.PAIRS_TABLE,
        rowData=[],
        columnDefs=_COLUMNS,
        defaultColDef={"sortable": True, "resizable": True, "filter": True},
        dashGridOptions={
            "enableCellTextSelection": True,
            "ensureDomOrder": True,
            "rowHeight": 28,
            "headerHeight": 34,
            "animateRows": False,
            "suppressNoRowsOverlay": True,
        },
        className="ag-theme-quartz",
        style={"height": "min(52vh, 640px)", "width": "100%"},
    )
    return dmc.Modal(
        [
            html.Div(id=ids.PAIRS_ABOUT, className="pairs-about", role="status"),
            grid,
            html.P(
                [
                    html.Button("Copy table", className="button", **{"data-copy": ids.PAIRS_TABLE}),
                    " ",
                    html.Button("Download as CSV", className="button", **{"data-csv": ids.PAIRS_TABLE}),
                ],
                className="pairs-tools",
            ),
        ],
        id=ids.PAIRS,
        title="",
        size=1040,
        closeButtonProps={"aria-label": "Close"},
    )
