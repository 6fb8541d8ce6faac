"""The claims that the first pass could not refute, with all that the later passes need to decide them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class Survivors:
    """Claims of the heads of some layers, n of them still open.

    Each is about a row of M that is given by its vector q = x W_V W_O: the entry of token t is q · u_t. For a claim
    about suppression x is negated, and so are all vectors and values here: only larger entries count.
    """

    owner: Tensor  # [n] the head: its layer's position in the run · H + head; ascending
    way: Tensor  # [n] 0 when the claim is about promotion, 1 when it is about suppression
    pair: Tensor  # [n] index into the query's pairs
    k: Tensor  # [n]
    value: Tensor  # [n] float64: the target's entry, q · u_t
    above: Tensor  # [n] entries seen so far that are surely larger; counted in place
    near: Tensor  # [n] entries seen so far that may be larger, the target's own not counted; counted in place
    index: Tensor  # [n] ascending: where the row's vectors are in a and q, which stay as they are while claims leave
    a: Tensor  # [m, d_head] float32: x W_V
    q: Tensor  # [m, d] float32
    tied: Tensor  # [·, 3] way, owner and pair of claims whose row is zero throughout: all entries tie, so they hold
    crowded: dict[int, Tensor]  # owner → W_O [d_head, d] of heads with many claims

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Those of several layers, one after the other."""
        index = []
        crowded = {}
        start = 0  # of a part's vectors among all
        for part in parts:
            index.append(part.index + start)
            start += len(part.q)
            crowded.update(part.crowded)
        return cls(
            owner=torch.cat([part.owner for part in parts]),
            way=torch.cat([part.way for part in parts]),
            pair=torch.cat([part.pair for part in parts]),
            k=torch.cat([part.k for part in parts]),
            value=torch.cat([part.value for part in parts]),
            above=torch.cat([part.above for part in parts]),
            near=torch.cat([part.near for part in parts]),
            index=torch.cat(index),
            a=torch.cat([part.a for part in parts]),
            q=torch.cat([part.q for part in parts]),
            tied=torch.cat([part.tied for part in parts]),
            crowded=crowded,
        )

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def bytes(self) -> int:
        """About what they occupy in memory."""
        return self.q.nbytes + self.a.nbytes + sum(w_o.nbytes for w_o in self.crowded.values())

    def take(self, chosen: Tensor) -> Self:
        """Only the chosen claims."""
        return replace(
            self,
            owner=self.owner.index_select(0, chosen),
            way=self.way.index_select(0, chosen),
            pair=self.pair.index_select(0, chosen),
            k=self.k.index_select(0, chosen),
            value=self.value.index_select(0, chosen),
            above=self.above.index_select(0, chosen),
            near=self.near.index_select(0, chosen),
            index=self.index.index_select(0, chosen),
        )

    def without_tied(self) -> Self:
        """Only the claims about rows that are not zero."""
        return replace(self, tied=self.tied[:0])

    def unrefuted(self) -> Self:
        """Those for which fewer than k entries are surely larger."""
        return self.take((self.above < self.k).nonzero().squeeze(1))


def signs(way: Tensor) -> Tensor:  # [n] → [n, 1]
    """The factor of each claim's vectors: 1 for promotion, −1 for suppression."""
    return 1 - 2 * way[:, None]


def is_crowded(claims: int, d_head: int, d: int) -> bool:
    """Whether a head has so many claims that (tile · W_Oᵀ) · a, through d_head, is less work than tile · q."""
    through_d = claims * d
    through_d_head = d_head * d + claims * d_head
    return through_d > through_d_head
