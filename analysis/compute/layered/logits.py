"""What stands between a head's output and the logits, but for positive factors, which do not change a ranking."""

from dataclasses import dataclass

from torch import Tensor

from analysis.compute.weights import Weights


def outputs_to_logits(weights: Weights, layer: int) -> Tensor:  # [H, d_head, d]
    """W_O of each query head, times the gain behind the attention, centred where the final norm centres."""
    outputs = weights.outputs(layer)
    gain = weights.attention_gain(layer)
    if gain is not None:
        outputs = outputs * gain
    if weights.checkpoint.family.norm_kind == "layer":
        outputs = outputs - outputs.mean(-1, keepdim=True)
    return outputs


@dataclass(frozen=True)
class NormedUnembedding:
    """U times the gain of the final norm."""

    weights: Weights
    gain: Tensor  # [d]

    @property
    def vocabulary(self) -> int:
        """The number of rows."""
        return self.weights.vocabulary

    def unembed(self, ids: Tensor) -> Tensor:  # [n] → [n, d]
        """The rows of some tokens."""
        return self.weights.unembed(ids).mul_(self.gain)

    def unembed_span(self, start: int, stop: int) -> Tensor:  # [stop - start, d]
        """Neighbouring rows."""
        return self.weights.unembed_span(start, stop).mul_(self.gain)
