"""X from the weights alone: what a token is to each layer before any model runs."""

from dataclasses import dataclass
from typing import Self

from torch import Tensor

from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.query import Query
from analysis.compute.weights import Weights


def weights_inputs(weights: Weights, query: Query, first_mlp: bool = True) -> Inputs:
    """The checkpoint's heads, X from the weights alone, the model's U."""
    return Inputs.of(weights, query, TokenSources.of(weights, query.sources, first_mlp), weights)


@dataclass(frozen=True)
class TokenSources:
    """X from the weights alone: the embedding in the first layer, the first MLP's output of it in all others."""

    first_layer: int
    embedded: Tensor  # [S, d]
    later: Tensor  # [S, d]

    @classmethod
    def of(cls, weights: Weights, tokens: Tensor, first_mlp: bool) -> Self:
        """X of some tokens [S]; without the first MLP all layers read the embedding."""
        embedded = weights.embed(tokens)
        later = weights.first_mlp()(embedded) if first_mlp else embedded
        return cls(weights.card.layers[0], embedded, later)

    def x(self, layer: int) -> Tensor:  # [S, d]
        """The sources' vectors for a layer."""
        return self.embedded if layer == self.first_layer else self.later
