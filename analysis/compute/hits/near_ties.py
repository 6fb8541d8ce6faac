"""The third pass: claims that float32 could not decide.

For such a claim some entries are so near the target's that float32 cannot tell which is larger, and whether there are k
larger ones depends on them. Its row is compared once more with the whole vocabulary: what is surely larger is counted
as before, and every near entry is computed again in float64. There it counts as larger when it exceeds the target's by
more than a tie.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.compute.hits.comparison import BLOCK, Bounds, Compare
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.rounding import TIE, relative_error, scaled
from analysis.compute.hits.survivors import Survivors, signs
from analysis.compute.hits.unembedding import tiles


def resolve(inputs: Inputs, compare: Compare, doubtful: Survivors, layers: Sequence[int]) -> Tensor:  # [n] bool
    """Which of the doubtful claims hold; `layers` are those of the run."""
    q = exact_vectors(inputs, doubtful, layers)  # [n, d] float64
    targets = inputs.targets[inputs.query.target_of[doubtful.pair]]
    value = torch.linalg.vecdot(q, targets.double())
    rounded = q.float()
    norm = q.norm(dim=1)
    larger = torch.zeros_like(doubtful.k)
    each = torch.arange(len(q), device=q.device)
    for tile in tiles(inputs.unembedding):
        scale = norm * tile.norm(dim=1).max()
        margin = relative_error(tile.shape[1]) * scale
        tie = TIE * scale
        high, low = (value + margin).float(), (value - margin).float()
        for nearby in compare.near(rounded, tile, Bounds(each, high, low, doubtful.k)):
            larger[nearby.claims] += nearby.above
            at_once = max(1, BLOCK // tile.shape[1])
            near_rows = (nearby.near_claim + nearby.claims.start).split(at_once)
            near_tokens = nearby.near_token.split(at_once)
            for row, token in zip(near_rows, near_tokens, strict=True):
                difference = torch.linalg.vecdot(q[row], tile[token].double()) - value[row]
                larger.index_add_(0, row, (difference > tie[row]).long())
    return larger < doubtful.k


def exact_vectors(inputs: Inputs, claims: Survivors, layers: Sequence[int]) -> Tensor:  # [n, d] float64
    """The claims' vectors q once more, unrounded; each head is scaled so that none vanishes in float32."""
    card = inputs.heads.card
    share = card.heads // card.kv_heads
    q = torch.empty(len(claims), card.width, dtype=torch.float64, device=claims.q.device)
    positions, counts = (claims.owner // card.heads).unique_consecutive(return_counts=True)
    start = 0
    for position, count in zip(positions.tolist(), counts.tolist(), strict=True):
        own = slice(start, start + count)  # the claims of this layer
        start += count
        layer = layers[position]
        w_v, w_o = inputs.heads.values(layer), inputs.heads.outputs(layer)
        source = inputs.query.source_of[claims.pair[own]]
        x = inputs.sources.x(layer).index_select(0, source).double()
        heads = claims.owner[own] % card.heads
        for head in heads.unique().tolist():
            of_head = heads == head
            w_v_of_head = scaled(w_v[head // share][None])[0].double()
            w_o_of_head = scaled(w_o[head][None])[0].double()
            q[own][of_head] = x[of_head] @ w_v_of_head @ w_o_of_head
    return q.mul_(signs(claims.way))
