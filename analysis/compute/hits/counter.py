"""The three passes together: hits of every head and what they are compared with, layer by layer."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from analysis.compute.hits.comparison import Compare
from analysis.compute.hits.controls import Controls
from analysis.compute.hits.counts import HitCounts
from analysis.compute.hits.deciding import true_claims
from analysis.compute.hits.elimination import Elimination
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.outranking import outranking
from analysis.compute.hits.survivors import Survivors
from analysis.progress import Progress, silent

GROUP_LAYERS = 32  # layers whose survivors are counted together; not all, so that a stopped run has something to keep
GROUP_BYTES = 400_000_000  # survivors that are held before they are counted


class HitCounter:
    """A model's heads and a query, prepared once: counting one more layer repeats nothing."""

    def __init__(self, inputs: Inputs, controls: bool = True) -> None:
        torch.set_float32_matmul_precision("highest")  # the margins assume real float32 products
        self._inputs = inputs
        self._compare = Compare(inputs.heads.device)
        self._elimination = Elimination.of(self._inputs, self._compare)
        self._controls = Controls.of(self._elimination) if controls else None  # without, hits are all that is counted

    def count(self, layers: Sequence[int], progress: Progress = silent) -> Iterator[tuple[int, HitCounts]]:
        """Each layer with its numbers: some are looked through, their survivors counted, and so on with the next."""
        group_layers: list[int] = []
        group: list[Survivors] = []
        for done, layer in enumerate(layers, start=1):
            group.append(self._elimination.survivors(layer, len(group)))
            group_layers.append(layer)
            progress("looking through layers", done, len(layers))
            held = sum(survivors.bytes for survivors in group)
            if done == len(layers) or len(group) == GROUP_LAYERS or held > GROUP_BYTES:
                yield from self._counted(Survivors.join(group), group_layers, progress)
                group_layers, group = [], []

    def _counted(
        self, survivors: Survivors, layers: Sequence[int], progress: Progress
    ) -> Iterator[tuple[int, HitCounts]]:
        """The numbers of a group of layers."""
        true = true_claims(self._inputs, self._compare, survivors, layers, progress)
        query = self._inputs.query
        hits = query.by_relation(self._marked(true, len(layers)))  # [R, 2, L · H]
        beyond, copied, control = self._compared(true, hits, layers)
        heads = self._inputs.heads.card.heads
        for position, layer in enumerate(layers):
            own = slice(position * heads, (position + 1) * heads)
            yield layer, HitCounts(hits[..., own], beyond[..., own], copied[..., own], control[..., own])

    def _compared(self, true: Survivors, hits: Tensor, layers: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """What the hits [R, 2, L · H] are worth, in the same shape."""
        if self._controls is None:
            unknown = torch.full(hits.shape, torch.nan, dtype=torch.float64)
            return unknown, unknown, unknown
        outranks = outranking(self._inputs, self._controls.source_rows(), true, layers)
        chosen = true.take(outranks.nonzero().squeeze(1)).without_tied()
        beyond = self._inputs.query.by_relation(self._marked(chosen, len(layers))) / hits  # NaN without hits
        beyond[self._controls.pairs.copying] = torch.nan
        return beyond, *self._controls.measured(hits, layers)

    def _marked(self, claims: Survivors, layers: int) -> Tensor:  # [2, L · H, P] bool
        """Which pairs each head of a group of layers promotes and suppresses."""
        heads, pairs = self._inputs.heads.card.heads, len(self._inputs.query.k)
        marked = torch.zeros(2, layers * heads, pairs, dtype=torch.bool)
        marked[claims.way.cpu(), claims.owner.cpu(), claims.pair.cpu()] = True
        marked[claims.tied.cpu().unbind(1)] = True
        return marked
