"""One head in the function map: its scores for every relation."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.models.card import HeadId
from analysis.results.scores import ONLY_SAMPLE, Missing, Scores, ranks
from dashboard.cache import cached
from dashboard.maps.function.labels import labels_of, words


@dataclass(frozen=True)
class Effect:
    """A score of one kind, promote or suppress, and what stands behind it."""

    kind: str
    score: float
    low: float  # of its 95 % interval
    high: float
    beyond: float
    control: float

    def remarks(self, tau: float) -> list[str]:
        """What is to be said against it."""
        return words(self.score, self.low, self.high, self.beyond, self.control, tau)


@dataclass(frozen=True)
class RelationRow:
    """A head's scores for one relation."""

    name: str
    title: str
    category: str
    kept: int  # pairs that are single tokens of the model
    applicable: bool
    promote: float
    suppress: float
    promote_hits: float
    suppress_hits: float
    promote_rank: int
    suppress_rank: int
    best: float  # the larger of both, NaN without a score
    low: float  # of its 95 % interval
    high: float
    beyond: float  # β: of its hits the share whose target outranks the source; NaN where it was not measured
    copied: float  # the share of pairs whose source itself is among the k
    control: float  # the score with shuffled targets
    missing: str  # why there is none
    weaker: Effect  # the smaller of both

    @property
    def order(self) -> float:
        """The best score, below all others where there is none."""
        return -1.0 if np.isnan(self.best) else self.best

    @property
    def rank(self) -> int:
        """Of the stronger of both effects."""
        return self.suppress_rank if self.suppress > self.promote else self.promote_rank

    def remarks(self, tau: float) -> list[str]:
        """What is to be said against the stronger of both effects."""
        return words(self.best, self.low, self.high, self.beyond, self.control, tau)

    def second(self, tau: float) -> Effect | None:
        """The weaker effect, where it is a label, too."""
        return self.weaker if self.weaker.score > tau else None


@cached(16)
def _ranks(scores: Scores) -> npt.NDArray[np.intp]:  # [item, kind, layer, head]
    """Each head's rank for each item and kind."""
    values = scores.score.sel(sample=ONLY_SAMPLE).values
    of_items = [[ranks(one) for one in kinds] for kinds in values]
    return np.array(of_items, dtype=np.intp).reshape(values.shape)


def head_scores(scores: Scores, head: HeadId) -> list[RelationRow]:
    """Every relation's scores of a head with hits and rank, best first, those without a score last."""
    at = scores.provenance.model.layers.index(head.layer)
    score, hits, missing = (
        array.sel(sample=ONLY_SAMPLE).values[:, :, at, head.head]
        for array in (scores.score, scores.hits, scores.missing)
    )
    standing, labels = _ranks(scores)[:, :, at, head.head], labels_of(scores)
    kinds = scores.score.kind.values.tolist()
    promote, suppress = kinds.index("promote"), kinds.index("suppress")
    rows = []
    for i, item in enumerate(scores.provenance.items):
        stronger = suppress if score[i, suppress] > score[i, promote] else promote
        place = (i, stronger, at, head.head)
        other = (i, promote if stronger == suppress else suppress, at, head.head)
        row = RelationRow(
            name=item.name,
            title=item.title,
            category=item.category,
            kept=item.kept,
            applicable=item.applicable,
            promote=float(score[i, promote]),
            suppress=float(score[i, suppress]),
            promote_hits=float(hits[i, promote]),
            suppress_hits=float(hits[i, suppress]),
            promote_rank=int(standing[i, promote]),
            suppress_rank=int(standing[i, suppress]),
            best=float(score[i].max()),
            low=float(labels.low[place]),
            high=float(labels.high[place]),
            beyond=float(labels.beyond[place]),
            copied=float(labels.copied[place]),
            control=float(labels.control[place]),
            missing=Missing(missing[i].max()).words,
            weaker=Effect(
                kind=kinds[other[1]],
                score=float(labels.score[other]),
                low=float(labels.low[other]),
                high=float(labels.high[other]),
                beyond=float(labels.beyond[other]),
                control=float(labels.control[other]),
            ),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: -row.order)
