"""How far a label can be trusted: its interval, whether it goes beyond copying, whether it is specific.

A label is a head's score for one relation and kind, when it is above τ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.relations.labels import copy_like, unspecific
from analysis.relations.layer import part_name
from analysis.relations.scores import KINDS, categories
from analysis.results.intervals import wilson
from analysis.results.scores import ONLY_SAMPLE, Bools, Floats, Scores
from dashboard.cache import cached
from dashboard.maps.function.state import FunctionState, How

SUPPRESS = KINDS[1]
COPY_LIKE, UNSPECIFIC, UNCERTAIN = "copy-like", "unspecific", "uncertain"
BEYOND = "beyond copying"  # labels that are neither copy-like nor unspecific


def uncertain(low: Floats, high: Floats, tau: float) -> Bools:
    """Where the interval contains τ; never where there is none."""
    return np.asarray((low <= tau) & (tau <= high))


@dataclass(frozen=True, eq=False)
class Labels:
    """Numbers behind scores: [item, kind, layer, head] of all relations, or [layer, head] of one label per head."""

    score: Floats
    low: Floats  # of the 95 % interval
    high: Floats
    beyond: Floats  # of the hits the share whose target outranks the source; NaN where it was not measured
    copied: Floats  # the share of pairs whose source itself is among the k
    control: Floats  # the score with shuffled targets
    suppresses: Bools  # the score is one of suppressing

    def at(self, *place: npt.NDArray[np.intp]) -> "Labels":
        """Some of the numbers, by their places."""
        return Labels(*(values[place] for values in self._arrays))

    @classmethod
    def stacked(cls, several: Sequence["Labels"]) -> "Labels":
        """Those of several, one after the other in a new first dimension."""
        of_several = [one._arrays for one in several]
        return cls(*(np.stack(arrays) for arrays in zip(*of_several, strict=True)))

    def where(self, flags: Bools, others: "Labels") -> "Labels":
        """These numbers where a flag is true, others elsewhere."""
        pairs = zip(self._arrays, others._arrays, strict=True)
        return Labels(*(np.where(flags, mine, theirs) for mine, theirs in pairs))

    def counted(self, state: FunctionState) -> Bools:
        """Which of them are labels that the state lets count."""
        with np.errstate(invalid="ignore"):
            above = self.score > state.tau
        return above & ~self.poor(state.tau) if state.labels == "beyond" else above

    def poor(self, tau: float) -> Bools:
        """Copy-like or unspecific."""
        return copy_like(self.beyond) | unspecific(self.control, tau)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        return self.score, self.low, self.high, self.beyond, self.copied, self.control, self.suppresses


def is_measured(scores: Scores | None) -> bool:
    """Whether a result says more of its labels than their scores."""
    wanted = {part_name(name, kind) for name in ("beyond", "control") for kind in KINDS}
    return scores is not None and bool(wanted & set(scores.parts))


@cached(8)
def labels_of(scores: Scores) -> Labels:
    """All labels of a result, whose items and kinds stand in its own order."""
    score = np.asarray(scores.score.sel(sample=ONLY_SAMPLE).values)
    hits = np.asarray(scores.hits.sel(sample=ONLY_SAMPLE).values)
    pairs = np.array([item.kept for item in scores.provenance.items])
    low, high = wilson(hits, pairs[:, None, None, None])
    suppresses = np.array(scores.kinds) == SUPPRESS
    return Labels(
        score=score,
        low=low,
        high=high,
        beyond=_part(scores, "beyond"),
        copied=_part(scores, "copied"),
        control=_part(scores, "control"),
        suppresses=np.broadcast_to(suppresses[:, None, None], score.shape),
    )


def _part(scores: Scores, name: str) -> Floats:
    """A part of every kind; NaN where the result has none."""
    of_kinds = []
    for kind in scores.kinds:
        array = scores.parts.get(part_name(name, kind))
        nothing = np.full_like(scores.score.isel(kind=0, sample=0).values, np.nan)
        of_kinds.append(nothing if array is None else array.sel(sample=ONLY_SAMPLE).values)
    return np.stack(of_kinds, axis=1)


@cached(16)
def chosen_labels(scores: Scores, items: tuple[str, ...], kinds: tuple[str, ...]) -> Labels:
    """The labels of some relations and kinds."""
    names = [item.name for item in scores.provenance.items]
    chosen_items = [names.index(item) for item in items]
    chosen_kinds = [scores.kinds.index(kind) for kind in kinds]
    return labels_of(scores).at(*np.ix_(chosen_items, chosen_kinds))


@cached(16)
def deciding_labels(scores: Scores, items: tuple[str, ...], how: How, kinds: tuple[str, ...]) -> Labels:
    """For each head the one label that decides: the highest score, or with `always` the lowest of the relations."""
    chosen = chosen_labels(scores, items, kinds)
    return _deciding(chosen, np.nan_to_num(chosen.score, nan=-1.0), how)


def counting_labels(scores: Scores, items: tuple[str, ...], state: FunctionState) -> Labels:
    """The same of the labels that the state lets count; of a head that does not belong by these, of all."""
    of_all = deciding_labels(scores, items, state.how, state.kinds)
    if state.labels == "all":
        return of_all
    chosen = chosen_labels(scores, items, state.kinds)
    counted = chosen.counted(state)
    of_counted = _deciding(chosen, np.where(counted, chosen.score, -1.0), state.how)
    return of_counted.where(_holds(counted, state.how), of_all)


def strongest_labels(scores: Scores, state: FunctionState) -> Labels:
    """For each head the deciding label of its strongest category, before others of one that counts it."""
    relations = [tuple(scores.items(name)) for name in categories(scores)]
    deciding = Labels.stacked([counting_labels(scores, items, state) for items in relations])
    strength = np.nan_to_num(deciding.score, nan=-1.0)  # [category, layer, head]
    if state.labels == "beyond":
        chosen = [chosen_labels(scores, items, state.kinds) for items in relations]
        strength += 2.0 * np.stack([_holds(labels.counted(state), state.how) for labels in chosen])
    category = strength.argmax(axis=0)  # [layer, head]
    layer, head = np.indices(category.shape)
    return deciding.at(category, layer, head)


def _deciding(chosen: Labels, filled: Floats, how: How) -> Labels:
    """One label of each head by scores [item, kind, layer, head] without gaps."""
    kind = filled.argmax(axis=1)  # [item, layer, head]
    best = filled.max(axis=1)
    item = best.argmin(axis=0) if how == "always" else best.argmax(axis=0)  # [layer, head]
    layer, head = np.indices(item.shape)
    return chosen.at(item, kind[item, layer, head], layer, head)


@dataclass(frozen=True, eq=False)
class Quality:
    """What the labels of a panel's heads are worth; arrays [layer, head]."""

    counts: Bools  # the labels that the state lets count make the head a member
    is_good: Bools  # labels that go beyond copying and are specific would alone make it one
    is_certain: Bools  # the interval of what decides lies above τ


def quality(labels: Labels, state: FunctionState) -> Quality:
    """The quality of labels [item, kind, layer, head]."""
    with np.errstate(invalid="ignore"):
        above = labels.score > state.tau
    good = above & ~labels.poor(state.tau)
    certain = above & ~uncertain(labels.low, labels.high, state.tau)
    counted = labels.counted(state)
    return Quality(
        counts=_holds(counted, state.how),
        is_good=_holds(good, state.how),
        is_certain=_holds(certain, state.how),
    )


def _holds(flags: Bools, how: How) -> Bools:
    """Whether a flag [item, kind, layer, head] is true of any relation, or of all, in any kind."""
    of_items = flags.any(axis=1)
    return np.asarray(of_items.all(axis=0) if how == "always" else of_items.any(axis=0))


def words(score: float, low: float, high: float, beyond: float, control: float, tau: float) -> list[str]:
    """What is to be said against a score; nothing for one that is no label."""
    if not score > tau:
        return []
    flags = {COPY_LIKE: copy_like(beyond), UNSPECIFIC: unspecific(control, tau), UNCERTAIN: low <= tau <= high}
    return [word for word, flag in flags.items() if flag]
