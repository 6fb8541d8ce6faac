"""U: the direction that each token of the vocabulary reads, one row per token."""

from collections.abc import Iterator
from typing import Protocol

from torch import Tensor

TILE = 4096  # rows of U that are multiplied at once


class Unembedding(Protocol):
    """Provides rows of U, as float32 on the device of the weights. `Weights` is one: the model's own."""

    @property
    def vocabulary(self) -> int:
        """The number of rows."""

    def unembed(self, ids: Tensor) -> Tensor:  # [n] → [n, d]
        """The rows of some tokens."""

    def unembed_span(self, start: int, stop: int) -> Tensor:  # [stop - start, d]
        """Neighbouring rows."""


def tile_count(unembedding: Unembedding) -> int:
    """How many tiles U has."""
    return -(-unembedding.vocabulary // TILE)


def tiles(unembedding: Unembedding) -> Iterator[Tensor]:  # each [≤ TILE, d]
    """All rows of U, a few thousand at a time.

    In their own order: tokenizers number tokens from common to rare, and common tokens decide most pairs.
    """
    for number in range(tile_count(unembedding)):
        yield tile_of(unembedding, number)


def tile_of(unembedding: Unembedding, number: int) -> Tensor:  # [≤ TILE, d]
    """One of them."""
    start = number * TILE
    return unembedding.unembed_span(start, min(start + TILE, unembedding.vocabulary))
