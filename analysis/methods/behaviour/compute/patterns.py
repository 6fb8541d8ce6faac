"""Numbers of attention patterns: each function is one measure, for all heads at once."""

import torch
from torch import Tensor

Pattern = Tensor  # [B, H, T, T] float64, A[query, key]
Measured = tuple[Tensor, Tensor]  # [H] the score, [H] the same in its own unit


def on_random(a: Pattern, start: int, block: int) -> list[Measured]:
    """Previous token, duplicate token, induction: two equal blocks of tokens from the position `start` on."""
    queries = torch.arange(start + 1, start + 2 * block)
    second = torch.arange(start + block, start + 2 * block)
    shares = (
        _mean(a[:, :, queries, queries - 1]),
        _mean(a[:, :, second, second - block]),
        _mean(a[:, :, second, second - block + 1]),
    )
    return [(share, share) for share in shares]


def on_text(a: Pattern) -> list[Measured]:
    """Attention to the first token, entropy, distance; the first query is left out, as it has no choice."""
    length = a.shape[-1]
    a = a[:, :, 1:]
    query = torch.arange(1, length, device=a.device, dtype=a.dtype)
    key = torch.arange(length, device=a.device, dtype=a.dtype)
    first = _mean(a[..., 0])
    entropy = torch.special.entr(a).sum(-1)
    distance = (a * (query[:, None] - key)).sum(-1)
    return [
        (first, first),
        (_mean(entropy / torch.log(query + 1)), _mean(entropy)),
        (_mean(distance / query), _mean(distance)),
    ]


def _mean(values: Tensor) -> Tensor:  # [B, H, n] → [H]
    """Over sequences and queries."""
    return values.mean((0, 2))
