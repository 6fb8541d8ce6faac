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

_CHUNK = 4096  # tokens at once


Entries = tuple[tuple[int, float], ...]  # tokens with their entry of M


@dataclass(frozen=True)
class Operation:
    """One salient token of a head; entries are (token, entry of M)."""

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
    """The salient operations of every head of the given layers, in one pass over the vocabulary."""
    mlp = weights.first_mlp() if first_mlp else None
    top = _largest_sigma(weights, mlp, layers, tokens, progress)  # [layer, H, tokens] values and token ids
    found = {}
    for i, layer in enumerate(layers):
        values, ids = top.values[i], top.indices[i]  # [H, tokens]
        large, small = _extremes(weights, _rows(weights, mlp, layer, ids), entries)  # lists of H · tokens
        for head in range(weights.card.heads):
            first = head * ids.shape[1]
            found[HeadId(layer, head)] = tuple(
                Operation(int(ids[head, j]), float(values[head, j]), large[first + j], small[first + j])
                for j in range(ids.shape[1])
            )
        progress("reading what heads promote", i + 1, len(layers))
    return found


def _rows(weights: Weights, mlp: FirstMlp | None, layer: int, ids: Tensor) -> Tensor:  # [H, n] → [H · n, d]
    """X W_V W_O of each head's own tokens."""
    card = weights.card
    x = _x(weights, mlp, layer, ids.flatten()).view(*ids.shape, -1)
    w_v = weights.values(layer).repeat_interleave(card.heads // card.kv_heads, 0)
    return (x @ w_v @ weights.outputs(layer)).flatten(0, 1)


def _x(weights: Weights, mlp: FirstMlp | None, layer: int, ids: Tensor) -> Tensor:  # [n, d]
    embedded = weights.embed(ids)
    return embedded if mlp is None or layer == weights.card.layers[0] else mlp(embedded)


@dataclass(frozen=True)
class _Top:
    """The largest values seen so far along the last axis, and the tokens they belong to."""

    values: Tensor
    indices: Tensor

    def merged(self, values: Tensor, indices: Tensor, count: int) -> "_Top":
        """The same after some more were seen."""
        values = torch.cat([self.values, values], -1)
        best = values.topk(min(count, values.shape[-1]), dim=-1)
        return _Top(best.values, torch.cat([self.indices, indices], -1).gather(-1, best.indices))

    def entries(self, sign: int) -> list[Entries]:
        """Row by row as (token, value)."""
        rows = zip(self.indices.tolist(), (sign * self.values).tolist(), strict=True)
        return [tuple(zip(tokens, values, strict=True)) for tokens, values in rows]


def _largest_sigma(
    weights: Weights, mlp: FirstMlp | None, layers: Sequence[int], count: int, progress: Progress
) -> _Top:
    card, vocabulary = weights.card, weights.card.vocabulary
    maps = [_stretch(weights, layer) for layer in layers]
    first, later = (
        [i for i, layer in enumerate(layers) if (layer == card.layers[0]) == flag] for flag in (True, False)
    )
    shape = (len(layers), card.heads, 0)
    top = _Top(torch.empty(shape, device=weights.device), torch.empty(shape, dtype=torch.long, device=weights.device))
    for start in range(0, vocabulary, _CHUNK):
        ids = torch.arange(start, min(start + _CHUNK, vocabulary))
        embedded = weights.embed(ids)
        sigma = torch.empty(len(layers), card.heads, len(ids), device=weights.device)
        for x, chosen in ((embedded, first), (embedded if mlp is None else mlp(embedded), later)):
            for i in chosen:
                sigma[i] = _sigma(x, *maps[i])
        top = top.merged(sigma, ids.to(weights.device).expand_as(sigma), count)
        progress("measuring tokens", min(start + _CHUNK, vocabulary), vocabulary)
    return top


def _stretch(weights: Weights, layer: int) -> tuple[Tensor, Tensor]:
    """W_V and a square root of W_O W_O^T: ‖a W_O‖ is the norm of a vector of length d_head."""
    w_v, w_o = weights.values(layer), weights.outputs(layer).double()
    eigen, basis = torch.linalg.eigh(w_o @ w_o.transpose(1, 2))
    return w_v, (basis * eigen.clamp(min=0).sqrt()[:, None]).float()  # [H_kv, d, d_head], [H, d_head, d_head]


def _sigma(x: Tensor, w_v: Tensor, root: Tensor) -> Tensor:  # [H, n]
    a = torch.einsum("nd,gde->gne", x, w_v).repeat_interleave(len(root) // len(w_v), 0)
    norm = x.norm(dim=1)
    return torch.where(norm > 0, (a @ root).norm(dim=2) / norm, 0.0)


def _extremes(weights: Weights, rows: Tensor, count: int) -> tuple[list[Entries], list[Entries]]:
    """The largest and the smallest entries of each row of M, in one pass over the vocabulary."""
    none = _Top(rows.new_empty(len(rows), 0), rows.new_empty((len(rows), 0), dtype=torch.long))
    large = small = none
    for start in range(0, weights.vocabulary, _CHUNK):
        part = rows @ weights.unembed_span(start, min(start + _CHUNK, weights.vocabulary)).T
        ids = torch.arange(start, start + part.shape[1], device=rows.device).expand_as(part)
        large, small = large.merged(part, ids, count), small.merged(-part, ids, count)
    return large.entries(1), small.entries(-1)
