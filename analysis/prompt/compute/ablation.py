"""Every head switched off in turn: its output, before the output projection, becomes zero."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from analysis.prompt.compute.model import PromptModel

_TOKENS = 2048  # that run at once


def each_head_off(model: PromptModel, ids: Sequence[int], token: int, positions: str) -> Tensor:  # [L, H]
    """The log-probability of a token after the prompt without each head, everywhere or at the last token alone."""
    card = model.checkpoint.card
    everything = torch.cartesian_prod(torch.arange(len(card.layers)), torch.arange(card.heads))  # [L · H, 2]
    found = []
    for variants in everything.split(max(1, _TOKENS // len(ids))):
        found.append(_without(model, torch.tensor(ids, device=model.device), variants, token, positions))
    return torch.cat(found).view(len(card.layers), card.heads)


def _without(model: PromptModel, ids: Tensor, variants: Tensor, token: int, positions: str) -> Tensor:  # [n]
    """Some variants, each a layer and a head, as rows of one batch."""
    hooks = []
    for index, layer in enumerate(model.layers):
        rows = (variants[:, 0] == index).nonzero().squeeze(1)
        if len(rows):
            output = layer.get_submodule(model.checkpoint.family.output)
            heads = variants[rows, 1]
            hooks.append(output.register_forward_pre_hook(_zero(rows, heads, model.checkpoint.card.heads, positions)))
    try:
        with torch.inference_mode():
            hidden = model.hidden(ids.expand(len(variants), -1))[:, -1]
            return model.log_probs(model.unembedded(hidden))[:, token]
    finally:
        for hook in hooks:
            hook.remove()


def _zero(rows: Tensor, heads: Tensor, count: int, positions: str) -> Any:
    """Put zero in the place of one head in each of some rows."""

    def hook(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        z = args[0].clone()
        by_head = z.view(*z.shape[:2], count, -1)
        if positions == "last":
            by_head[rows, -1, heads] = 0
        else:
            by_head[rows, :, heads] = 0
        return z, *args[1:]

    return hook
