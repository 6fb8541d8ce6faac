"""The published way to fit gates, ported plainly: one fit at a time, every position's logits, gates in hooks.

Weights are frozen here as there; so the comparison is about how the same update is computed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from analysis.data.prompts import Encoded


def padded(items: Sequence[Encoded]) -> dict[str, Tensor]:
    """Token ids, attention mask and labels, as a tokenizer with padding gives them."""
    length = max(len(item.ids) for item in items)
    ids, mask = torch.zeros(len(items), length, dtype=torch.long), torch.zeros(len(items), length, dtype=torch.long)
    labels = torch.full((len(items), length), -100)
    for row, item in enumerate(items):
        tokens = torch.tensor(item.ids)
        ids[row, : len(tokens)], mask[row, : len(tokens)] = tokens, 1
        labels[row, len(tokens) - item.targets : len(tokens)] = tokens[-item.targets :]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def hooked(model: Any, outputs: Sequence[Any], logits: Tensor) -> Callable[[], None]:
    """Multiply each head's output by its gate, before the output projection; returns how to undo it."""
    heads = logits.shape[1]

    def hook(layer: int) -> Callable[..., Any]:
        def gate(_: Any, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            z = args[0]
            gates = torch.sigmoid(logits[layer]).repeat_interleave(z.shape[-1] // heads)
            return (z * gates, *args[1:])

        return gate

    handles = [module.register_forward_pre_hook(hook(layer)) for layer, module in enumerate(outputs)]
    return lambda: [handle.remove() for handle in handles] and None


def published_update(
    model: Any, outputs: Sequence[Any], items: Sequence[Encoded], logits: Tensor, push: float
) -> tuple[float, Tensor]:
    """The NLL of a batch under one set of gates, and the gradient of the whole loss by their logits."""
    batch = padded(items)
    with torch.enable_grad():
        free = logits.detach().clone().requires_grad_()
        undo = hooked(model, outputs, free)
        found = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], use_cache=False).logits
        undo()
        nll = F.cross_entropy(found[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=-100)
        loss = nll - push * free.clamp(-4, 4).mean()
        loss.backward()
    assert free.grad is not None
    return float(nll), free.grad
