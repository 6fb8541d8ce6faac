"""Every head as a row: the maps' twin for sorting, filtering and screen readers."""

from typing import Any

import dash_ag_grid as dag
import numpy as np

from analysis.methods.causal.plan import ROLES
from analysis.results.scores import ONLY_SAMPLE, Missing, Scores
from dashboard.cache import cached
from dashboard.maps.causal.gates import LETTERS, preview, reduced, task_names
from dashboard.maps.causal.head import head_role
from dashboard.maps.causal.orders import effect_of
from dashboard.maps.function.panels import Panel
from dashboard.page import ids
from dashboard.state import ViewState

_NUMBER = {
    "type": "numericColumn",
    "filter": "agNumberColumnFilter",
    "filterParams": {"defaultOption": "greaterThanOrEqual"},
    "sortingOrder": ["desc", "asc", None],
    "width": 136,
}
_TWO_DIGITS = {
    "valueFormatter": {"function": "typeof params.value === 'number' ? d3.format('.2f')(params.value) : params.value"}
}
_THREE_DIGITS = {
    "valueFormatter": {"function": "typeof params.value === 'number' ? d3.format('+.3f')(params.value) : ''"}
}


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


def columns(scores: Scores, panels: tuple[Panel, ...], causal: Scores | None = None) -> list[dict[str, Any]]:
    """Name, place, what it does, the panels' scores, then every relation; then the tasks of the causal map."""
    return [
        {"field": "name", "headerName": "Head", "pinned": "left", "width": 110, "filter": "agTextColumnFilter"},
        {"field": "layer", "headerName": "Layer", **_NUMBER, "width": 96},
        {"field": "head", "headerName": "Head no.", **_NUMBER, "width": 110},
        {"field": "does", "headerName": "Categories", "width": 220, "filter": "agTextColumnFilter"},
        {"field": "best", "headerName": "Best relation", "width": 200, "filter": "agTextColumnFilter"},
        {"field": "best_kind", "headerName": "Kind", "width": 110, "filter": "agTextColumnFilter"},
        *(
            {
                "field": f"panel_{i}",
                "headerName": panel.title,
                **_NUMBER,
                **_TWO_DIGITS,
                "initialSort": None if i else "desc",
            }
            for i, panel in enumerate(panels)
        ),
        *(
            {"field": f"item_{i}", "headerName": scores.item(name)["title"], **_NUMBER, **_TWO_DIGITS, "width": 160}
            for i, name in enumerate(scores.items())
        ),
        *(_task_columns(causal) if causal is not None else ()),
    ]


def _task_columns(causal: Scores) -> list[dict[str, Any]]:
    """Of each task its role, F, N and R over the seeds, the effect of switching the head off, and the preview."""
    columns: list[dict[str, Any]] = []
    for i, item in enumerate(causal.provenance.items):
        scored = [
            {"field": f"task_{i}_{role}_{column}", "headerName": f"{LETTERS[role]} {column}", **_NUMBER, **_TWO_DIGITS}
            for role in ROLES
            for column in ("always", "any")
        ]
        measured = [
            {"field": f"task_{i}_{name}", "headerName": name.capitalize(), **_NUMBER, **_THREE_DIGITS}
            for name in ("effect", "preview")
        ]
        role = {"field": f"task_{i}_role", "headerName": "Role", "width": 190, "filter": "agTextColumnFilter"}
        narrow = [{**column, "width": 150} for column in (*scored, *measured)]
        title = item["title"]  # in every name: grouped headers leave empty cells that screen readers stumble over
        columns += [{**column, "headerName": f"{title}: {column['headerName']}"} for column in [role, *narrow]]
    return columns


@cached(8)
def _task_cells(causal: Scores, role: float) -> dict[str, list[Any]]:
    """The same columns' values, one a head."""
    found: dict[str, list[Any]] = {}
    shape = (causal.score.sizes["layer"], causal.score.sizes["head"])
    for i, task in enumerate(task_names(causal)):
        reason = causal.missing.sel(item=task).max(("kind", "sample")).values.ravel()
        for column in ("always", "any"):
            roles = reduced(causal, task, column)
            for j, name in enumerate(ROLES):
                values = np.full(shape, np.nan) if roles is None else roles[j]
                found[f"task_{i}_{name}_{column}"] = _numbers(values.ravel(), reason)
        for name, grid in (("effect", effect_of(causal, task)), ("preview", preview(causal.item(task), "mean", shape))):
            found[f"task_{i}_{name}"] = (
                [None] * (shape[0] * shape[1]) if grid is None else grid.ravel().round(5).tolist()
            )
        found[f"task_{i}_role"] = [head_role(causal, task, cell, role) for cell in np.ndindex(shape)]
    return found


def rows(
    scores: Scores, panels: tuple[Panel, ...], state: ViewState, causal: Scores | None = None
) -> list[dict[str, Any]]:
    """One a head. A relation's score is the larger of the kinds that the view asks for."""
    card, items, kinds = scores.provenance.model, scores.items(), list(state.kinds)
    titles = [scores.item(name)["title"] for name in items]
    cells = len(card.layers) * card.heads
    scored = scores.score.sel(item=items, kind=kinds, sample=ONLY_SAMPLE).values  # [item, kind, layer, head]
    flat = np.nan_to_num(scored, nan=-1.0).reshape(len(items), len(kinds), cells)
    columns: dict[str, list[Any]] = {
        "name": [f"L{layer}H{head}" for layer in card.layers for head in range(card.heads)],
        "layer": [layer for layer in card.layers for _ in range(card.heads)],
        "head": list(range(card.heads)) * len(card.layers),
        "does": _does(panels),
    }
    if items:
        joined = flat.reshape(-1, flat.shape[-1])
        best = joined.argmax(axis=0)
        some = joined.max(axis=0) > 0
        columns["best"] = [titles[i // len(kinds)] if s else "" for i, s in zip(best, some, strict=True)]
        columns["best_kind"] = [kinds[i % len(kinds)] if s else "" for i, s in zip(best, some, strict=True)]
    columns |= {f"panel_{n}": _numbers(panel.value.ravel(), panel.reason.ravel()) for n, panel in enumerate(panels)}
    missing = (
        scores.missing.sel(item=items, kind=kinds, sample=ONLY_SAMPLE).max("kind").values.reshape(len(items), cells)
    )
    each = zip(flat.max(axis=1), missing, strict=True)
    columns |= {f"item_{n}": _numbers(values, reasons) for n, (values, reasons) in enumerate(each)}
    columns |= _task_cells(causal, state.role) if causal is not None else {}
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _does(panels: tuple[Panel, ...]) -> list[str]:
    singles = [panel for panel in panels if panel.belongs is None]
    flags = zip(*(panel.member.ravel() for panel in singles), strict=True)
    return [", ".join(p.title for p, flag in zip(singles, mine, strict=True) if flag) for mine in flags]


def _numbers(values: Any, reasons: Any) -> list[float | str]:
    """Scores, and the reason in words where there is none."""
    rounded = np.round(values, 4).tolist()
    return [
        number if number == number and number >= 0 else Missing(reason).words
        for number, reason in zip(rounded, reasons, strict=True)
    ]
