"""Every number that the results have one value per head of, by a name that an address can hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from analysis import methods
from analysis.errors import SettingError
from analysis.results import agreement
from analysis.results.scores import Floats, Scores

_BETWEEN = "/"  # the parts of a key; items and kinds have no slash


@dataclass(frozen=True)
class Quantity:
    """A number of every head."""

    key: str  # method/item/kind, the mean over the samples
    title: str
    group: str  # the title of its method
    is_class: bool = False  # its values are codes of classes

    @property
    def map(self) -> str:
        """The map that it is of, or the method: what its key starts with."""
        return self.key.partition(_BETWEEN)[0]


def quantities(results: Mapping[str, Scores]) -> list[Quantity]:
    """All that a model has, method by method: scores, then what else was measured, then classes."""
    listed: list[Quantity] = []
    for name, scores in results.items():
        listed += _of_result(name, scores)
    for each in agreement.agreements(results):
        key = _BETWEEN.join(each.key_parts)
        words = f"{methods.method(each.what).title} and {methods.method(each.whether).title}: {each.title}"
        listed.append(Quantity(key, words, agreement.NAME.capitalize(), is_class=True))
    return listed


def _of_result(name: str, scores: Scores) -> Iterator[Quantity]:
    group = methods.method(name).title
    for item in scores.provenance.items:
        if not item.applicable:
            continue
        for kind in (*scores.kinds, *scores.parts):
            if not np.isnan(_mean(scores, item.name, kind)).all():
                yield Quantity(_BETWEEN.join((name, item.name, kind)), f"{item.title}: {kind}", group)


def values(results: Mapping[str, Scores], key: str) -> Floats:  # [layer, head]
    """The numbers behind a key; NaN where a head has none."""
    if key.startswith(agreement.NAME + _BETWEEN):
        for each in agreement.agreements(results):
            if key == _BETWEEN.join(each.key_parts):
                return each.codes.astype(np.float64)
    name, item, kind = ([*key.split(_BETWEEN, 2), "", ""])[:3]
    scores = results.get(name)
    there = [one.name for one in scores.provenance.items] if scores is not None else []
    if scores is None or item not in there or kind not in (*scores.kinds, *scores.parts):
        raise SettingError(f"there is no quantity {key[:80]!r} here", "/api/quantities lists them.")
    return _mean(scores, item, kind)


def _mean(scores: Scores, item: str, kind: str) -> Floats:  # [layer, head]
    """The mean over the samples of a kind of score, or of a part; a part's own sample named mean where it has one."""
    if kind in scores.kinds:
        chosen = scores.score.sel(item=item, kind=kind)
    else:
        chosen = scores.parts[kind].sel(item=item)
        if "mean" in chosen["sample"]:
            chosen = chosen.sel(sample=["mean"])
    there = chosen.dropna("sample", how="all")
    if not there.sizes["sample"]:
        return np.full(chosen.isel(sample=0).shape, np.nan)
    return np.asarray(there.mean("sample", skipna=True).values, dtype=np.float64)
