"""Models made of a few tensors set by hand, with the reading interface of `analysis.compute.weights.Weights`."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.models.card import ModelCard


class HandMade:
    """A model given by its matrices; X is E in the first layer and 'later' in the others."""

    def __init__(self, e: Tensor, u: Tensor, w_v: Tensor, w_o: Tensor, later: Tensor | None = None) -> None:
        # e [V, d], u [V, d], w_v [L, H_kv, d, d_head], w_o [L, H, d_head, d]
        self.e, self.u, self.w_v, self.w_o = e, u, w_v, w_o
        self.later = e if later is None else later
        self.device = torch.device("cpu")
        self.vocabulary = len(u)
        self.card = ModelCard(
            id="hand-made", revision="0", fingerprint="0", family="none",
            layers=tuple(range(len(w_o))), heads=w_o.shape[1], kv_heads=w_v.shape[1], head_dim=w_o.shape[2],
            width=w_o.shape[3], vocabulary=len(e), dtype="float32",
        )  # fmt: skip

    @classmethod
    def random(cls, seed: int, layers=2, heads=4, kv_heads=2, d=24, d_head=8, vocabulary=600) -> "HandMade":
        g = torch.Generator().manual_seed(seed)
        return cls(
            torch.randn(vocabulary, d, generator=g),
            torch.randn(vocabulary, d, generator=g),
            torch.randn(layers, kv_heads, d, d_head, generator=g),
            torch.randn(layers, heads, d_head, d, generator=g),
            torch.randn(vocabulary, d, generator=g),
        )

    def embed(self, ids: Tensor) -> Tensor:
        return self.e[ids]

    def unembed(self, ids: Tensor) -> Tensor:
        return self.u[ids]

    def unembed_span(self, start: int, stop: int) -> Tensor:
        return self.u[start:stop]

    def values(self, layer: int) -> Tensor:
        return self.w_v[layer]

    def outputs(self, layer: int) -> Tensor:
        return self.w_o[layer]

    def first_mlp(self):
        return lambda x: torch.stack([self.later[self._row(row)] for row in x])

    def _row(self, row: Tensor) -> int:
        return int((self.e == row).all(1).nonzero()[0])


def naive_hits(
    weights, relations: Sequence[tuple[Sequence[tuple[int, int]], int]], layer: int, head: int, first_mlp: bool = True
) -> list[tuple[int, int]]:
    """The definition, written down: full rows of M in float64, entries counted one pair at a time."""
    card = weights.card
    u = weights.unembed_span(0, weights.vocabulary).double()
    w_vo = weights.values(layer)[head // (card.heads // card.kv_heads)].double() @ weights.outputs(layer)[head].double()
    hits = []
    for pairs, k in relations:
        promoted = suppressed = 0
        for source, target in pairs:
            x = weights.embed(torch.tensor([source]))
            if first_mlp and layer > 0:
                x = weights.first_mlp()(x)
            row = (x.double() @ w_vo @ u.T)[0]
            tie = 1e-12 * (x.double() @ w_vo).norm() * u.norm(dim=1).max()
            promoted += int((row > row[target] + tie).sum()) < k
            suppressed += int((row < row[target] - tie).sum()) < k
        hits.append((promoted, suppressed))
    return hits
