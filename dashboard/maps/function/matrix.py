"""Several heads side by side in the function map: a row for each relation that any of them does."""

from collections.abc import Sequence

import numpy as np

from analysis.models.card import HeadId
from dashboard.maps.function.basis import basis_of
from dashboard.maps.function.best import VERBS
from dashboard.maps.function.card import ordered
from dashboard.maps.function.head import RelationRow, head_scores
from dashboard.maps.function.state import FunctionState
from dashboard.maps.head_rows import HeadCell, HeadRow, HeadRows
from dashboard.maps.map import MapView
from dashboard.palette import tone_name

_LEAST, _ZERO = 0.05, 0.005  # a relation below it for all heads is only named; a score below it is written as 0
_DOWN = "↓"  # before a score by which a head suppresses


def head_rows(heads: Sequence[HeadId], shown: MapView[FunctionState]) -> HeadRows:
    """Relations in the order of the best score; those without any are named below."""
    of_heads = []
    for head in heads:
        of_heads.append({row.item.name: row for row in head_scores(shown.result, head)})
    rows, without = [], []
    for name in ordered(shown.result, tuple(heads)):
        of_relation = [rows_of_head[name] for rows_of_head in of_heads]
        item = of_relation[0].item
        if max(row.order for row in of_relation) >= _LEAST:
            cells = tuple(_cell(row) for row in of_relation)
            rows.append(HeadRow(shown.link(item.title, relation=name), cells))
        elif item.applicable:
            without.append(item.title)
    title = basis_of(shown.whole.provenance).title
    return HeadRows(title, tuple(rows), _note(without))


def _note(without: list[str]) -> str:
    zero = f" Below {_LEAST:g} for all of these heads: {', '.join(without)}." if without else ""
    return f"{_DOWN} the head suppresses: it pushes the right words down.{zero}"


def _cell(row: RelationRow) -> HeadCell:
    best = row.stronger
    if np.isnan(best.score):
        return HeadCell("", title=row.missing)
    if best.score < _ZERO:
        return HeadCell("0")
    sign = f"{_DOWN} " if best is row.suppress else ""
    words = f"{VERBS[best.kind]} {best.score:.2f}, 95 % interval {best.low:.2f}–{best.high:.2f}, rank {best.rank}"
    return HeadCell(f"{sign}{best.score:.2f}", best.score, tone_name(row.item.category), words)
