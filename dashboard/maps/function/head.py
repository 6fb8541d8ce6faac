"""One head in the function map: its scores for every relation."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.models.card import HeadId
from analysis.relations.scores import KINDS
from analysis.results.provenance import ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Missing, Scores, ranks
from dashboard.cache import cached
from dashboard.maps.function.labels import labels_of, words


@dataclass(frozen=True)
class Effect:
    """A score of one kind, promote or suppress, and what stands behind it; NaN where something was not measured."""

    kind: str
    score: float
    hits: float
    rank: int  # among all heads
    low: float  # of its 95 % interval
    high: float
    beyond: float  # β: of its hits the share whose target outranks the source
    copied: float  # the share of all pairs whose source itself is among the k
    control: float  # the score with shuffled targets

    def remarks(self, tau: float) -> list[str]:
        """What is to be said against it."""
        return words(self.score, self.low, self.high, self.beyond, self.control, tau)


@dataclass(frozen=True)
class RelationRow:
    """A head's scores for one relation."""

    item: ScoredItem
    promote: Effect
    suppress: Effect
    missing: str  # why there are none

    @property
    def stronger(self) -> Effect:
        """The effect with the larger score."""
        return self.suppress if self.suppress.score > self.promote.score else self.promote

    @property
    def order(self) -> float:
        """The larger score, below all others where there is none."""
        return -1.0 if np.isnan(self.stronger.score) else self.stronger.score

    def second(self, tau: float) -> Effect | None:
        """The weaker effect, where it is above τ, too; with τ = 0, where it has hits."""
        weaker = self.promote if self.stronger is self.suppress else self.suppress
        return weaker if weaker.score > tau else None


@cached(16)
def _ranks(scores: Scores) -> npt.NDArray[np.intp]:  # [item, kind, layer, head]
    """Each head's rank for each item and kind."""
    values = scores.score.sel(sample=ONLY_SAMPLE).values
    of_items = [[ranks(one) for one in kinds] for kinds in values]
    return np.array(of_items, dtype=np.intp).reshape(values.shape)


def head_scores(scores: Scores, head: HeadId) -> list[RelationRow]:
    """Every relation's scores of a head with hits and rank, best first, those without a score last."""
    at = scores.provenance.model.layers.index(head.layer)
    missing = scores.missing.sel(sample=ONLY_SAMPLE).values[:, :, at, head.head]
    rows = []
    for place, item in enumerate(scores.provenance.items):
        promote, suppress = (_effect(scores, place, kind, at, head.head) for kind in KINDS)
        rows.append(RelationRow(item, promote, suppress, Missing(missing[place].max()).words))
    return sorted(rows, key=lambda row: -row.order)


def _effect(scores: Scores, item: int, kind: str, layer: int, head: int) -> Effect:
    """A head's score of one kind; item, layer and head by their places in the result."""
    labels = labels_of(scores)
    place = (item, scores.score.kind.values.tolist().index(kind), layer, head)
    return Effect(
        kind=kind,
        score=float(scores.score.sel(sample=ONLY_SAMPLE).values[place]),
        hits=float(scores.hits.sel(sample=ONLY_SAMPLE).values[place]),
        rank=int(_ranks(scores)[place]),
        low=float(labels.low[place]),
        high=float(labels.high[place]),
        beyond=float(labels.beyond[place]),
        copied=float(labels.copied[place]),
        control=float(labels.control[place]),
    )
