"""A model that runs one prompt and keeps all that its heads did."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from analysis.compute.ablation import AblatedModel
from analysis.compute.head_hooks import watch_outputs, watch_pattern
from analysis.compute.loaded_model import attention_layers, module_prefix
from analysis.compute.untouched_run import Arguments
from analysis.compute.weights import Weights
from analysis.models.checkpoint import Checkpoint


@dataclass(frozen=True)
class Run:
    """What one prompt of T tokens left. All but the patterns is of the last token, whose successor is predicted."""

    patterns: list[Tensor]  # of each layer, [H, T, T]: A[query, key]
    outputs: list[Tensor]  # of each layer, [H, d_head]: the heads' outputs before the output projection
    entering: list[Tensor]  # of each layer, [d]: the residual stream before it
    leaving: list[Tensor]  # of each layer, [d]: and behind it
    final: Tensor  # [d] what enters the final norm
    logits: Tensor  # [V] before they are capped, where the family caps them


class PromptModel:
    """A whole model that says where it looks, and that runs with heads switched off."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device) -> None:
        self.checkpoint = checkpoint
        self.weights = Weights(checkpoint, device)
        self.device = device
        self.ablated = AblatedModel(checkpoint, device)
        self.module = self.ablated.module
        self.layers = attention_layers(self.module, checkpoint)
        prefix = module_prefix(self.module, checkpoint)
        self.final_norm: nn.Module = self.module.get_submodule(f"{prefix}{checkpoint.family.final_norm}")
        self.softcap: float | None = getattr(self.module.config, "final_logit_softcapping", None)

    def run(self, ids: Sequence[int]) -> Run:
        """One prompt."""
        card, family = self.checkpoint.card, self.checkpoint.family
        patterns: list[Tensor] = []
        outputs: list[Tensor] = []
        entering: list[Tensor] = []
        leaving: list[Tensor] = []
        final: list[Tensor] = []
        hooks = [self.final_norm.register_forward_pre_hook(lambda _, args: final.append(args[0][0, -1]))]
        for layer in self.layers:
            hooks.append(layer.register_forward_pre_hook(_entering(entering), with_kwargs=True))
            hooks.append(layer.register_forward_hook(_leaving(leaving)))
            hooks.append(watch_pattern(layer, family, lambda pattern: patterns.append(pattern[0])))
            hooks.append(watch_outputs(layer, family, lambda z: outputs.append(z[0, -1].view(card.heads, -1))))
        try:
            with torch.inference_mode(), self._eager():
                hidden = self.hidden(torch.tensor([list(ids)], device=self.device))
                logits = self.unembedded(hidden[0, -1])
        finally:
            for hook in hooks:
                hook.remove()
        return Run(patterns, outputs, entering, leaving, final[0], logits)

    @contextmanager
    def _eager(self) -> Iterator[None]:
        """With the attention that tells its pattern; otherwise the model has the one that is fastest."""
        fastest = self.module.config._attn_implementation
        self.module.set_attn_implementation("eager")
        try:
            yield
        finally:
            self.module.set_attn_implementation(fastest)

    def hidden(self, ids: Tensor) -> Tensor:  # [B, T] → [B, T, d]
        """What the unembedding reads."""
        hidden: Tensor = self.module.base_model(input_ids=ids, use_cache=False).last_hidden_state
        return hidden

    def unembedded(self, hidden: Tensor) -> Tensor:  # [..., d] → [..., V]
        """Logits, before they are capped."""
        logits: Tensor = self.module.get_output_embeddings()(hidden)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def log_probs(self, logits: Tensor) -> Tensor:  # [..., V]
        """Log-probabilities from logits that are not capped yet."""
        if self.softcap is not None:
            logits = torch.tanh(logits / self.softcap) * self.softcap
        return logits.log_softmax(-1)


def _entering(seen: list[Tensor]) -> Any:
    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: Arguments) -> None:
        hidden: Tensor = args[0] if args else kwargs["hidden_states"]
        seen.append(hidden[0, -1])

    return hook


def _leaving(seen: list[Tensor]) -> Any:
    def hook(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        hidden: Tensor = output if isinstance(output, Tensor) else output[0]
        seen.append(hidden[0, -1])

    return hook
