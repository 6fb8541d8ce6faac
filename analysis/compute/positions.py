"""Calls of a layer with other positions, masks, keys and values than those that were recorded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from analysis.compute.untouched_run import Arguments

Replacement = Callable[[Tensor], None]


def at_positions(call: Arguments, positions: Tensor) -> Arguments:  # [rows, n]
    """A layer's call with these positions instead of all."""
    arguments = dict(call)
    if isinstance(call.get("position_ids"), Tensor):
        arguments["position_ids"] = positions
    if call.get("position_embeddings") is not None:
        rotations = [rotation[0][positions] for rotation in call["position_embeddings"]]  # [1 or B, T, d], all alike
        arguments["position_embeddings"] = tuple(rotations)
    return arguments


def seen_from(mask: Tensor | None, positions: Tensor, length: int) -> Tensor:  # [rows, n] → [rows, n, T] bool
    """What each position sees of its prompt; the mask of an untouched run is the same for all prompts."""
    allowed = torch.ones(length, length, dtype=torch.bool, device=positions.device).tril()
    if mask is not None:
        visible = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
        allowed = allowed & visible[0, 0, :, :length]
    return allowed[positions]


def as_mask(seen: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where something is seen; else very small."""
    zero = torch.zeros((), dtype=dtype, device=seen.device)
    return torch.where(seen, zero, torch.finfo(dtype).min)


@dataclass(frozen=True)
class GivenCache:
    """To a layer it looks like a cache; it holds the keys and values of all positions, those of the call among them."""

    keys: Tensor  # [V · B, H_kv, T, d_head]
    values: Tensor

    def update(self, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """What is there already."""
        return self.keys, self.values
