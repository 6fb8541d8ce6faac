"""Salient operations: the tokens on which a head acts most strongly, and what it then promotes and suppresses.

    σ_t = ‖x_t W_V W_O‖ / ‖x_t‖

From section 5 of the MAPS paper (arXiv 2412.11965): σ is large where the head stretches a token's vector, 0 where it
ignores it. For the tokens with the largest σ we read the largest and smallest entries of their row of M.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.heads import HeadId
from analysis.progress import Progress, silent
from analysis.weights import FirstMlp, Weights

_CHUNK = 4096  # tokens at once


@dataclass(frozen=True)
class Operation:
    """One salient token of a head; entries are (token, entry of M)."""

    token: int
    sigma: float
    promoted: tuple[tuple[int, float], ...]  # largest first
    suppressed: tuple[tuple[int, float], ...]  # smallest first


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
        w_v, w_o = weights.values(layer), weights.outputs(layer)
        for head in range(weights.card.heads):
            x = _x(weights, mlp, layer, top.indices[i, head])
            rows = x @ w_v[head // (weights.card.heads // weights.card.kv_heads)] @ w_o[head]
            found[HeadId(layer, head)] = _operations(weights, rows, top.values[i, head], top.indices[i, head], entries)
        progress("reading what heads promote", i + 1, len(layers))
    return found


def _x(weights: Weights, mlp: FirstMlp | None, layer: int, ids: Tensor) -> Tensor:  # [n, d]
    embedded = weights.embed(ids)
    return embedded if mlp is None or layer == weights.card.layers[0] else mlp(embedded)


@dataclass
class _Top:
    values: Tensor
    indices: Tensor


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
        values = torch.cat([top.values, sigma], -1)
        indices = torch.cat([top.indices, ids.to(weights.device).expand_as(sigma)], -1)
        best = values.topk(min(count, values.shape[-1]), dim=-1)
        top = _Top(best.values, indices.gather(-1, best.indices))
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


def _operations(weights: Weights, rows: Tensor, sigma: Tensor, ids: Tensor, entries: int) -> tuple[Operation, ...]:
    large, small = _extremes(weights, rows, entries), _extremes(weights, -rows, entries)
    return tuple(
        Operation(int(ids[i]), float(sigma[i]), large[i], tuple((token, -value) for token, value in small[i]))
        for i in range(len(ids))
    )


def _extremes(weights: Weights, rows: Tensor, count: int) -> list[tuple[tuple[int, float], ...]]:
    """The largest entries of each row of M, over the whole vocabulary."""
    values = torch.empty(len(rows), 0, device=rows.device)
    indices = torch.empty(len(rows), 0, dtype=torch.long, device=rows.device)
    for start in range(0, weights.vocabulary, 4 * _CHUNK):
        part = rows @ weights.unembed_span(start, min(start + 4 * _CHUNK, weights.vocabulary)).T
        best = part.topk(min(count, part.shape[1]))
        values, indices = torch.cat([values, best.values], 1), torch.cat([indices, best.indices + start], 1)
    best = values.topk(min(count, values.shape[1]))
    tokens = indices.gather(1, best.indices)
    pairs = zip(tokens.tolist(), best.values.tolist(), strict=True)
    return [tuple(zip(row, value, strict=True)) for row, value in pairs]
