"""Scores for relations: their two kinds, the threshold of a label, and the categories that a head belongs to."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from analysis.data.relations import CATEGORIES
from analysis.results.scores import Scores, always_of, any_of

KINDS = ("promote", "suppress")
TAU = 0.15  # a head implements a relation when its score is larger

Quantifier = Literal["any", "always"]


def categories(scores: Scores) -> list[str]:
    """Categories with at least one applicable relation, in their default order; unknown ones come last."""
    names = dict.fromkeys(item.category for item in scores.provenance.items if item.applicable)
    return sorted(names, key=lambda name: CATEGORIES.index(name) if name in CATEGORIES else len(CATEGORIES))


def reduced(
    scores: Scores, relations: Iterable[str], how: Quantifier = "any", kinds: Sequence[str] = KINDS
) -> xr.DataArray:  # [sample, layer, head]
    """The number that decides whether a head implements *any* or *always* (all) of the relations.

    A relation counts by the larger of its kinds (promote, suppress). Then `any` is the maximum over the relations and
    `always` the minimum; larger than τ means that the head does. Not applicable relations take no part.
    """
    names = [name for name in relations if scores.item(name).applicable]
    if not names:
        return xr.full_like(scores.score.isel(item=0, kind=0, drop=True), np.nan)
    best = scores.score.sel(item=names, kind=list(kinds)).max("kind", skipna=False)
    return always_of(best, "item") if how == "always" else any_of(best, "item")


def classified(
    scores: Scores, tau: float = TAU, how: Quantifier = "any", kinds: Sequence[str] = KINDS
) -> xr.DataArray:  # [category, sample, layer, head] bool
    """The categories that each head belongs to."""
    names = categories(scores)
    if not names:
        return reduced(scores, []).expand_dims(category=[]) > tau
    parts = [reduced(scores, scores.items(name), how, kinds) > tau for name in names]
    return xr.concat(parts, pd.Index(names, name="category"))
