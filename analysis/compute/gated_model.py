"""A model that runs with a gate on every head: its output, before the output projection, is multiplied by a number.

The model is transformers' own, its weights frozen. The family rows say which module is each layer's output projection;
a hook before it applies the gates. Several *variants* of the gates run in one batch on the same prompts. What no gate
can change, the embedding and the first layer's attention, is then computed once for all of them. Logits are computed
only where a target token is predicted.
"""

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis.data.prompts import Batch
from analysis.errors import UnknownFamily
from analysis.models.checkpoint import Checkpoint


class GatedModel:
    """Runs prompts under gates and tells how well their targets are predicted."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device | str = "cpu") -> None:
        self.card, self.device = checkpoint.card, torch.device(device)
        self.module = _load(checkpoint, self.device)
        self._softcap: float | None = getattr(self.module.config, "final_logit_softcapping", None)
        self._gates: Tensor | None = None  # [V, L, H] while a batch runs
        self._shared = False
        layers, outputs = _blocks(self.module, checkpoint), attention_outputs(self.module, checkpoint)
        for index, output in enumerate(outputs):
            output.register_forward_pre_hook(lambda _, args, at=index: (self._gated(args[0], at), *args[1:]))
        for layer in layers[1:]:
            layer.register_forward_pre_hook(self._flattened, with_kwargs=True)

    @property
    def device_name(self) -> str:
        """The device as provenance writes it."""
        return f"{self.device} ({torch.cuda.get_device_name(self.device)})" if self.device.type == "cuda" else "cpu"

    def log_probs(self, batch: Batch, gates: Tensor) -> Tensor:  # gates [V, L, H] → [V, n]
        """The log-probability of each of the batch's target tokens, for every variant of the gates."""
        parts, targets = zip(*batch.parts(), strict=True)
        found = torch.cat([self._log_probs(part, gates) for part in parts], 1)
        return found[:, torch.as_tensor(np.concatenate(targets).argsort(), device=self.device)]

    def _log_probs(self, batch: Batch, gates: Tensor) -> Tensor:
        logits = self._target_logits(batch, gates, shared=True)
        tokens = torch.as_tensor(batch.tokens, device=self.device).expand(len(gates), -1)
        return -F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="none").view(len(gates), -1)

    def own_log_probs(self, batch: Batch, gates: Tensor) -> Tensor:  # gates [B, L, H] → [n]
        """The same with gates of its own for every prompt."""
        logits = self._target_logits(batch, gates, shared=False)
        return -F.cross_entropy(logits, torch.as_tensor(batch.tokens, device=self.device), reduction="none")

    def untouched(self, batch: Batch) -> tuple[Tensor, Tensor]:  # [n], [n] bool
        """With all gates open: each target token's log-probability, and whether it is the likeliest of all."""
        gates = torch.ones(1, len(self.card.layers), self.card.heads, device=self.device)
        logits = self._target_logits(batch, gates, shared=True)[0]
        tokens = torch.as_tensor(batch.tokens, device=self.device)
        return -F.cross_entropy(logits, tokens, reduction="none"), logits.argmax(-1) == tokens

    def _target_logits(self, batch: Batch, gates: Tensor, shared: bool) -> Tensor:  # [V, n, vocabulary] or [n, …]
        ids = torch.as_tensor(batch.ids, device=self.device)
        rows, positions = (torch.as_tensor(part, device=self.device) for part in (batch.rows, batch.positions))
        self._gates, self._shared = gates, shared
        try:
            hidden = _rows(self.module.base_model(input_ids=ids, use_cache=False).last_hidden_state)
        finally:
            self._gates = None
        wanted = hidden.unflatten(0, (-1, len(ids)))[:, rows, positions] if shared else hidden[rows, positions]
        logits: Tensor = self.module.get_output_embeddings()(wanted)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return logits if self._softcap is None else torch.tanh(logits / self._softcap) * self._softcap

    def _gated(self, z: Tensor, index: int) -> Tensor:  # [rows, T, H · d_head]
        """A layer's head outputs times their gates; the first layer makes one copy for each variant."""
        if self._gates is None:
            return z
        gates = self._gates[:, index].to(z.dtype)  # [V, H]
        first = self._shared and index == 0
        apart = z.unflatten(-1, (self.card.heads, -1)).unflatten(0, (1 if first else len(gates), -1))
        product: Tensor = (apart * gates[:, None, None, :, None]).flatten(-2)
        return product if first else product.flatten(0, 1)

    def _flattened(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """From the second layer on the variants are rows of one batch, under the mask that all rows share."""
        if self._gates is None or not self._shared:
            return args, kwargs
        if args:
            return (_rows(args[0]), *(_one_row(part) for part in args[1:])), {n: _one_row(p) for n, p in kwargs.items()}
        kwargs = {name: _rows(part) if name == "hidden_states" else _one_row(part) for name, part in kwargs.items()}
        return args, kwargs


def _rows(hidden: Tensor) -> Tensor:
    """Hidden states [V, B, T, d] as rows [V · B, T, d]; they are so already unless the first layer made them."""
    return hidden.flatten(0, 1) if hidden.dim() == 4 else hidden


def _one_row(part: Any) -> Any:
    """Of a mask [B, 1, T, T] one row, for all are alike; anything else as it is."""
    return part[:1] if isinstance(part, Tensor) and part.dim() == 4 else part


def _load(checkpoint: Checkpoint, device: torch.device) -> Any:
    """The model as transformers builds it, frozen; from its safetensors only, and never with code of its own."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    dtype = torch.float32 if device.type == "cpu" else "auto"
    try:
        model = AutoModelForCausalLM.from_pretrained(
            checkpoint.folder, dtype=dtype, use_safetensors=True, local_files_only=True, trust_remote_code=False
        )
    except (ValueError, OSError, KeyError, RuntimeError) as error:
        raise UnknownFamily(
            f"transformers cannot run {checkpoint.card.id}: {str(error)[:200]}", "The function map may still work."
        ) from error
    return cast(Any, model.to(device).eval().requires_grad_(False))


def attention_outputs(model: nn.Module, checkpoint: Checkpoint) -> list[nn.Module]:
    """The output projection of each layer that has attention."""
    return [block.get_submodule(checkpoint.family.output) for block in _blocks(model, checkpoint)]


def _blocks(model: nn.Module, checkpoint: Checkpoint) -> list[nn.Module]:
    """The layers that have attention."""
    family, names = checkpoint.family, dict(model.named_modules())
    layers = [family.layer.format(layer=layer).rstrip(".") for layer in checkpoint.card.layers]
    for prefix in (*family.prefixes, "model.language_model."):
        if f"{prefix}{layers[0]}.{family.output}" in names:
            return [names[f"{prefix}{layer}"] for layer in layers]
    raise UnknownFamily(
        f"transformers keeps the layers of {checkpoint.card.id} elsewhere", "The function map may still work."
    )
