"""What each method has one value per head of: scores, what else was measured, what decides about labels."""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from analysis import methods
from analysis.evidence.quantity import ANY, STRENGTH, Quantity, QuantityKey, unknown_quantity
from analysis.method import Method
from analysis.results.provenance import Provenance
from analysis.results.scores import Floats, Scores, over_present

OVER = {"always": "every", "any": "some"}  # as results take samples together
_OF_CATEGORY = ":"


class MethodQuantities:
    """The numbers of single methods, method by method."""

    def quantities(self, results: Mapping[str, Scores]) -> list[Quantity]:
        """Scores, what else was measured, the largest of several."""
        listed: list[Quantity] = []
        for name, scores in results.items():
            method = methods.method(name)
            listed += _measured(method, scores)
            listed += _largest(method, scores)
            listed += _strengths(method, scores)
        return listed

    def has(self, first: str) -> bool:
        """Keys start with the name of a method."""
        return first in methods.names()

    def unit(self, results: Mapping[str, Scores], key: str) -> str:
        """As the method says."""
        asked = QuantityKey.parse(key)
        return _unit(methods.method(asked.method), results[asked.method], asked)

    def sources(self, results: Mapping[str, Scores], key: str) -> list[Provenance]:
        """The result of the method."""
        return [results[QuantityKey.parse(key).method].provenance]

    def values(self, results: Mapping[str, Scores], key: str) -> Floats:  # [layer, head]
        """Of one item, or the largest of several."""
        asked = QuantityKey.parse(key)
        scores = results.get(asked.method)
        if scores is None or not _is_there(scores, asked):
            raise unknown_quantity(key)
        return _strength(scores, asked) if asked.kind == STRENGTH else _numbers(scores, asked)


def _measured(method: Method, scores: Scores) -> Iterator[Quantity]:
    """The scores and parts of every item."""
    for item in scores.provenance.items:
        if not item.applicable:
            continue
        for kind in (*scores.kinds, *scores.parts):
            key = QuantityKey(method.name, item.name, kind)
            if not np.isnan(_numbers(scores, key)).all():
                yield _quantity(method, scores, key, f"{item.title}: {kind}")


def _largest(method: Method, scores: Scores) -> Iterator[Quantity]:
    """The strongest relation of each category, where a method's scores say what heads do."""
    if not method.answers_what:
        return
    for category in dict.fromkeys(item.category for item in scores.provenance.items):
        if len(scores.items(category)) < 2:
            continue
        for kind in scores.kinds:
            key = QuantityKey(method.name, f"{ANY}{_OF_CATEGORY}{category}", kind)
            yield _quantity(method, scores, key, f"strongest of {category}: {kind}")


def _strengths(method: Method, scores: Scores) -> Iterator[Quantity]:
    """What makes the labels of a method that gives some."""
    strengths = method.strengths(scores) if method.label is not None else None
    if strengths is None or method.label is None or not strengths.sizes["item"]:
        return
    words = f"{method.label.words} of the {'label' if method.answers_what else 'cause'}"
    for name in strengths["item"].values:
        key = QuantityKey(method.name, str(name), STRENGTH)
        yield _quantity(method, scores, key, f"{scores.item(str(name)).title}: {words}")
    if method.answers_what:
        yield _quantity(method, scores, QuantityKey(method.name, ANY, STRENGTH), f"strongest of all: {words}")


def _quantity(method: Method, scores: Scores, key: QuantityKey, title: str) -> Quantity:
    return Quantity(str(key), title, method.title, unit=_unit(method, scores, key), samples=_samples(scores, key.kind))


def _unit(method: Method, scores: Scores, key: QuantityKey) -> str:
    """Strengths are made of the first kind of score."""
    return method.unit(key.item, scores.kinds[0] if key.kind == STRENGTH else key.kind)


def _samples(scores: Scores, kind: str) -> tuple[str, ...]:
    """How the samples of a number can be taken together, and which of them there are."""
    array = scores.parts.get(kind, scores.score)
    if scores.score.sizes["sample"] < 2 or array["sample"].values.tolist() != scores.samples:
        return ()
    return tuple(OVER) if kind == STRENGTH else (*OVER, *scores.samples)


def _is_there(scores: Scores, key: QuantityKey) -> bool:
    if key.over and key.over not in _samples(scores, key.kind):
        return False
    if key.kind == STRENGTH:
        strengths = methods.method(key.method).strengths(scores)
        names = [] if strengths is None else strengths["item"].values.tolist()
        return bool(names) and key.item in (*names, ANY)
    return key.kind in (*scores.kinds, *scores.parts) and bool(_items(scores, key.item))


def _items(scores: Scores, item: str) -> list[str]:
    """The item, or all that "any" stands for."""
    if item in [one.name for one in scores.provenance.items]:
        return [item]
    first, _, category = item.partition(_OF_CATEGORY)
    return scores.items(category or None) if first == ANY else []


def _strength(scores: Scores, key: QuantityKey) -> Floats:  # [layer, head]
    """What decides about a label."""
    strengths = methods.method(key.method).strengths(scores, OVER.get(key.over, "mean"))
    if strengths is None:
        raise unknown_quantity(str(key))
    chosen = strengths.max("item") if key.item == ANY else strengths.sel(item=key.item)
    return np.asarray(chosen.values, dtype=np.float64)


def _numbers(scores: Scores, key: QuantityKey) -> Floats:  # [layer, head]
    """A kind of score or a part, of one item or the largest of several."""
    over = key.over
    if key.kind in scores.kinds:
        array = scores.score.sel(kind=key.kind)
    else:
        array = scores.parts[key.kind]
        if array["sample"].values.tolist() == scores.samples:  # taken together as its score is
            array, over = scores.over_samples(OVER.get(over, over or "mean")).parts[key.kind], ""
    of_items = [_over_samples(array.sel(item=item), over) for item in _items(scores, key.item)]
    return of_items[0] if len(of_items) == 1 else np.fmax.reduce(of_items)


def _over_samples(chosen: xr.DataArray, over: str) -> Floats:  # [layer, head]
    """One number in place of several samples'; a part's own sample named mean is the mean where it has one."""
    if over and over not in OVER:
        return np.asarray(chosen.sel(sample=over).values, dtype=np.float64)
    if "mean" in chosen["sample"]:
        chosen = chosen.sel(sample=["mean"])
    there = chosen.dropna("sample", how="all")
    if not there.sizes["sample"]:
        return np.full(chosen.isel(sample=0).shape, np.nan)
    return np.asarray(over_present(there, OVER.get(over, "mean")).values, dtype=np.float64)
