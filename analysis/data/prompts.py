"""Prompts as a model reads them: token ids, and where each target token is predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count as count_from
from typing import Any

import numpy as np

from analysis.data.tasks import Item
from analysis.models.vocabulary import Vocabulary

Ints = np.ndarray[Any, np.dtype[np.int64]]
WORTH = 0.9  # a batch is split only if that leaves at most this share of its tokens


@dataclass(frozen=True)
class Encoded:
    """One item: its tokens, the last `targets` of which are to be predicted."""

    ids: tuple[int, ...]
    targets: int


@dataclass(frozen=True)
class Batch:
    """Prompts side by side, padded on the right: causal attention never looks there."""

    ids: Ints  # [B, T]
    rows: Ints  # [n] the prompt of each target token
    positions: Ints  # [n] where it is predicted
    tokens: Ints  # [n] the token itself
    lengths: Ints  # [B] tokens of each prompt with its target

    @classmethod
    def of(cls, items: Sequence[Encoded]) -> "Batch":
        """All items in one batch."""
        lengths = np.array([len(item.ids) for item in items], np.int64)
        ids = np.zeros((len(items), lengths.max()), np.int64)
        where: list[tuple[int, int]] = []
        for row, item in enumerate(items):
            length = len(item.ids)
            ids[row, :length] = item.ids
            for position in range(length - item.targets, length):
                where.append((row, position - 1))  # a token is predicted one position before its own
        rows, positions = np.array(where, np.int64).T
        tokens = ids[rows, positions + 1]
        return cls(ids, rows, positions, tokens, lengths)

    def parts(self) -> list[tuple["Batch", Ints]]:
        """The whole batch, or short prompts apart from long ones where that spares padding; each with its targets."""
        order = np.argsort(self.lengths, kind="stable")
        ordered = self.lengths[order]
        count, longest = len(order), ordered[-1]
        tokens = []  # of both parts together when the n shortest prompts are one part
        for n in range(1, count + 1):
            short = n * ordered[n - 1]
            long = (count - n) * longest
            tokens.append(short + long)
        cut = int(np.argmin(tokens)) + 1
        if cut == count or tokens[cut - 1] > WORTH * tokens[-1]:
            return [(self, np.arange(len(self.tokens)))]
        return [self._only(order[:cut]), self._only(order[cut:])]

    def _only(self, chosen: Ints) -> tuple["Batch", Ints]:
        """The chosen prompts as a batch of their own, and which of this batch's targets are theirs."""
        targets = np.flatnonzero(np.isin(self.rows, chosen))
        new_row = np.zeros(len(self.lengths), np.int64)
        new_row[chosen] = np.arange(len(chosen))
        lengths = self.lengths[chosen]
        ids = self.ids[chosen, : lengths.max()]
        rows = new_row[self.rows[targets]]
        return Batch(ids, rows, self.positions[targets], self.tokens[targets], lengths), targets


def encode(items: Sequence[Item], vocabulary: Vocabulary, size: int) -> list[Encoded | None]:
    """Each item's tokens; None where prompt and target share a token, or the model has no such token."""
    texts = [item.prompt + item.target for item in items]
    encoded: list[Encoded | None] = []
    for item, tokens in zip(items, vocabulary.encoded(texts), strict=True):
        boundary = len(item.prompt)  # where the target's first character stands
        targets = sum(start >= boundary for start, _ in tokens.spans)
        shared = any(start < boundary < end for start, end in tokens.spans)
        predictable = 0 < targets < len(tokens.ids)  # the first token of a text is predicted by nothing
        if predictable and not shared and max(tokens.ids) < size:
            encoded.append(Encoded(tokens.ids, targets))
        else:
            encoded.append(None)
    return encoded


def within(items: Sequence[Encoded], tokens: int) -> Iterator[Batch]:
    """All items in their order, in batches of at most `tokens` tokens with padding, or of a single item."""
    group: list[Encoded] = []
    for item in items:
        longest = max(len(other.ids) for other in (*group, item))
        padded = longest * (len(group) + 1)
        if group and padded > tokens:
            yield Batch.of(group)
            group = []
        group.append(item)
    if group:
        yield Batch.of(group)


def batches(items: Sequence[Encoded], size: int, start: int = 0) -> Iterator[Batch]:
    """Endless batches in a fixed random order, starting with batch number `start`."""
    for number in count_from(start):
        chosen = batch_order(len(items), size, number)
        yield Batch.of([items[at] for at in chosen])


def batch_order(items: int, size: int, number: int) -> list[int]:
    """Which items are in a batch: in a random order that is always the same, none twice before all came once."""
    chosen = []
    for drawn in range(number * size, (number + 1) * size):
        epoch, at = divmod(drawn, items)
        chosen.append(int(_epoch_order(epoch, items)[at]))
    return chosen


@lru_cache(maxsize=4)
def _epoch_order(epoch: int, items: int) -> Ints:
    """The order in which one pass over all items visits them."""
    return np.random.default_rng([20250513, epoch]).permutation(items)
