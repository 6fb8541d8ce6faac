"""What the counter reads: the heads' real outputs at the end of a prompt, W_O and U."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from analysis.compute.head_hooks import watch_outputs
from analysis.compute.hits import Inputs, Query
from analysis.compute.layered.activations import Activations, run
from analysis.compute.layered.logits import NormedUnembedding, outputs_to_logits
from analysis.compute.layered.packing import packed
from analysis.compute.weights import Weights
from analysis.models.card import ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.progress import Progress


def context_inputs(
    checkpoint: Checkpoint,
    device: torch.device,
    query: Query,
    prefix: Sequence[int],
    suffix: Sequence[int],
    layers: Sequence[int],
    progress: Progress,
) -> Inputs:
    """Run the query's sources between a prefix and a suffix; keep what the heads of some layers write at the end."""
    weights = Weights(checkpoint, device)
    card = weights.card
    prompts = packed(prefix, [(*source, *suffix) for source in query.source_tokens])
    outputs = run(weights, prompts, watch_outputs, card.heads * card.head_dim, layers, progress)
    return Inputs.of(
        OwnOutputs(weights),
        query,
        OutputSources(outputs, device),
        NormedUnembedding(weights, weights.final_gain()),
    )


@dataclass(frozen=True)
class OutputSources:
    """X: the heads' outputs side by side."""

    outputs: Activations
    device: torch.device

    def x(self, layer: int) -> Tensor:  # [S, H · d_head]
        """At the last token of every source's prompt."""
        return self.outputs.read(layer).to(self.device)


@dataclass(frozen=True)
class OwnOutputs:
    """Heads that share nothing: each reads its own columns of X."""

    weights: Weights

    @property
    def card(self) -> ModelCard:
        """The model, with as many value heads as query heads."""
        return replace(self.weights.card, kv_heads=self.weights.card.heads)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights.device

    def values(self, layer: int) -> Tensor:  # [H, H · d_head, d_head]
        """For each head the matrix that picks its columns."""
        card = self.weights.card
        every = torch.eye(card.heads * card.head_dim, device=self.device)
        return every.view(-1, card.heads, card.head_dim).transpose(0, 1).contiguous()

    def outputs(self, layer: int) -> Tensor:  # [H, d_head, d]
        """W_O of each query head, with what stands between it and the logits."""
        return outputs_to_logits(self.weights, layer)
