"""A plain port of the published way to score heads: for each head and relation, the full rows of M and their top k."""

from collections.abc import Sequence

import torch
from torch import Tensor


def published_hits(
    x: Tensor,  # [V, d] X of every token
    w_v: Tensor,  # [d, d_head]
    w_o: Tensor,  # [d_head, d]
    u: Tensor,  # [V, d]
    relations: Sequence[tuple[Sequence[tuple[int, int]], int]],
) -> list[tuple[int, int]]:
    """Promoted and suppressed pairs of one head, relation by relation."""
    w_vo = w_v @ w_o
    hits = []
    for pairs, k in relations:
        sources, targets = torch.tensor(pairs).unbind(1)
        rows = x[sources] @ w_vo @ u.T
        promoted = (rows.topk(k).indices == targets[:, None]).any(1).sum()
        suppressed = ((-rows).topk(k).indices == targets[:, None]).any(1).sum()
        hits.append((int(promoted), int(suppressed)))
    return hits
