"""A run of an untouched model, recorded layer by layer."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from analysis.compute.readout import Predicted
from analysis.data.prompts import Batch

Arguments = dict[str, Any]  # of a layer's call, by name

KEYS_AND_VALUES = ("past_key_values", "layer_past")  # how families call the argument of a layer that holds them


def cache_name(arguments: Iterable[str]) -> str:
    """How a layer calls the argument that holds keys and values."""
    return next(name for name in arguments if name in KEYS_AND_VALUES)


@dataclass(frozen=True)
class UntouchedRun:
    """What the untouched run of a batch leaves for its variants."""

    batch: Batch
    predicted: Predicted  # V = 1
    calls: list[Arguments] = field(repr=False)  # of each layer, `hidden_states` [B, T, d]
    keys: list[Tensor] = field(repr=False)  # of each layer, [B, H_kv, T, d_head]
    values: list[Tensor] = field(repr=False)
    outputs: list[Tensor] = field(repr=False)  # of each layer's heads, [B, T, H · d_head]

    @property
    def length(self) -> int:
        """The number of tokens, T."""
        return self.outputs[0].shape[1]


class Recorder:
    """Collects while the model runs; to a layer it looks like a cache of keys and values that is empty."""

    def __init__(self) -> None:
        self.calls: list[Arguments] = []
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """A layer's keys and values, given back as they are."""
        self.keys.append(keys)
        self.values.append(values)
        return keys, values


class KeysAndValues(Exception):  # not an error: what a layer was called for
    """Raised where a layer hands its keys and values to the cache, when nothing else is wanted of it."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        super().__init__()
        self.keys, self.values = keys, values


class Halt:
    """To a layer it looks like a cache; it ends the call."""

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """As far as this is computed."""
        raise KeysAndValues(keys, values)
