"""How far two results that score the same relations agree: does the quicker one hold?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.data.relations import builtin
from analysis.relations.labels import copy_like, unspecific
from analysis.relations.layer import part_name
from analysis.relations.scores import KINDS, TAU
from analysis.results.scores import ONLY_SAMPLE, Bools, Floats, Missing, Scores

HOLDS = 0.5  # the least correlation at which the one may stand for the other


@dataclass(frozen=True)
class RelationAgreement:
    """Pearson's r over all heads, for each relation and over all."""

    relations: Mapping[str, float]
    overall: float  # the mean of them; NaN when there is nothing to compare

    @property
    def fails(self) -> bool:
        """Whether the one must not stand for the other."""
        return self.overall < HOLDS


def agreement(one: Scores, other: Scores) -> RelationAgreement:
    """Between two results, each the mean over its samples.

    A relation's r is taken over its scores of all kinds and heads together, where both results have one. A relation
    that only one of them tells heads apart by counts with r = 0; one that neither does is left out.
    """
    first, second = one.over_samples("mean"), other.over_samples("mean")
    relations = {}
    for name in shared_relations(one, other):
        r = correlation(_numbers(first, name), _numbers(second, name))
        if not np.isnan(r):
            relations[name] = r
    overall = float(np.mean(list(relations.values()))) if relations else float("nan")
    return RelationAgreement(relations, overall)


def shared_relations(one: Scores, other: Scores) -> list[str]:
    """The relations that both results have scores for."""
    there = set(other.items())
    return [name for name in one.items() if name in there]


def is_whole(scores: Scores) -> bool:
    """Whether nothing of it is still to be computed."""
    return bool(np.isin(scores.missing.values, (Missing.PRESENT, Missing.NOT_APPLICABLE)).all())


def correlation(one: Floats, other: Floats) -> float:
    """Pearson's r over the places where both have a number; 0 when only one varies, NaN when neither does."""
    both = ~(np.isnan(one) | np.isnan(other))
    first, second = one[both], other[both]
    vary = [values.size > 0 and np.ptp(values) > 0 for values in (first, second)]
    if not any(vary):
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1]) if all(vary) else 0.0


def in_words(r: float) -> str:
    """A correlation with two digits; what rounds to zero has no sign."""
    rounded = round(r, 2) or 0.0
    return f"{rounded:.2f}".replace("-", "−")


def _numbers(scores: Scores, item: str) -> Floats:
    chosen = scores.score.sel(item=item, kind=list(KINDS), sample=ONLY_SAMPLE)
    return np.asarray(chosen.values, dtype=np.float64).ravel()


@dataclass(frozen=True)
class LabelCounts:
    """The labels of a model, each a head, a relation and a kind with a score above τ, by two results."""

    quick: int  # those of the first result
    reference: int  # those of the other
    solid: int  # of the other's, those that are beyond copying and specific
    copying: int  # and those that are specific but of a copying relation, of which β cannot be said
    shared: int  # those of both

    @property
    def recall(self) -> float:
        """The share of the reference's labels that the first result has."""
        return self.shared / self.reference if self.reference else float("nan")

    @property
    def precision(self) -> float:
        """The share of the first result's labels that the reference has."""
        return self.shared / self.quick if self.quick else float("nan")


def label_counts(quick: Scores, reference: Scores, tau: float = TAU) -> LabelCounts:
    """Counts over the relations that both have, each result by the mean over its samples."""
    names = shared_relations(quick, reference)
    first = _labels(quick, names, tau)
    second = _labels(reference, names, tau)
    specific = second & ~unspecific(_part(reference, "control", names), tau)
    copies = np.array([_copies(name) for name in names], dtype=bool)
    solid = specific[~copies] & ~copy_like(_part(reference, "beyond", names)[~copies])
    counted = (first, second, solid, specific[copies], first & second)
    return LabelCounts(*(int(labels.sum()) for labels in counted))


def _copies(name: str) -> bool:
    """Whether a relation is one of copying: source and target are the same word."""
    relation = builtin().get(name)
    return relation is not None and relation.k == "copying"


def _labels(scores: Scores, names: list[str], tau: float) -> Bools:  # [item, kind, layer, head]
    chosen = scores.over_samples("mean").score.sel(item=names, kind=list(KINDS), sample=ONLY_SAMPLE)
    return np.asarray(chosen.values > tau)


def _part(scores: Scores, name: str, items: list[str]) -> Floats:  # [item, kind, layer, head]
    """One of the parts of both kinds; NaN where it was not measured."""
    mean = scores.over_samples("mean")
    shape = mean.score.sel(item=items, sample=ONLY_SAMPLE).shape
    values = np.full(shape, np.nan)
    for index, kind in enumerate(KINDS):
        part = mean.parts.get(part_name(name, kind))
        if part is not None:
            values[:, index] = part.sel(item=items, sample=ONLY_SAMPLE).values
    return values
