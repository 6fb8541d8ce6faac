"""Every head as a row: the maps' twin for sorting, filtering and screen readers."""

from typing import Any

import dash_ag_grid as dag
import numpy as np

from analysis.scores import ONLY_SAMPLE, Scores
from dashboard import ids
from dashboard.select import Panel
from dashboard.state import ViewState

_NUMBER = {"type": "numericColumn", "filter": "agNumberColumnFilter", "width": 136}
_TWO_DIGITS = {"valueFormatter": {"function": "params.value == null ? '–' : d3.format('.2f')(params.value)"}}


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


def columns(scores: Scores, panels: tuple[Panel, ...]) -> list[dict[str, Any]]:
    """Name, place, what it does, the panels' scores, then every relation."""
    return [
        {"field": "name", "headerName": "Head", "pinned": "left", "width": 110, "filter": "agTextColumnFilter"},
        {"field": "layer", "headerName": "Layer", **_NUMBER, "width": 96},
        {"field": "head", "headerName": "In layer", **_NUMBER, "width": 110},
        {"field": "does", "headerName": "Categories", "width": 170, "filter": "agTextColumnFilter"},
        {"field": "best", "headerName": "Best relation", "width": 200, "filter": "agTextColumnFilter"},
        {"field": "best_kind", "headerName": "Kind", "width": 110, "filter": "agTextColumnFilter"},
        *(
            {"field": f"panel_{i}", "headerName": panel.title, **_NUMBER, **_TWO_DIGITS, "sort": None if i else "desc"}
            for i, panel in enumerate(panels)
        ),
        *(
            {"field": f"item_{i}", "headerName": scores.item(name)["title"], **_NUMBER, **_TWO_DIGITS, "width": 160}
            for i, name in enumerate(scores.items())
        ),
    ]


def rows(scores: Scores, panels: tuple[Panel, ...], state: ViewState) -> list[dict[str, Any]]:
    """One a head. A relation's score is the larger of the kinds that the view asks for."""
    card, items = scores.provenance.model, scores.items()
    kinds = list(state.kinds)
    each = scores.score.sel(item=items, kind=kinds, sample=ONLY_SAMPLE).values  # [item, kind, layer, head]
    best = np.nan_to_num(each, nan=-1.0)
    found = []
    for i, layer in enumerate(card.layers):
        for head in range(card.heads):
            mine = best[:, :, i, head]
            item, kind = np.unravel_index(mine.argmax(), mine.shape) if mine.size else (0, 0)
            row: dict[str, Any] = {"name": f"L{layer}H{head}", "layer": layer, "head": head}
            row["does"] = _does(panels, i, head)
            some = mine.size and mine[item, kind] > 0
            row["best"] = scores.item(items[int(item)])["title"] if some else ""
            row["best_kind"] = kinds[int(kind)] if some else ""
            row |= {f"panel_{n}": _number(panel.value[i, head]) for n, panel in enumerate(panels)}
            row |= {f"item_{n}": _number(value) for n, value in enumerate(mine.max(axis=1))}
            found.append(row)
    return found


def _does(panels: tuple[Panel, ...], layer: int, head: int) -> str:
    return ", ".join(panel.title for panel in panels if panel.belongs is None and panel.member[layer, head])


def _number(value: float) -> float | None:
    return None if np.isnan(value) or value < 0 else round(float(value), 4)
