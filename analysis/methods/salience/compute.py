"""Salient operations: the tokens on which a head acts most strongly, and what it then promotes and suppresses.

    σ_t = ‖x_t W_V W_O‖ / ‖x_t‖

From section 5 of the MAPS paper (arXiv 2412.11965): σ is large where the head stretches a token's vector, 0 where it
ignores it. For the tokens with the largest σ we read the largest and smallest entries of their row of M.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.compute.weights import FirstMlp, Weights
from analysis.models.card import HeadId
from analysis.progress import Progress, silent

Entries = tuple[tuple[int, float], ...]  # tokens with their entry of M

_CHUNK = 4096  # tokens at once


@dataclass(frozen=True)
class Operation:
    """One salient token of a head, with the largest and smallest entries of its row of M."""

    token: int
    sigma: float
    promoted: Entries  # largest first
    suppressed: Entries  # smallest first


def salient_operations(
    weights: Weights,
    layers: Sequence[int],
    *,
    first_mlp: bool = True,
    tokens: int = 15,
    entries: int = 5,
    progress: Progress = silent,
) -> dict[HeadId, tuple[Operation, ...]]:
    """The salient operations of every head of the given layers."""
    mlp = weights.first_mlp() if first_mlp else None
    salient = _largest_sigma(weights, mlp, layers, tokens, progress)  # [layer, H, tokens]
    operations: dict[HeadId, tuple[Operation, ...]] = {}
    for index, layer in enumerate(layers):
        ids, sigma = salient.tokens[index], salient.values[index]  # [H, tokens]
        promoted, suppressed = _extremes(weights, _rows(weights, mlp, layer, ids), entries)
        for head in range(weights.card.heads):
            operations[HeadId(layer, head)] = _operations(ids[head], sigma[head], promoted[head], suppressed[head])
        progress("reading what heads promote", index + 1, len(layers))
    return operations


def _operations(
    tokens: Tensor,  # [n]
    sigma: Tensor,  # [n]
    promoted: Sequence[Entries],
    suppressed: Sequence[Entries],
) -> tuple[Operation, ...]:
    """The operations of one head."""
    parts = zip(tokens.tolist(), sigma.tolist(), promoted, suppressed, strict=True)
    return tuple(Operation(*part) for part in parts)


def _rows(weights: Weights, mlp: FirstMlp | None, layer: int, ids: Tensor) -> Tensor:  # [H, n] → [H, n, d]
    """X W_V W_O of each head's own tokens."""
    card = weights.card
    x = weights.embed(ids.flatten())
    if mlp is not None and layer != card.layers[0]:
        x = mlp(x)
    w_v = weights.values(layer).repeat_interleave(card.heads // card.kv_heads, 0)  # [H, d, d_head]
    return x.view(*ids.shape, -1) @ w_v @ weights.outputs(layer)


@dataclass(frozen=True)
class _Largest:
    """The largest values seen so far along the last axis, largest first, and the tokens they belong to."""

    values: Tensor  # [..., n]
    tokens: Tensor  # [..., n]

    @classmethod
    def nothing(cls, *shape: int, device: torch.device) -> "_Largest":
        """Before any value was seen."""
        values = torch.empty(*shape, 0, device=device)
        return cls(values, torch.empty_like(values, dtype=torch.long))

    def merged(self, values: Tensor, first: int, count: int) -> "_Largest":
        """After values of the next tokens, from `first` on, were seen; at most `count` are kept."""
        tokens = torch.arange(first, first + values.shape[-1], device=values.device).expand_as(values)
        all_values = torch.cat([self.values, values], -1)
        all_tokens = torch.cat([self.tokens, tokens], -1)
        largest = all_values.topk(min(count, all_values.shape[-1]), dim=-1)
        return _Largest(largest.values, all_tokens.gather(-1, largest.indices))


def _largest_sigma(
    weights: Weights, mlp: FirstMlp | None, layers: Sequence[int], count: int, progress: Progress
) -> _Largest:  # [layer, H, count]
    """The tokens with the largest σ of every head, in one pass over the vocabulary."""
    card = weights.card
    stretches = [_Stretch.of(weights, layer) for layer in layers]
    largest = _Largest.nothing(len(layers), card.heads, device=weights.device)
    for start in range(0, card.vocabulary, _CHUNK):
        stop = min(start + _CHUNK, card.vocabulary)
        embedded = weights.embed(torch.arange(start, stop))  # X of the first layer
        later = embedded if mlp is None else mlp(embedded)  # X of all others
        sigma = torch.empty(len(layers), card.heads, stop - start, device=weights.device)
        for index, layer in enumerate(layers):
            x = embedded if layer == card.layers[0] else later
            sigma[index] = stretches[index].sigma(x)
        largest = largest.merged(sigma, start, count)
        progress("measuring tokens", stop, card.vocabulary)
    return largest


@dataclass(frozen=True)
class _Stretch:
    """How much the heads of a layer stretch a vector, through d_head instead of d.

    With a root R of W_O W_Oᵀ, that is R Rᵀ = W_O W_Oᵀ, the norm of a W_O is that of a R, which has d_head entries only.
    """

    w_v: Tensor  # [H_kv, d, d_head]
    root: Tensor  # [H, d_head, d_head]

    @classmethod
    def of(cls, weights: Weights, layer: int) -> "_Stretch":
        """The stretch of one layer; the root is computed in float64."""
        w_o = weights.outputs(layer).double()
        eigenvalues, basis = torch.linalg.eigh(w_o @ w_o.transpose(1, 2))
        root = basis * eigenvalues.clamp(min=0).sqrt()[:, None]
        return cls(weights.values(layer), root.float())

    def sigma(self, x: Tensor) -> Tensor:  # [n, d] → [H, n]
        """σ of each vector; 0 where the vector is zero."""
        share = len(self.root) // len(self.w_v)
        a = torch.einsum("nd,gde->gne", x, self.w_v).repeat_interleave(share, 0)  # [H, n, d_head]
        norm = x.norm(dim=1)
        return torch.where(norm > 0, (a @ self.root).norm(dim=2) / norm, 0.0)


def _extremes(
    weights: Weights,
    rows: Tensor,  # [H, n, d]
    count: int,
) -> tuple[list[list[Entries]], list[list[Entries]]]:
    """The largest and the smallest entries of each row of M, by head, in one pass over the vocabulary."""
    flat = rows.flatten(0, 1)  # [H · n, d]
    largest = smallest = _Largest.nothing(len(flat), device=rows.device)
    for start in range(0, weights.vocabulary, _CHUNK):
        stop = min(start + _CHUNK, weights.vocabulary)
        entries = flat @ weights.unembed_span(start, stop).T
        largest = largest.merged(entries, start, count)
        smallest = smallest.merged(-entries, start, count)
    per_head = rows.shape[1]
    promoted = _by_head(largest.tokens, largest.values, per_head)
    suppressed = _by_head(smallest.tokens, -smallest.values, per_head)
    return promoted, suppressed


def _by_head(tokens: Tensor, values: Tensor, per_head: int) -> list[list[Entries]]:  # both [H · n, count]
    """Each row's tokens with their entries, the rows of a head together."""
    by_head: list[list[Entries]] = []
    for row, (row_tokens, row_values) in enumerate(zip(tokens.tolist(), values.tolist(), strict=True)):
        if row % per_head == 0:
            by_head.append([])
        by_head[-1].append(tuple(zip(row_tokens, row_values, strict=True)))
    return by_head
