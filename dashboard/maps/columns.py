"""The kinds of column that the table has."""

from typing import Any

import numpy as np

from analysis.results.scores import Missing

TEXT = {"filter": "agTextColumnFilter"}
NUMBER = {
    "type": "numericColumn",
    "filter": "agNumberColumnFilter",
    "filterParams": {"defaultOption": "greaterThanOrEqual"},
    "sortingOrder": ["desc", "asc", None],
    "width": 136,
}


Column = dict[str, Any]  # a column of the table, as AG Grid takes it


def _formatted(**code: str) -> Column:
    """A column whose numbers are written by a piece of script."""
    return {"valueFormatter": code}


TWO_DIGITS = _formatted(function="typeof params.value === 'number' ? d3.format('.2f')(params.value) : params.value")
SIGNED = _formatted(function="typeof params.value === 'number' ? d3.format('+.3f')(params.value) : ''")


def numbers(values: Any, reasons: Any) -> list[float | str]:
    """Scores, and the reason in words where there is none."""
    texts: list[float | str] = []
    for number, reason in zip(np.round(values, 4).tolist(), reasons, strict=True):
        texts.append(Missing(reason).words if number != number else number)
    return texts
