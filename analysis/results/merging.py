"""One map from several results of the same method and model: each item from the result that goes first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from analysis.results.provenance import JsonObject
from analysis.results.scores import Missing, Scores

_FILL: Mapping[str, float] = {"score": np.nan, "hits": np.nan, "missing": float(Missing.NOT_COMPUTED)}


def merge(best: Scores, others: Sequence[Scores]) -> Scores:
    """The best result, and the items that only others have, in the order of the others."""
    results = [best]
    names = [item.name for item in best.provenance.items]
    for other in others:
        more = [item.name for item in other.provenance.items if item.name not in names]
        if other is not best and more:
            results.append(only(other, more))
            names += more
    return best if len(results) == 1 else _joined(results)


def only(scores: Scores, names: Sequence[str]) -> Scores:
    """A result with these items alone, in this order."""
    chosen = list(names)
    items = tuple(scores.item(name) for name in chosen)
    return replace(
        scores,
        score=scores.score.sel(item=chosen),
        hits=scores.hits.sel(item=chosen),
        missing=scores.missing.sel(item=chosen),
        provenance=replace(scores.provenance, items=items),
        parts={name: part.sel(item=chosen) for name, part in scores.parts.items()},
        records={name: scores.records[name] for name in chosen if name in scores.records},
        columns={},
    )


def _joined(results: Sequence[Scores]) -> Scores:
    """Results of different items, one after the other."""
    arrays = {}
    for name, fill in _FILL.items():
        arrays[name] = _stacked([getattr(result, name) for result in results], fill)
    items = tuple(item for result in results for item in result.provenance.items)
    records: JsonObject = {}
    for result in results:
        records.update(result.records)
    return Scores(
        score=arrays["score"],
        hits=arrays["hits"],
        missing=arrays["missing"].astype("int8"),
        provenance=replace(results[0].provenance, items=items),
        parts=_joined_parts(results),
        records=records,
    )


def _joined_parts(results: Sequence[Scores]) -> dict[str, xr.DataArray]:
    """Each part of any of the results; not a number where a result lacks it."""
    names = dict.fromkeys(name for result in results for name in result.parts)
    parts = {}
    for name in names:
        some = next(result.parts[name] for result in results if name in result.parts)
        arrays = []
        for result in results:
            items = [item.name for item in result.provenance.items]
            arrays.append(result.parts.get(name, some.reindex(item=items)))
        parts[name] = _stacked(arrays, np.nan)
    return parts


def _stacked(arrays: Sequence[xr.DataArray], fill: float) -> xr.DataArray:
    """Along the items; one result may have fewer samples than the next."""
    samples = list(dict.fromkeys(name for array in arrays for name in array.sample.values.tolist()))
    filled = []
    for array in arrays:
        same = array.sample.values.tolist() == samples
        filled.append(array if same else array.reindex(sample=samples, fill_value=fill))
    return xr.concat(filled, "item")
