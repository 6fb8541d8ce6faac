"""What the counter reads: the running model's X, W_V, W_O and U with all that stands around a head."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from analysis.compute.head_hooks import watch_values
from analysis.compute.hits import Inputs, Query
from analysis.compute.layered.activations import Activations, run
from analysis.compute.layered.logits import NormedUnembedding, outputs_to_logits
from analysis.compute.layered.packing import packed
from analysis.compute.weights import Weights
from analysis.models.card import ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.progress import Progress


def running_inputs(
    checkpoint: Checkpoint,
    device: torch.device,
    query: Query,
    prefix: Sequence[int],
    layers: Sequence[int],
    progress: Progress,
) -> Inputs:
    """Run the query's sources after a prefix up to the last of some layers, and read their heads there."""
    weights = Weights(checkpoint, device)
    prompts = packed(prefix, query.source_tokens)
    residuals = run(weights, prompts, watch_values, weights.card.width, layers, progress)
    heads = RunningHeads(weights)
    sources = RunningSources(residuals, device, has_bias=weights.value_bias(layers[0]) is not None)
    return Inputs.of(heads, query, sources, NormedUnembedding(weights, weights.final_gain()))


@dataclass(frozen=True)
class RunningSources:
    """X: what the value projections read."""

    residuals: Activations
    device: torch.device
    has_bias: bool

    def x(self, layer: int) -> Tensor:  # [S, d], or [S, d + 1]
        """The sources' vectors, followed by a 1 for the bias."""
        x = self.residuals.read(layer).to(self.device)
        return F.pad(x, (0, 1), value=1.0) if self.has_bias else x


@dataclass(frozen=True)
class RunningHeads:
    """W_V with its bias, and W_O with what a head's output goes through before the logits."""

    weights: Weights

    @property
    def card(self) -> ModelCard:
        """The model."""
        return self.weights.card

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.weights.device

    def values(self, layer: int) -> Tensor:  # [H_kv, d, d_head], or [H_kv, d + 1, d_head]
        """W_V of each value head, with the bias as its last row."""
        values = self.weights.values(layer)
        bias = self.weights.value_bias(layer)
        return values if bias is None else torch.cat([values, bias[:, None]], 1)

    def outputs(self, layer: int) -> Tensor:  # [H, d_head, d]
        """W_O of each query head, with what stands between it and the logits."""
        return outputs_to_logits(self.weights, layer)
