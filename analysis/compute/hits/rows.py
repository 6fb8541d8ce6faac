"""Whole rows of one head: where each pair's target and source stand in the vocabulary, and what stands first."""

from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.rounding import TIE
from analysis.compute.hits.unembedding import tiles

_AT_ONCE = 1024  # rows that are compared with a tile together


@dataclass(frozen=True)
class Ranks:
    """Of each pair of the query's first relation, in its order; rank 1 is the largest entry of the row."""

    target: Tensor  # [n]
    source: Tensor  # [n] of the source's own token
    top: Tensor  # [n, ≤ count] the tokens with the largest entries, the largest first


def ranks_of_head(inputs: Inputs, layer: int, head: int, way: int, count: int) -> Ranks:
    """In float64 throughout, with the same rule for ties as the counter: a pair is a hit when its rank is at most k.

    For suppression (way 1) the rows are negated, so rank 1 is the entry that is suppressed most.
    """
    query = inputs.query
    members = query.members[0].to(inputs.heads.device)
    source = query.source_of[members]
    own = inputs.unembedding.unembed(query.sources)[source].double()
    target = inputs.targets[query.target_of[members]].double()
    share = inputs.heads.card.heads // inputs.heads.card.kv_heads
    w_v = inputs.heads.values(layer)[head // share].double()
    w_o = inputs.heads.outputs(layer)[head].double()
    a = inputs.sources.x(layer)[source].double() @ w_v * (1 - 2 * way)  # [n, d_head]
    q = a @ w_o
    marks = torch.stack([torch.linalg.vecdot(q, target), torch.linalg.vecdot(q, own)])  # [2, n]
    larger = torch.zeros_like(marks, dtype=torch.long)
    top = _Top.empty(len(a), a.device)
    start = 0
    for tile in tiles(inputs.unembedding):
        b = tile.double() @ w_o.T  # [m, d_head]
        bounds = marks + TIE * q.norm(dim=1) * tile.norm(dim=1).max()
        parts = []
        for rows in torch.arange(len(a), device=a.device).split(_AT_ONCE):
            entries = a[rows] @ b.T
            for which, bound in enumerate(bounds[:, rows]):
                larger[which, rows] += (entries > bound[:, None]).sum(1)
            parts.append(_Top.of(entries, start, count))
        top = top.joined(_Top.stacked(parts), count)
        start += len(tile)
    return Ranks(larger[0] + 1, larger[1] + 1, top.token)


@dataclass(frozen=True)
class _Top:
    """The largest entries of each row so far, and their tokens."""

    value: Tensor  # [n, c]
    token: Tensor  # [n, c]

    @classmethod
    def empty(cls, rows: int, device: torch.device) -> "_Top":
        value = torch.empty(rows, 0, dtype=torch.float64, device=device)
        return cls(value, value.long())

    @classmethod
    def of(cls, entries: Tensor, first: int, count: int) -> "_Top":  # entries [n, m] of the tokens from `first` on
        best = entries.topk(min(count, entries.shape[1]))
        return cls(best.values, best.indices + first)

    @classmethod
    def stacked(cls, parts: list["_Top"]) -> "_Top":
        """Of some rows, then of the next."""
        return cls(torch.cat([part.value for part in parts]), torch.cat([part.token for part in parts]))

    def joined(self, other: "_Top", count: int) -> "_Top":
        """Of some tokens and of others."""
        value = torch.cat([self.value, other.value], 1)
        token = torch.cat([self.token, other.token], 1)
        best = value.topk(min(count, value.shape[1]))
        return _Top(best.values, token.gather(1, best.indices))
