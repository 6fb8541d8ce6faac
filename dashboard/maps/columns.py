"""The kinds of column that the table has, and what stands in their cells."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.results.scores import Floats, Missing

Column = dict[str, Any]  # a column of the table as AG Grid takes it, or a group of columns (its `children`)
Cells = Sequence[Any] | Floats  # the values of a column, one per head; NaN or None where there is nothing to say

TEXT = {"filter": "agTextColumnFilter"}
NUMBER = {
    "type": "numericColumn",
    "filter": "agNumberColumnFilter",
    "filterParams": {"defaultOption": "greaterThanOrEqual"},
    "sortingOrder": ["desc", "asc", None],
    "width": 120,
}

# How the scripts write a column's numbers (assets/atlas/cells.mjs). The grid evaluates no code that is sent to it.
WHOLE = {"written": {"digits": 0}}
TWO_DIGITS = {"written": {"digits": 2}}
SIGNED = {"written": {"digits": 2, "signed": True}}  # changes of log P; files have more digits

_KEPT = 4  # digits of a cell: sorted and taken away with more of them than are shown


def of_panel(key: str) -> Column:
    """For a column of a panel's values, which the scripts make of the maps on the page when a local setting changes."""
    return {"shown": {"panel": key}}


def of_label(otherwise: str) -> Column:
    """The same for what the maps call a head; nothing of a head that is called so."""
    return {"shown": {"otherwise": otherwise}}


def group(title: str, children: list[Column]) -> Column:
    """Columns under a common heading."""
    first = children[0].get("field", title)
    return {"headerName": title, "groupId": f"group.{first}", "children": children}


def unfolded(column: Column) -> Column:
    """A column that is seen when its group is unfolded."""
    return {**column, "columnGroupShow": "open"}


def leaves(columns: Sequence[Column]) -> list[Column]:
    """The columns of all groups, in their order."""
    listed: list[Column] = []
    for column in columns:
        listed += leaves(column["children"]) if "children" in column else [column]
    return listed


def numbers(values: Floats, reasons: Any) -> Cells:
    """Scores, and the reason in words where there is none."""
    rounded = np.round(values, _KEPT)
    gaps = np.flatnonzero(np.isnan(rounded))
    if not len(gaps):
        return rounded
    cells: list[float | str] = rounded.tolist()
    for place in gaps.tolist():
        cells[place] = Missing(reasons[place]).words
    return cells


def measured(values: Floats) -> Floats:
    """What was measured of some heads; NaN of the others."""
    return np.round(values, _KEPT)
