"""How well target tokens are predicted, from what the unembedding reads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis.compute.packed_linear import PackedLinear, can_pack

LOGITS_AT_ONCE = 1 << 25  # numbers
IN_CACHE = 1 << 20  # … on a CPU, where larger ones would wait for memory
PIECE = 1_024  # tokens of the vocabulary at once on a CPU


@dataclass(frozen=True)
class Predicted:
    """How well n target tokens are predicted in V variants."""

    log_probs: Tensor  # [V, n]
    right: Tensor  # [V, n] bool: it is the likeliest token of all


class Readout:
    """Logits piece by piece: only their largest, the sum of their exponentials and the target's own are kept."""

    def __init__(self, unembedding: nn.Linear, softcap: float | None) -> None:
        weight, bias = unembedding.weight.detach(), unembedding.bias
        self._softcap = softcap
        on_cpu = weight.device.type == "cpu"
        width = PIECE if on_cpu else len(weight)
        self.at_once = max(1, (IN_CACHE if on_cpu else LOGITS_AT_ONCE) // width)  # rows
        self._pieces: list[tuple[int, Callable[[Tensor], Tensor]]] = []
        for start in range(0, len(weight), width):
            part = slice(start, start + width)
            self._pieces.append((start, _linear(weight[part], None if bias is None else bias.detach()[part])))

    def __call__(self, hidden: Tensor, tokens: Tensor) -> Predicted:  # [V, n, d] behind the final norm, [n]
        """Each target token's log-probability, and whether it is the likeliest."""
        wanted = tokens.expand(len(hidden), -1).flatten()  # [V · n]
        log_probs, right = [], []
        for rows, own in zip(hidden.flatten(0, 1).split(self.at_once), wanted.split(self.at_once), strict=True):
            logit, most, total = self._read(rows, own)
            log_probs.append(logit - most - total.log())
            right.append(logit >= most)
        shape = (len(hidden), -1)
        return Predicted(torch.cat(log_probs).view(shape), torch.cat(right).view(shape))

    def _read(self, rows: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # [r, d], [r] → [r] each
        """The tokens' own logits, the largest of all, and the sum of exp(logit − largest)."""
        own = rows.new_zeros(len(rows), dtype=torch.promote_types(rows.dtype, torch.float32))
        most, total = torch.full_like(own, -torch.inf), torch.zeros_like(own)
        for start, logits in self._logits(rows):
            at = tokens - start
            inside = (at >= 0) & (at < logits.shape[1])
            gathered = logits.gather(1, at.clamp(0, logits.shape[1] - 1)[:, None])[:, 0]
            own = torch.where(inside, gathered, own)
            larger = torch.maximum(most, logits.amax(1))
            total = total * (most - larger).exp() + logits.sub_(larger[:, None]).exp_().sum(1)
            most = larger
        return own, most, total

    def _logits(self, rows: Tensor) -> Iterator[tuple[int, Tensor]]:
        """The logits piece by piece, each with the number of its first token."""
        for start, linear in self._pieces:
            logits = linear(rows)
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
            if self._softcap is not None:
                logits = torch.tanh(logits / self._softcap) * self._softcap
            yield start, logits


def _linear(weight: Tensor, bias: Tensor | None) -> Callable[[Tensor], Tensor]:
    if can_pack(weight.dtype, weight.device):
        return PackedLinear(weight, bias)
    return lambda rows: F.linear(rows, weight, bias)
