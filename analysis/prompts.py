"""Prompts as a model reads them: token ids, and where each target token is predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from analysis.tasks import Item
from analysis.tokens import Vocabulary

Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Encoded:
    """One item: its tokens, the last `targets` of which are to be predicted."""

    ids: tuple[int, ...]
    targets: int


@dataclass(frozen=True)
class Batch:
    """Prompts side by side, filled up on the right: causal attention never looks there."""

    ids: Ints  # [B, T]
    rows: Ints  # [n] the prompt of each target token
    positions: Ints  # [n] where it is predicted
    tokens: Ints  # [n] the token itself

    @classmethod
    def of(cls, items: Sequence[Encoded]) -> "Batch":
        """All items in one batch."""
        ids = np.zeros((len(items), max(len(item.ids) for item in items)), np.int64)
        where = []
        for row, item in enumerate(items):
            ids[row, : len(item.ids)] = item.ids
            where += [(row, position - 1) for position in range(len(item.ids) - item.targets, len(item.ids))]
        rows, positions = np.array(where, np.int64).T
        return cls(ids, rows, positions, ids[rows, positions + 1])


def encode(items: Sequence[Item], vocabulary: Vocabulary, size: int) -> list[Encoded | None]:
    """Each item's tokens; None where prompt and target share a token, or the model has no such token."""
    texts = [item.prompt + item.target for item in items]
    encoded = []
    for item, tokens in zip(items, vocabulary.encoded(texts), strict=True):
        begins = len(item.prompt)
        targets = sum(start >= begins for start, _ in tokens.spans)
        shared = any(start < begins < end for start, end in tokens.spans)
        usable = targets and targets < len(tokens.ids) and not shared and max(tokens.ids) < size
        encoded.append(Encoded(tokens.ids, targets) if usable else None)
    return encoded


def batches(items: Sequence[Encoded], size: int, start: int = 0) -> Iterator[Batch]:
    """Endless batches in a fixed random order, from the given one on."""
    for number in count(start):
        yield Batch.of([items[at] for at in batch_order(len(items), size, number)])


def batch_order(items: int, size: int, number: int) -> list[int]:
    """Which items are in a batch: in a random order that is always the same, none twice before all came once."""
    places = range(number * size, (number + 1) * size)
    return [int(_turn(place // items, items)[place % items]) for place in places]


@lru_cache(maxsize=4)
def _turn(turn: int, items: int) -> Ints:
    return np.random.default_rng([20250513, turn]).permutation(items)
