"""A model that runs with a gate on every head: its output, before the output projection, is multiplied by a number.

The model is transformers' own, its weights frozen. The family rows say which module is each layer's output projection;
a hook before it applies the gates. Several *variants* of the gates run in one batch on the same prompts. What no gate
can change, the embedding and the first layer's attention, is computed once for all of them:

    embedding, first layer's attention    [B, T, ·]        the prompts once
    first output projection, first MLP    [V, B, T, ·]     one copy per variant, made by `_Variants.branch`
    second layer and all after it         [V · B, T, ·]    the copies as rows of one batch, made by `_Variants.as_rows`

In between the variants need an axis of their own, so that the first layer's residual, which is still [B, T, d], is
added to each of them by broadcasting. Logits are computed only where a target token is predicted.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis.compute.loaded_model import attention_layers, attention_outputs, load_model
from analysis.compute.untouched_run import Arguments
from analysis.data.prompts import Batch
from analysis.models.checkpoint import Checkpoint


class GatedModel:
    """Runs prompts under gates and tells how well their targets are predicted."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device | str = "cpu") -> None:
        self.card = checkpoint.card
        self.device = torch.device(device)
        self.module = load_model(checkpoint, self.device)
        self._softcap: float | None = getattr(self.module.config, "final_logit_softcapping", None)
        self._variants: _Variants | None = None  # of the batch that is running
        self._add_hooks(attention_layers(self.module, checkpoint), attention_outputs(self.module, checkpoint))

    @property
    def device_name(self) -> str:
        """The device as provenance writes it."""
        return f"{self.device} ({torch.cuda.get_device_name(self.device)})" if self.device.type == "cuda" else "cpu"

    def log_probs(self, batch: Batch, gates: Tensor) -> Tensor:  # gates [V, L, H] → [V, n]
        """The log-probability of each of the batch's target tokens, for every variant of the gates."""
        log_probs = []
        targets = []
        for part, targets_of_part in batch.parts():
            log_probs.append(self._log_probs(part, _Variants.of_all_prompts(gates)))
            targets.append(targets_of_part)
        order = torch.as_tensor(np.concatenate(targets).argsort(), device=self.device)
        return torch.cat(log_probs, 1)[:, order]

    def own_log_probs(self, batch: Batch, gates: Tensor) -> Tensor:  # gates [B, L, H] → [n]
        """The same with gates of its own for every prompt."""
        return self._log_probs(batch, _Variants.of_each_prompt(gates))[0]

    def untouched(self, batch: Batch) -> tuple[Tensor, Tensor]:  # [n], [n] bool
        """With all gates open: each target token's log-probability, and whether it is the likeliest of all."""
        gates = torch.ones(1, len(self.card.layers), self.card.heads, device=self.device)
        logits = self._target_logits(batch, _Variants.of_all_prompts(gates))[0]  # [n, vocabulary]
        tokens = torch.as_tensor(batch.tokens, device=self.device)
        nll = F.cross_entropy(logits, tokens, reduction="none")
        return -nll, logits.argmax(-1) == tokens

    def _log_probs(self, batch: Batch, variants: "_Variants") -> Tensor:  # [V, n]
        logits = self._target_logits(batch, variants)
        tokens = torch.as_tensor(batch.tokens, device=self.device).expand(variants.count, -1)  # [V, n]
        nll = F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="none")
        return -nll.view(variants.count, -1)

    def _target_logits(self, batch: Batch, variants: "_Variants") -> Tensor:  # [V, n, vocabulary]
        """The logits at the positions where the batch's target tokens are predicted."""
        ids = torch.as_tensor(batch.ids, device=self.device)
        rows = torch.as_tensor(batch.rows, device=self.device)
        positions = torch.as_tensor(batch.positions, device=self.device)
        self._variants = variants
        try:
            hidden = self.module.base_model(input_ids=ids, use_cache=False).last_hidden_state
        finally:
            self._variants = None
        hidden = hidden.reshape(variants.count, *ids.shape, -1)  # [V, B, T, d], whether they were rows or not
        logits: Tensor = self.module.get_output_embeddings()(hidden[:, rows, positions])
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        if self._softcap is None:
            return logits
        return torch.tanh(logits / self._softcap) * self._softcap

    def _add_hooks(self, layers: list[nn.Module], outputs: list[nn.Module]) -> None:
        """Let the running batch's variants act on what enters the layers and their output projections."""
        for index, output in enumerate(outputs):
            output.register_forward_pre_hook(self._gate_hook(index))
        for index, layer in enumerate(layers[1:], start=1):
            layer.register_forward_pre_hook(self._layer_hook(layer, index), with_kwargs=True)

    def _gate_hook(self, index: int) -> Callable[..., Any]:
        """Apply the gates of a layer, given by its index, to what enters its output projection."""

        def hook(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
            if self._variants is None:
                return args
            z, *others = args  # z [rows, T, H · d_head], the heads' outputs side by side
            apply = self._variants.branch if index == 0 else self._variants.gate
            return apply(z, index, self.card.heads), *others

        return hook

    def _layer_hook(self, layer: nn.Module, index: int) -> Callable[..., Any]:
        """Prepare what enters a later layer, given by its index, for variants that are rows of one batch."""
        signature = inspect.signature(layer.forward)

        def hook(_: nn.Module, args: tuple[Any, ...], kwargs: Arguments) -> tuple[Any, Any]:
            if self._variants is None:
                return args, kwargs
            call = signature.bind(*args, **kwargs)  # by name: some families pass the mask by position, others do not
            if index == 1:
                call.arguments["hidden_states"] = self._variants.as_rows(call.arguments["hidden_states"])
            mask = call.arguments.get("attention_mask")
            if isinstance(mask, Tensor):
                call.arguments["attention_mask"] = mask[:1]  # made for B rows; all are alike, so one serves V · B
            return call.args, call.kwargs

        return hook


@dataclass(frozen=True)
class _Variants:
    """V variants of the gates that run on the same B prompts."""

    gates: Tensor  # [V, B, L, H], or [V, 1, L, H] where all prompts of a variant have the same gates

    @classmethod
    def of_all_prompts(cls, gates: Tensor) -> "_Variants":  # [V, L, H]
        """Every variant's gates act on all prompts."""
        return cls(gates[:, None])

    @classmethod
    def of_each_prompt(cls, gates: Tensor) -> "_Variants":  # [B, L, H]
        """A single variant, in which every prompt has gates of its own."""
        return cls(gates[None])

    @property
    def count(self) -> int:
        """The number of variants, V."""
        return len(self.gates)

    def branch(self, z: Tensor, layer: int, heads: int) -> Tensor:  # [B, T, H · d_head] → [V, B, T, H · d_head]
        """The heads' outputs on the prompts, which all variants still share, times each variant's gates."""
        return self._product(z[None], layer, heads)

    def gate(self, z: Tensor, layer: int, heads: int) -> Tensor:  # [V · B, T, H · d_head], and so is the result
        """The heads' outputs on the rows of all variants times their gates."""
        return self.as_rows(self._product(z.unflatten(0, (self.count, -1)), layer, heads))

    def as_rows(self, hidden: Tensor) -> Tensor:  # [V, B, T, ·] → [V · B, T, ·]
        """All variants' prompts as rows of one batch."""
        return hidden.flatten(0, 1)

    def _product(self, z: Tensor, layer: int, heads: int) -> Tensor:  # z [1 or V, B, T, H · d_head]
        gates = self.gates[:, :, layer].to(z.dtype)  # [V, B or 1, H]
        by_head = z.unflatten(-1, (heads, -1))  # [1 or V, B, T, H, d_head]
        gated: Tensor = by_head * gates[:, :, None, :, None]
        return gated.flatten(-2)
