"""Hits whose target outranks the source itself: what a head that merely copies its source does not have."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.compute.hits.deciding import AT_ONCE
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.near_ties import exact_vectors
from analysis.compute.hits.rounding import TIE, relative_error
from analysis.compute.hits.survivors import Survivors


def outranking(inputs: Inputs, own: Tensor, hits: Survivors, layers: Sequence[int]) -> Tensor:  # own [S, d] → [n] bool
    """For each true claim, whether the target's entry is larger than that of the source's own token.

    One more product per hit; what float32 cannot tell apart is computed again in float64, where a tie does not count as
    larger. In a claim about suppression all entries are negated, so larger means more suppressed.
    """
    outranks = torch.zeros(len(hits), dtype=torch.bool, device=hits.owner.device)
    u_norm = own.norm(dim=1).max()
    for some in torch.arange(len(hits), device=outranks.device).split(AT_ONCE):
        claims = hits.take(some)
        source = own.index_select(0, inputs.query.source_of[claims.pair]).double()
        q = claims.q.index_select(0, claims.index).double()
        difference = claims.value - torch.linalg.vecdot(q, source)
        scale = q.norm(dim=1) * u_norm
        outranks[some] = difference > 0
        near = (difference.abs() <= relative_error(q.shape[1]) * scale).nonzero().squeeze(1)
        if len(near):
            exact = exact_vectors(inputs, claims.take(near), layers)
            target = inputs.targets.index_select(0, inputs.query.target_of[claims.pair[near]]).double()
            difference = torch.linalg.vecdot(exact, target - source[near])
            outranks[some[near]] = difference > TIE * exact.norm(dim=1) * u_norm
    return outranks
