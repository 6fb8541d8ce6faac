"""The tensors of a checkpoint that the static methods read, a piece at a time, always as float32."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from analysis.errors import DamagedFile, DeviceError, UnknownFamily, UnsupportedDtype
from analysis.models.checkpoint import READABLE, Checkpoint


def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "gelu": F.gelu,
    "gelu_new": _gelu_tanh,
    "gelu_fast": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
}


def open_device(name: str) -> torch.device:
    """The device to compute on; `auto` takes a GPU when there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type not in {"cpu", "cuda"}:  # near ties are decided in float64, which Apple's GPUs do not have
            raise RuntimeError(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise DeviceError(f"{name!r} is not an available device", "Try --device cpu.") from error
    return device


def device_name(device: torch.device) -> str:
    """A device as provenance writes it."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)


@contextmanager
def memory_of(device: torch.device) -> Iterator[None]:
    """Turn running out of the device's memory into an error that a person can fix."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DeviceError(f"{device} ran out of memory", "Close other programs on it, or use --device cpu.") from error


class Weights:
    """Read access to E, U, the first MLP and the heads of one checkpoint.

    Each call maps the file, takes what it needs as float32 and lets go, so the process never holds more than what the
    caller keeps.
    """

    def __init__(self, checkpoint: Checkpoint, device: torch.device | str = "cpu") -> None:
        self.checkpoint = checkpoint
        self.card = checkpoint.card
        self.device = torch.device(device)

    @property
    def device_name(self) -> str:
        """The device as provenance writes it."""
        return device_name(self.device)

    def embed(self, ids: Tensor) -> Tensor:  # [n] → [n, d]
        """Rows of the embedding, scaled where the family scales them."""
        rows = self.rows(self.checkpoint.embedding, ids)
        if self.checkpoint.family.scale_embedding:
            rows = rows * self.card.width**0.5
        return rows

    def unembed(self, ids: Tensor) -> Tensor:  # [n] → [n, d]
        """Rows of the transposed unembedding: the direction that each token reads."""
        return self.rows(self.checkpoint.unembedding, ids)

    def unembed_span(self, start: int, stop: int) -> Tensor:  # [stop - start, d]
        """Neighbouring rows of the transposed unembedding."""
        name = self.checkpoint.unembedding
        return self._float(self._mapped(name)[start:stop], name)

    @property
    def vocabulary(self) -> int:
        """Rows of the unembedding; some models pad it beyond the tokenizer's size."""
        return self.checkpoint.info(self.checkpoint.unembedding).shape[0]

    def values(self, layer: int) -> Tensor:  # [H_kv, d, d_head]
        """W_V of each value head."""
        card, family = self.card, self.checkpoint.family
        weight = self._layer(layer, family.value)
        match family.value_layout:
            case "conv1d":  # [d, Q | K | V], transposed
                weight = weight[:, -card.heads * card.head_dim :].T
            case "interleaved":  # Q, K and V of the first head, then of the second …
                weight = weight.view(card.heads, 3, card.head_dim, card.width)[:, 2]
            case "stacked":  # [Q | K | V, d]
                weight = weight[-card.kv_heads * card.head_dim :]
        by_head = weight.reshape(card.kv_heads, card.head_dim, card.width)
        return by_head.transpose(1, 2).contiguous()

    def value_bias(self, layer: int) -> Tensor | None:  # [H_kv, d_head]
        """The bias of each value head, where the family has one."""
        card, family = self.card, self.checkpoint.family
        bias = self._optional(self.checkpoint.in_layer(layer, f"{family.value}.bias"))
        if bias is None:
            return None
        if family.value_layout == "interleaved":
            bias = bias.view(card.heads, 3, card.head_dim)[:, 2]
        elif family.value_layout in {"conv1d", "stacked"}:
            bias = bias[-card.kv_heads * card.head_dim :]
        return bias.reshape(card.kv_heads, card.head_dim)

    def outputs(self, layer: int) -> Tensor:  # [H, d_head, d]
        """W_O of each query head."""
        weight = self._layer(layer, self.checkpoint.family.output)
        if not self.checkpoint.family.conv1d:
            weight = weight.T
        return weight.reshape(self.card.heads, self.card.head_dim, self.card.width).contiguous()

    def attention_gain(self, layer: int) -> Tensor | None:  # [d]
        """The gain of the norm behind the attention, where the family has one."""
        family = self.checkpoint.family
        if family.attention_norm is None:
            return None
        return self._gain(self.checkpoint.in_layer(layer, f"{family.attention_norm}.weight"))

    def final_gain(self) -> Tensor:  # [d]
        """The gain of the norm before the unembedding."""
        return self._gain(f"{self.checkpoint.prefix}{self.checkpoint.family.final_norm}.weight")

    def _gain(self, name: str) -> Tensor:
        gain = self.tensor(name)
        return gain + 1 if self.checkpoint.family.norm_kind == "rms_plus_one" else gain

    def first_mlp(self) -> "FirstMlp":
        """The first block's MLP with the norm before it, biases included."""
        family = self.checkpoint.family
        if self.checkpoint.activation not in _ACTIVATIONS:
            raise UnknownFamily(
                f"{self.card.id} uses the activation {self.checkpoint.activation!r}, which is not supported yet",
                f"Supported activations: {', '.join(_ACTIVATIONS)}.",
            )
        layer = self.card.layers[0]
        gate = None if family.gate is None else self._linear(layer, family.gate)
        if gate is not None and family.gate == family.up:  # one fused tensor: the gate's rows, then those of up
            gate, up = gate.half(0), gate.half(1)
        else:
            up = self._linear(layer, family.up)
        norm = self.checkpoint.in_layer(layer, family.norm)
        return FirstMlp(
            norm_kind=family.norm_kind,
            norm_weight=self.tensor(f"{norm}.weight"),
            norm_bias=self._optional(f"{norm}.bias"),
            eps=self.checkpoint.eps,
            gate=gate,
            up=up,
            down=self._linear(layer, family.down),
            activation=_ACTIVATIONS[self.checkpoint.activation],
        )

    def _linear(self, layer: int, name: str) -> "Linear":
        weight = self._layer(layer, name)
        if self.checkpoint.family.conv1d:
            weight = weight.T
        bias = self._optional(self.checkpoint.in_layer(layer, f"{name}.bias"))
        return Linear(weight, bias)

    def _layer(self, layer: int, name: str) -> Tensor:
        return self.tensor(self.checkpoint.in_layer(layer, f"{name}.weight"))

    def _optional(self, name: str) -> Tensor | None:
        return self.tensor(name) if name in self.checkpoint.tensors else None

    def tensor(self, name: str, out: Tensor | None = None) -> Tensor:
        """A whole tensor by its full name; in memory that is there already, if it is given."""
        return self._float(self._mapped(name), name, out)

    def rows(self, name: str, ids: Tensor) -> Tensor:
        """Some rows of a tensor."""
        return self._float(self._mapped(name)[ids.cpu()], name)

    def _mapped(self, name: str) -> Tensor:
        """The tensor as it lies in the file, whose layout was checked on opening; pages are read when they are used."""
        info = self.checkpoint.info(name)
        if info.dtype not in READABLE:
            raise UnsupportedDtype(
                f"{name} is stored as {info.dtype}", f"Supported formats: {', '.join(READABLE.values())}."
            )
        try:
            file = torch.from_file(str(info.file), shared=False, size=info.stop, dtype=torch.uint8)
        except RuntimeError as error:
            raise DamagedFile(f"{info.file.name} cannot be read: {error}", "Download or convert it again.") from error
        data = file[info.start :]
        dtype: torch.dtype = getattr(torch, READABLE[info.dtype])
        if info.start % dtype.itemsize != 0:
            data = data.clone()  # a view of another type needs an aligned start
        return data.view(dtype).view(info.shape)

    def _float(self, tensor: Tensor, name: str, out: Tensor | None = None) -> Tensor:
        """A float32 copy on our device; a copy, so that the mapped file can be let go."""
        copied = tensor.to(self.device, torch.float32, copy=True) if out is None else out.copy_(tensor)
        if not copied.sum().isfinite():
            raise DamagedFile(f"{name} holds numbers that are not finite", "The weights are damaged or overflowed.")
        return copied


@dataclass(frozen=True)
class Linear:
    """An affine map."""

    weight: Tensor  # [out, in]
    bias: Tensor | None  # [out]

    def __call__(self, x: Tensor) -> Tensor:
        """X W^T + b."""
        return F.linear(x, self.weight, self.bias)

    def half(self, which: int) -> "Linear":
        """The upper or lower half of the rows of a fused tensor."""
        bias = None if self.bias is None else self.bias.chunk(2)[which]
        return Linear(self.weight.chunk(2)[which], bias)


@dataclass(frozen=True)
class FirstMlp:
    """x → MLP_0(norm_0(x)); the residual is not added."""

    norm_kind: str
    norm_weight: Tensor  # [d]
    norm_bias: Tensor | None  # [d]
    eps: float
    gate: Linear | None
    up: Linear
    down: Linear
    activation: Callable[[Tensor], Tensor]

    def __call__(self, x: Tensor) -> Tensor:  # [n, d] → [n, d]
        """What the MLP writes for each row."""
        x = self.normed(x)
        if self.gate is None:
            return self.down(self.activation(self.up(x)))
        return self.down(self.activation(self.gate(x)) * self.up(x))

    def normed(self, x: Tensor) -> Tensor:  # [n, d] → [n, d]
        """The norm before the MLP."""
        if self.norm_kind == "layer":
            return F.layer_norm(x, x.shape[-1:], self.norm_weight, self.norm_bias, self.eps)
        weight = self.norm_weight + 1 if self.norm_kind == "rms_plus_one" else self.norm_weight
        inverse_rms = torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        return x * inverse_rms * weight
