"""What the page's scripts need to draw the function map for every local setting: scores, intervals, doubts.

Scores are codes into tables of exact numbers, one per relation, so that `score > τ` says the same here and there.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.relations.labels import copy_like
from analysis.relations.scores import categories
from analysis.results.provenance import JsonObject
from analysis.results.scores import ONLY_SAMPLE, Missing, Scores
from dashboard.cache import cached
from dashboard.maps.function.besides import is_beside
from dashboard.maps.function.best import VERBS
from dashboard.maps.function.labels import Labels, is_measured, labels_of
from dashboard.maps.function.panels import no_category
from dashboard.maps.function.state import FunctionState
from dashboard.maps.function.words import facts
from dashboard.maps.map import MapView, missing_words
from dashboard.maps.packing import fewest_bytes, pack

Table = npt.NDArray[np.float64]  # [row, column]


def numbers(shown: MapView[FunctionState]) -> bytes:
    """The numbers of the result on the page."""
    wording = {**asdict(facts(shown)), "reasons": [reason.words for reason in Missing]}
    wording["reason_words"] = [missing_words(shown, reason) for reason in Missing]
    return _packed(shown.map.name, shown.result, json.dumps(wording))


@cached(8)
def _packed(name: str, scores: Scores, wording: str) -> bytes:
    """The applicable relations; arrays run over relations, kinds, layers and heads."""
    items = scores.items()
    card = scores.provenance.model
    contents: JsonObject = {
        **json.loads(wording),
        "map": name,
        "layers": list(card.layers),
        "heads": card.heads,
        "kinds": scores.score.kind.values.tolist(),
        "categories": [{"name": name, "title": name.capitalize()} for name in categories(scores)],
        "verbs": [VERBS[kind] for kind in scores.score.kind.values.tolist()],
        "items": [_about(scores, item) for item in items],
        "measured": is_measured(scores),
    }
    if not items:
        return pack({**contents, "missing": int(no_category(scores))}, {})
    return pack(contents, _arrays(scores, items))


def _arrays(scores: Scores, items: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Scores with their intervals, what speaks against them, and why some are missing."""
    names = [item.name for item in scores.provenance.items]
    at = np.array([names.index(item) for item in items])
    labels = labels_of(scores).at(at)
    score, rows = _coded(np.stack([labels.score, labels.low, labels.high], axis=-1))
    doubt, doubts = _coded(_doubts(labels))
    missing = scores.missing.sel(item=items, sample=ONLY_SAMPLE).values.astype(np.uint8)
    arrays: dict[str, npt.NDArray[Any]] = {
        "score": fewest_bytes(score),
        "rows": np.array([len(table) for table in rows], np.uint16),
        "table": np.concatenate(rows),
        "doubt": fewest_bytes(doubt),
        "doubt_rows": np.array([len(table) for table in doubts], np.uint16),
        "doubt_table": np.concatenate(doubts),
    }
    if missing.any():
        arrays["missing"] = missing
    return arrays


def _about(scores: Scores, name: str) -> JsonObject:
    item = scores.item(name)
    about: JsonObject = {"name": name, "title": item.title, "category": item.category, "sentence": item.sentence}
    return {**about, "beside": True} if is_beside(item) else about


def _doubts(labels: Labels) -> npt.NDArray[np.float64]:  # [item, kind, layer, head, 2]
    """What speaks against each score: whether it is copy-like, and the control."""
    return np.stack([copy_like(labels.beyond).astype(np.float64), labels.control], axis=-1)


def _coded(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.intp], list[Table]]:
    """A code for each of the values [item, ..., column], and for each item the table of its distinct rows."""
    codes, tables = [], []
    for of_item in values:
        flat = np.nan_to_num(of_item.reshape(-1, of_item.shape[-1]), nan=-1.0)
        _, first, code = np.unique(_row_numbers(flat), return_index=True, return_inverse=True)
        tables.append(np.where(flat[first] == -1.0, np.nan, flat[first]))
        codes.append(code.reshape(of_item.shape[:-1]))
    return np.stack(codes), tables


def _row_numbers(rows: Table) -> npt.NDArray[np.intp]:
    """A number for each row, in their order and equal for equal rows; much faster than sorting the rows themselves."""
    numbers_of_rows = np.zeros(len(rows), np.intp)
    for column in rows.T:
        distinct, code = np.unique(column, return_inverse=True)
        numbers_of_rows = numbers_of_rows * len(distinct) + code
    return numbers_of_rows
