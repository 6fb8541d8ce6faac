"""What is counted of one layer's heads."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class HitCounts:
    """Numbers [relation, promoted | suppressed, head]; NaN where something was not measured.

    Hits divided by the relation's kept pairs are the relation score φ and the suppression score φ⁻, each from 0 (no
    pair) to 1 (every pair has its target among the k largest, or k smallest, of the vocabulary). A head that merely
    copies its source has β near 0, one that maps it to something else β near 1. A head that promotes the relation's
    targets whatever the source is has a control near its score, one that maps each source to its own target near 0.
    """

    hits: Tensor  # how many pairs have their target among the k
    beyond: Tensor  # β: of the hits, the share whose target outranks the source itself; NaN without hits
    copied: Tensor  # the share of all pairs whose source itself is among the k; NaN below the floor of `controls`
    control: Tensor  # the score with the relation's targets shuffled; NaN below the same floor
