"""What every pass reads."""

from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor

from analysis.compute.hits.query import Query
from analysis.compute.hits.unembedding import Unembedding
from analysis.models.card import ModelCard


class Heads(Protocol):
    """Provides W_V and W_O, as float32 on its device. `Weights` is one: those of the checkpoint."""

    @property
    def card(self) -> ModelCard:
        """The model."""

    @property
    def device(self) -> torch.device:
        """Where everything is computed."""

    def values(self, layer: int) -> Tensor:  # [H_kv, ·, d_head]
        """W_V of each value head; as many rows as X has columns."""

    def outputs(self, layer: int) -> Tensor:  # [H, d_head, d]
        """W_O of each query head."""


class Sources(Protocol):
    """Provides X. It is asked more than once per layer and has to give the same answer each time."""

    def x(self, layer: int) -> Tensor:  # [S, d] float32, on the device of the heads
        """The vectors of the query's sources, in their order, as the layer's heads read them."""


@dataclass(frozen=True)
class Inputs:
    """The heads, the query, X and U."""

    heads: Heads
    query: Query
    sources: Sources
    unembedding: Unembedding
    targets: Tensor  # [T, d] U's rows of the query's targets

    @classmethod
    def of(cls, heads: Heads, query: Query, sources: Sources, unembedding: Unembedding) -> Self:
        """With the query on the device of the heads."""
        return cls(heads, query.to(heads.device), sources, unembedding, unembedding.unembed(query.targets))
