"""What every pass reads."""

from dataclasses import dataclass
from typing import Self

from torch import Tensor

from analysis.compute.weights import Weights
from analysis.methods.function.compute.query import Query
from analysis.methods.function.compute.sources import Sources
from analysis.methods.function.compute.unembedding import Unembedding


@dataclass(frozen=True)
class Inputs:
    """The heads, the query, X and U."""

    weights: Weights  # for W_V and W_O
    query: Query
    sources: Sources
    unembedding: Unembedding
    targets: Tensor  # [T, d] U's rows of the query's targets

    @classmethod
    def of(cls, weights: Weights, query: Query, sources: Sources, unembedding: Unembedding) -> Self:
        """With the query on the device of the weights."""
        return cls(weights, query.to(weights.device), sources, unembedding, unembedding.unembed(query.targets))
