"""Linear layers of a frozen model on a CPU, with their weights laid out once as oneDNN reads them.

torch lays them out again at every call, which takes a good part of the time where inputs have few rows. In a gated MLP
oneDNN also applies the activation and the product with the gate while it writes, instead of reading all of it again.
"""

from typing import Any

import torch
from torch import Tensor, nn

ACTIVATIONS = {  # classes of torch and transformers: what oneDNN calls it, and which formula
    "SiLU": ("swish", ""),
    "SiLUActivation": ("swish", ""),
    "GELUTanh": ("gelu", "tanh"),
}
GATED_MLP = ("gate_proj", "up_proj", "down_proj", "act_fn")  # as Llama, Qwen, Mistral and Gemma name its parts


class PackedLinear(nn.Module):
    """X W^T + b, like `nn.Linear`, in float32."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous())
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to the last dimension."""
        return self.activated(x, "none")

    def activated(self, x: Tensor, activation: str, formula: str = "") -> Tensor:
        """The same with an activation."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self.bias, activation, [], formula)
        return result

    def times(self, x: Tensor, factor: Tensor) -> Tensor:
        """The same, times something of its size."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise.binary(x, factor, self._weight, self.bias, "mul")
        return result


class PackedGatedMlp(nn.Module):
    """down(activation(gate x) · (up x))."""

    def __init__(self, mlp: nn.Module) -> None:
        super().__init__()
        parts: list[Any] = [mlp.get_submodule(name) for name in GATED_MLP[:3]]
        self.gate, self.up, self.down = (PackedLinear(part.weight, part.bias) for part in parts)
        self._activation = ACTIVATIONS[type(mlp.act_fn).__name__]

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to the last dimension."""
        gate = self.gate.activated(x, *self._activation)
        product: Tensor = self.down(self.up.times(x, gate))
        return product


def pack(module: nn.Module) -> None:
    """Replace all gated MLPs and linear layers inside a module."""
    for name, child in list(module.named_children()):
        if _is_gated_mlp(child):
            setattr(module, name, PackedGatedMlp(child))
        elif type(child) is nn.Linear:
            setattr(module, name, PackedLinear(child.weight, child.bias))
        else:
            pack(child)


def _is_gated_mlp(module: nn.Module) -> bool:
    """Whether a module is one, with an activation that oneDNN has, and nothing else."""
    names = [name for name, _ in module.named_children()]
    return sorted(names) == sorted(GATED_MLP) and type(module.act_fn).__name__ in ACTIVATIONS


def can_pack(dtype: torch.dtype, device: torch.device) -> bool:
    """Whether this installation can, for a model of this type on this device."""
    return device.type == "cpu" and dtype == torch.float32 and torch.backends.mkldnn.is_available()
