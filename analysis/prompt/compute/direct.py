"""Direct effects: what each part of a model adds, by itself, to the logit of a token.

The residual stream that enters the final norm is a sum: the embedding, every head's output through W_O, the biases of
the output projections, and what each MLP adds. With the norm's scale as it is in this run, the norm and U are linear,
so the logit is a sum over the same parts, exactly:

    effect(part) = part · diag(g_final) · (U_token − mean over the vocabulary of U) / scale

Where the final norm is a LayerNorm, the part is centred first; where a norm stands behind the attention, a head's
output goes through its gain and its scale in this run, too. A logit says something only beside others, so the mean
logit of the vocabulary is taken off: adding the same to all logits is no effect. Logits are those before capping.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.prompt.compute.model import PromptModel, Run


@dataclass(frozen=True)
class DirectEffects:
    """The sum of all is the token's logit minus the mean logit."""

    heads: Tensor  # [L, H]
    mlps: Tensor  # [L]
    attention_biases: Tensor  # [L]
    embedding: float  # what enters the first layer
    biases: float  # of the final norm and the unembedding

    def total(self) -> float:
        """Their sum."""
        parts = self.heads.sum() + self.mlps.sum() + self.attention_biases.sum()
        return float(parts) + self.embedding + self.biases


def direct_effects(model: PromptModel, run: Run, token: int) -> DirectEffects:
    """The direct effect of every part on a token's logit after the prompt."""
    read = _LinearReadout.of(model, run, token)
    heads, mlps, attention_biases = [], [], []
    for index in range(len(model.layers)):
        written, bias = _attention(model, run, index)
        added = run.leaving[index].double() - run.entering[index].double()
        heads.append(read(written))
        attention_biases.append(read(bias))
        mlps.append(read(added - written.sum(0) - bias))
    return DirectEffects(
        heads=torch.stack(heads),
        mlps=torch.stack(mlps),
        attention_biases=torch.stack(attention_biases),
        embedding=float(read(run.entering[0].double())),
        biases=read.constant,
    )


@dataclass(frozen=True)
class _LinearReadout:
    """The linear map from a part of the residual stream to the logit."""

    direction: Tensor  # [d]
    constant: float

    @classmethod
    def of(cls, model: PromptModel, run: Run, token: int) -> "_LinearReadout":
        unembedding = model.module.get_output_embeddings()
        u = unembedding.weight[token].double() - unembedding.weight.mean(0, dtype=torch.float64)
        direction = u * model.weights.final_gain().double()
        final = run.final.double()
        if model.checkpoint.family.norm_kind == "layer":
            direction = direction - direction.mean()
            final = final - final.mean()
        constant = 0.0
        if getattr(model.final_norm, "bias", None) is not None:
            constant += float(model.final_norm.bias.double() @ u)
        if unembedding.bias is not None:
            constant += float(unembedding.bias[token].double() - unembedding.bias.double().mean())
        return cls(direction / _scale(final, model.checkpoint.eps), constant)

    def __call__(self, part: Tensor) -> Tensor:  # [..., d] → [...]
        return part @ self.direction


def _attention(model: PromptModel, run: Run, index: int) -> tuple[Tensor, Tensor]:  # [H, d], [d]
    """What each head of a layer adds to the residual stream, and what the bias of the output projection adds."""
    family, layer = model.checkpoint.family, model.checkpoint.card.layers[index]
    written = torch.einsum("he,hed->hd", run.outputs[index].double(), model.weights.outputs(layer).double())
    own = getattr(model.layers[index].get_submodule(family.output), "bias", None)
    bias = torch.zeros_like(written[0]) if own is None else own.double()
    gain = model.weights.attention_gain(layer)
    if gain is None:
        return written, bias
    factor = gain.double() / _scale(written.sum(0) + bias, model.checkpoint.eps)
    return written * factor, bias * factor


def _scale(x: Tensor, eps: float) -> Tensor:
    """What a norm divides by."""
    return (x.square().mean() + eps).sqrt()
