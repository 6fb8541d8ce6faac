"""Prompts as a model reads them: token ids, and where each target token is predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from analysis.data.tasks import Item
from analysis.models.vocabulary import Vocabulary

Ints = np.ndarray[Any, np.dtype[np.int64]]
WORTH = 0.9  # two passes for at most this share of the tokens


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
    lengths: Ints  # [B] tokens of each prompt with its target

    @classmethod
    def of(cls, items: Sequence[Encoded]) -> "Batch":
        """All items in one batch."""
        ids = np.zeros((len(items), max(len(item.ids) for item in items)), np.int64)
        where = []
        for row, item in enumerate(items):
            ids[row, : len(item.ids)] = item.ids
            where += [(row, position - 1) for position in range(len(item.ids) - item.targets, len(item.ids))]
        rows, positions = np.array(where, np.int64).T
        lengths = np.array([len(item.ids) for item in items], np.int64)
        return cls(ids, rows, positions, ids[rows, positions + 1], lengths)

    def parts(self) -> list[tuple["Batch", Ints]]:
        """The batch as one, or short prompts apart from long ones where that spares filling; with their targets."""
        order = np.argsort(self.lengths, kind="stable")
        ordered, count = self.lengths[order], len(order)
        tokens = [n * ordered[n - 1] + (count - n) * ordered[-1] for n in range(1, count + 1)]
        cut = int(np.argmin(tokens)) + 1
        if cut == count or tokens[cut - 1] > WORTH * tokens[-1]:
            return [(self, np.arange(len(self.tokens)))]
        return [self._only(order[:cut]), self._only(order[cut:])]

    def _only(self, chosen: Ints) -> tuple["Batch", Ints]:
        targets = np.flatnonzero(np.isin(self.rows, chosen))
        place = np.zeros(len(self.lengths), np.int64)
        place[chosen] = np.arange(len(chosen))
        lengths = self.lengths[chosen]
        ids = self.ids[chosen, : lengths.max()]
        return Batch(ids, place[self.rows[targets]], self.positions[targets], self.tokens[targets], lengths), targets


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


def within(items: Sequence[Encoded], tokens: int) -> Iterator[Batch]:
    """All items in their order, as many in a batch as have room in so many tokens, at least one."""
    group: list[Encoded] = []
    for item in items:
        longest = max(len(other.ids) for other in (*group, item))
        if group and longest * (len(group) + 1) > tokens:
            yield Batch.of(group)
            group = []
        group.append(item)
    if group:
        yield Batch.of(group)


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
