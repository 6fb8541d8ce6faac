"""The keys and values of a prefix, computed once for all that stands behind it."""

from typing import Any

import torch
from torch import Tensor


class PrefixCache:
    """To a model it looks like a cache: before the keys and values of every sequence stand those of a prefix.

    The very first sequence that the model runs begins with the prefix, and every layer's are taken from there.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._of_layer: dict[int, tuple[Tensor, Tensor]] = {}  # [1, H_kv, P, d_head] each

    def get_seq_length(self, *_: Any) -> int:
        """Nothing: sequences bring positions and a mask of their own."""
        return 0

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """A layer's keys and values [B, H_kv, T, d_head], behind those of the prefix [B, H_kv, P + T, d_head]."""
        if layer not in self._of_layer:
            self._of_layer[layer] = (self._prefix_of(keys), self._prefix_of(values))
        prefix_keys, prefix_values = self._of_layer[layer]
        return _behind(prefix_keys, keys), _behind(prefix_values, values)

    def _prefix_of(self, states: Tensor) -> Tensor:
        return states[:1, :, : self._length].clone()


def _behind(prefix: Tensor, states: Tensor) -> Tensor:
    return torch.cat([prefix.expand(len(states), -1, -1, -1), states], 2)
