"""Hooks at the places of a layer that say what its heads do, whatever the family calls them."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from analysis.models.families import Family

See = Callable[[Tensor], None]
LayerWatch = Callable[[nn.Module, Family, See], RemovableHandle]  # of a layer


def watch_values(layer: nn.Module, family: Family, see: See) -> RemovableHandle:
    """What enters the value projection [B, T, d]."""

    def hook(module: nn.Module, args: tuple[Any, ...]) -> None:
        see(args[0])

    return layer.get_submodule(family.value).register_forward_pre_hook(hook)


def watch_outputs(layer: nn.Module, family: Family, see: See) -> RemovableHandle:
    """The heads' outputs side by side, before the output projection [B, T, H · d_head]."""

    def hook(module: nn.Module, args: tuple[Any, ...]) -> None:
        see(args[0].flatten(2))  # some families keep an axis of heads

    return layer.get_submodule(family.output).register_forward_pre_hook(hook)


def watch_pattern(layer: nn.Module, family: Family, see: See) -> RemovableHandle:
    """The attention pattern [B, H, query, key] of a model that runs with eager attention."""

    def hook(module: nn.Module, args: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        see(output[1])

    attention = family.output.rpartition(".")[0]
    return layer.get_submodule(attention).register_forward_hook(hook)
