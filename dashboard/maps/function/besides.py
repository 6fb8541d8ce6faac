"""Categories that other methods' results offer, beside those of the relations."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from analysis import methods
from analysis.method import Method
from analysis.results.provenance import ScoredItem
from analysis.results.scores import DIMS, ONLY_SAMPLE, Scores
from dashboard.cache import cached
from dashboard.maps.function.basis import over_carriers
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView


def offering() -> list[Method]:
    """The methods whose strengths can stand as a category of their own."""
    return [method for method in methods.METHODS if method.category]


def is_beside(item: ScoredItem) -> bool:
    """Whether an item of a joined result is no relation."""
    return item.category in [method.category for method in offering()]


def rules_beside(scores: Scores) -> tuple[tuple[str, str], ...]:
    """When a head belongs to those categories that a joined result has: sentences in two parts, between which τ is."""
    there = {item.category for item in scores.provenance.items}
    rules = []
    for method in offering():
        if method.category in there:
            share, does = method.category_rule
            rules.append((f" A head belongs to {method.category.capitalize()} if {share}", f" {does}."))
    return tuple(rules)


def with_categories(relations: Scores, results: Mapping[str, Scores]) -> Scores:
    """A result of relations with the categories that other results of the model offer."""
    for method in offering():
        if method.name in results:
            relations = _joined(relations, results[method.name])
    return relations


def relations_only(shown: MapView[FunctionState]) -> MapView[FunctionState]:
    """The same view without them: what is said of relations alone."""
    if not shown.state.also:
        return shown
    state = replace(shown.state, also=False)
    return replace(shown, result=over_carriers(shown.whole, state.carriers), state=state)


@cached(16)
def _joined(relations: Scores, others: Scores) -> Scores:
    """Strengths count as the first kind of score; nothing is known of intervals, copying and controls."""
    method = methods.method(others.provenance.method)
    strengths = method.strengths(others)
    if strengths is None:
        return relations
    names = [str(name) for name in strengths["item"].values]
    items = [replace(others.item(name), category=method.category, kept=1) for name in names]
    score = strengths.expand_dims(kind=relations.kinds, sample=[ONLY_SAMPLE]).transpose(*DIMS).copy()
    score.loc[{"kind": relations.kinds[1:]}] = 0.0
    missing = others.missing.sel(item=names).max("kind").isel(sample=0, drop=True)
    missing = missing.expand_dims(kind=relations.kinds, sample=[ONLY_SAMPLE]).transpose(*DIMS)
    unknown = xr.full_like(score, np.nan)
    provenance = replace(relations.provenance, items=(*relations.provenance.items, *items))
    everything = [item.name for item in provenance.items]
    return replace(
        relations,
        score=xr.concat([relations.score, score], "item"),
        hits=xr.concat([relations.hits, unknown], "item"),
        missing=xr.concat([relations.missing, missing], "item").astype("int8"),
        parts={name: part.reindex(item=everything) for name, part in relations.parts.items()},
        provenance=provenance,
    )
