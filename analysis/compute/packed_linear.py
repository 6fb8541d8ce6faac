"""Linear layers of a frozen model on a CPU, with their weights laid out once as oneDNN reads them.

torch lays them out again at every call, which takes a good part of the time where inputs have few rows.
"""

import torch
from torch import Tensor, nn


class PackedLinear(nn.Module):
    """X W^T + b, like `nn.Linear`, in float32."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous())
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to the last dimension."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self.bias, "none", [], "")
        return result


def pack(module: nn.Module) -> None:
    """Replace all linear layers inside a module."""
    for name, child in list(module.named_children()):
        if type(child) is nn.Linear:
            setattr(module, name, PackedLinear(child.weight, child.bias))
        else:
            pack(child)


def can_pack(dtype: torch.dtype, device: torch.device) -> bool:
    """Whether this installation can, for a model of this type on this device."""
    return device.type == "cpu" and dtype == torch.float32 and torch.backends.mkldnn.is_available()
