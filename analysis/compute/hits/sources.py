"""X: the vectors with which the sources enter a layer's heads."""

from dataclasses import dataclass
from typing import Protocol, Self

from torch import Tensor

from analysis.compute.weights import Weights


class Sources(Protocol):
    """Provides X. It is asked more than once per layer and has to give the same answer each time."""

    def x(self, layer: int) -> Tensor:  # [S, d] float32, on the device of the weights
        """The vectors of the query's sources, in their order, as the layer's heads read them."""


@dataclass(frozen=True)
class TokenSources:
    """X from the weights alone: the embedding in the first layer, the first MLP's output of it in all others."""

    first_layer: int
    embedded: Tensor  # [S, d]
    later: Tensor  # [S, d]

    @classmethod
    def of(cls, weights: Weights, tokens: Tensor, first_mlp: bool) -> Self:
        """Of some tokens [S]; without the first MLP all layers read the embedding."""
        embedded = weights.embed(tokens)
        later = weights.first_mlp()(embedded) if first_mlp else embedded
        return cls(weights.card.layers[0], embedded, later)

    def x(self, layer: int) -> Tensor:  # [S, d]
        """The sources' vectors for a layer."""
        return self.embedded if layer == self.first_layer else self.later
