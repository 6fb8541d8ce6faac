"""A model of transformers that holds the weights of one layer at a time.

The model is built without weights. Before a layer runs, its weights are read from the checkpoint; afterwards they are
let go. So a model larger than memory can be run, and every family's own code decides what a layer does. The embedding
has rows for the tokens that are needed only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from analysis.compute.head_hooks import LayerWatch, See
from analysis.compute.layered.prefix import PrefixCache
from analysis.compute.memory import give_back
from analysis.compute.weights import Weights
from analysis.errors import UnknownFamily

Seen = Callable[[int, Tensor], None]  # a layer, and what was seen there

_LARGE = 64 << 20  # bytes of a layer's weights, from which on it pays to give memory back between layers


class PromptBatch(Protocol):
    """B sequences of T tokens."""

    @property
    def ids(self) -> Tensor:  # [B, T]
        """The tokens."""

    @property
    def positions(self) -> Tensor:  # [B, T]
        """Where the model takes them to stand."""

    def mask(self) -> Tensor | None:  # [B, 1, T, P + T]
        """What each may attend to, if that is not up to the model."""


@dataclass(frozen=True)
class Texts:
    """Sequences of the same length that are run as they are: the model's own attention, local where it is."""

    ids: Tensor  # [B, T]

    @property
    def positions(self) -> Tensor:  # [B, T]
        """One after the other."""
        return torch.arange(self.ids.shape[1]).expand(self.ids.shape)

    def mask(self) -> None:
        """Up to the model."""


class _Enough(Exception):
    """Ends a run: the last layer that is needed has been seen."""


class LayeredModel:
    """Runs prompts and shows what is to be seen in each layer."""

    def __init__(self, weights: Weights, tokens: Tensor) -> None:
        self._weights = weights
        self._tokens = tokens  # [n] ascending: those that prompts may hold
        self._model = _empty_model(weights)
        self._prefix, self._layers = _layers(self._model, weights)
        self._room: dict[tuple[str, torch.Size], Tensor] = {}  # where one layer after the other has its numbers
        self._is_large = any(_size(module) >= _LARGE for module in self._layers.values())
        self._fill_around_layers()

    def run(
        self, prompts: PromptBatch, watch: LayerWatch, seen: Seen, last: int, prefix: PrefixCache | None = None
    ) -> None:
        """Run some prompts, behind a prefix, as far as the last layer that is needed; `watch` says where to look."""
        device = self._weights.device
        mask = prompts.mask()
        hooks = []
        for layer, module in self._layers.items():
            hooks.append(module.register_forward_pre_hook(self._loading(layer)))
            hooks.append(module.register_forward_hook(lambda module, args, output: _empty(module)))
            hooks.append(watch(module, self._weights.checkpoint.family, _showing(layer, seen, last)))
        try:
            with torch.inference_mode():
                self._model(
                    input_ids=torch.searchsorted(self._tokens, prompts.ids).to(device),
                    attention_mask=None if mask is None else mask.to(device),
                    position_ids=prompts.positions.to(device),
                    past_key_values=prefix,
                    use_cache=False,
                )
        except _Enough:
            _empty(self._layers[last])
        finally:
            for hook in hooks:
                hook.remove()

    def _loading(self, layer: int) -> Callable[..., None]:
        """Read a layer's weights before it runs."""

        def hook(module: nn.Module, args: Any) -> None:
            if self._is_large:  # beside small layers, getting the memory again would take a quarter of the time
                give_back()
            for name, parameter in list(module.named_parameters()):
                place = (name, parameter.shape)
                if place not in self._room:
                    self._room[place] = torch.empty(parameter.shape, device=self._weights.device)
                stored = self._weights.checkpoint.in_layer(layer, name)
                _put(module, name, self._weights.tensor(stored, out=self._room[place]))

        return hook

    def _fill_around_layers(self) -> None:
        """The embedding's rows that are needed, and the few tensors outside the layers."""
        checkpoint = self._weights.checkpoint
        embedding = f"{self._prefix}{checkpoint.family.embedding}"
        inside = tuple(f"{self._prefix}{checkpoint.family.layer.format(layer=layer)}" for layer in self._layers)
        for name, _ in list(self._model.named_parameters()):
            if name == f"{embedding}.weight":
                _put(self._model, name, self._weights.rows(checkpoint.embedding, self._tokens))
            elif not name.startswith(inside):
                stored = f"{checkpoint.prefix}{name.removeprefix(self._prefix)}"
                _put(self._model, name, self._weights.tensor(stored))
        self._model.get_submodule(embedding).padding_idx = None  # it was a row of the whole embedding


def _empty_model(weights: Weights) -> Any:
    """The base model as transformers builds it, without weights; never with code of its own."""
    from accelerate import init_empty_weights
    from transformers import AutoConfig, AutoModel
    from transformers.initialization import no_init_weights
    from transformers.utils import logging

    logging.set_verbosity_error()
    checkpoint = weights.checkpoint
    checkpoint.check_runnable()
    try:
        config = AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True, trust_remote_code=False)
        with no_init_weights(), init_empty_weights(include_buffers=False):
            model = AutoModel.from_config(config.get_text_config(), attn_implementation="eager", dtype=torch.float32)
    except (ValueError, OSError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        raise UnknownFamily(
            f"transformers cannot run {checkpoint.card.id}: {str(error)[:200]}", "The weights-only map may still work."
        ) from error
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, buffer.to(weights.device))
    return model.eval()


def _layers(model: nn.Module, weights: Weights) -> tuple[str, dict[int, nn.Module]]:
    """What stands before the layers' names in the base model, and the layers."""
    family, card = weights.checkpoint.family, weights.card
    modules = dict(model.named_modules())
    names = {layer: family.layer.format(layer=layer).rstrip(".") for layer in card.layers}
    for prefix in ("", "decoder."):
        if all(f"{prefix}{name}" in modules for name in names.values()):
            return prefix, {layer: modules[f"{prefix}{name}"] for layer, name in names.items()}
    raise UnknownFamily(
        f"the layers of {card.id} are not where transformers usually has them", "The weights-only map may still work."
    )


def _showing(layer: int, seen: Seen, last: int) -> See:
    """Show what is seen in a layer, and stop behind the last one that is needed."""

    def see(values: Tensor) -> None:
        seen(layer, values)
        if layer == last:
            raise _Enough

    return see


def _size(module: nn.Module) -> int:
    """The bytes of a module's numbers, once it has them."""
    return sum(parameter.numel() * parameter.element_size() for parameter in module.parameters())


def _put(module: nn.Module, name: str, tensor: Tensor) -> None:
    """Give a parameter its numbers."""
    *path, leaf = name.split(".")
    owner = module.get_submodule(".".join(path))
    owner.register_parameter(leaf, nn.Parameter(tensor, requires_grad=False))


def _empty(module: nn.Module) -> None:
    """Let go of a module's numbers."""
    for name, parameter in list(module.named_parameters()):
        _put(module, name, parameter.to("meta"))
