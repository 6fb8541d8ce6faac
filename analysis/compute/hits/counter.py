"""The three passes together: hits of every head, layer by layer."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from analysis.compute.hits.comparison import Compare
from analysis.compute.hits.counting import count_larger
from analysis.compute.hits.elimination import Elimination
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.near_ties import resolve
from analysis.compute.hits.survivors import Survivors
from analysis.progress import Progress, silent

GROUP_LAYERS = 32  # layers whose survivors are counted together; not all, so that a stopped run has something to keep
GROUP_BYTES = 400_000_000  # survivors that are held before they are counted

_DOUBTFUL = 4096  # claims resolved at once


class HitCounter:
    """A model's heads and a query, prepared once: counting one more layer repeats nothing."""

    def __init__(self, inputs: Inputs) -> None:
        torch.set_float32_matmul_precision("highest")  # the margins assume real float32 products
        self._inputs = inputs
        self._compare = Compare(inputs.heads.device)
        self._elimination = Elimination.of(self._inputs, self._compare)

    def count(self, layers: Sequence[int], progress: Progress = silent) -> Iterator[tuple[int, Tensor]]:
        """For each layer the hits of every relation: [relation, promoted | suppressed, head].

        Divided by the relation's kept pairs this is the relation score φ and the suppression score φ⁻, each from 0 (no
        pair) to 1 (every pair has its target among the k largest, or k smallest, of the vocabulary). Some layers are
        looked through, their survivors counted over the vocabulary, and so on with the next.
        """
        group_layers: list[int] = []
        group: list[Survivors] = []
        for done, layer in enumerate(layers, start=1):
            group.append(self._elimination.survivors(layer, len(group)))
            group_layers.append(layer)
            progress("looking through layers", done, len(layers))
            held = sum(survivors.bytes for survivors in group)
            if done == len(layers) or len(group) == GROUP_LAYERS or held > GROUP_BYTES:
                hits = self._hits(Survivors.join(group), group_layers, progress)
                for index, layer_of_group in enumerate(group_layers):
                    yield layer_of_group, self._inputs.query.by_relation(hits[:, index])
                group_layers, group = [], []

    def _hits(self, survivors: Survivors, layers: Sequence[int], progress: Progress) -> Tensor:  # [2, layer, H, P] bool
        """Which pairs each head of a group of layers promotes and suppresses."""
        survivors = count_larger(self._inputs.unembedding, self._compare, survivors, progress)
        holds = survivors.above + survivors.near < survivors.k  # whatever the near entries turn out to be
        doubtful = (~holds).nonzero().squeeze(1)
        if len(doubtful):
            for some in doubtful.split(_DOUBTFUL):  # few, unless a model has many equal tokens
                holds[some] = resolve(self._inputs, self._compare, survivors.take(some), layers)
        heads, pairs = self._inputs.heads.card.heads, len(self._inputs.query.k)
        hits = torch.zeros(2, len(layers) * heads, pairs, dtype=torch.bool)
        hits[survivors.way.cpu(), survivors.owner.cpu(), survivors.pair.cpu()] = holds.cpu()
        hits[survivors.tied.cpu().unbind(1)] = True
        return hits.view(2, len(layers), heads, pairs)
