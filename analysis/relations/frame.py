"""Scores for relations in long format, each with its interval and with what it is compared with."""

import pandas as pd
import xarray as xr

from analysis.relations.layer import PARTS, part_name
from analysis.results.intervals import wilson
from analysis.results.scores import Floats, Scores


def relation_frame(scores: Scores) -> pd.DataFrame:
    """The columns of every result, then low, high, beyond, copied, control; empty where something was not measured."""
    frame = scores.to_frame()
    hits = frame["hits"].astype("Float64").to_numpy(float, na_value=float("nan"))
    frame["low"], frame["high"] = wilson(hits, frame["pairs"].to_numpy())
    for part in PARTS:
        frame[part] = _column(scores, part)
    return frame


def _column(scores: Scores, part: str) -> Floats:
    """A part of both kinds, in the order of the scores."""
    values = xr.full_like(scores.score, float("nan"))
    for kind in scores.score.kind.values.tolist():
        array = scores.parts.get(part_name(part, kind))
        if array is not None:
            values.loc[{"kind": kind}] = array.reindex(item=scores.score["item"], sample=scores.score["sample"])
    column: Floats = values.values.ravel()
    return column
