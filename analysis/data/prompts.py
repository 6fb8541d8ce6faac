"""Prompts as a model reads them: token ids, and where each target token is predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from analysis.data.tasks import TaskPrompt
from analysis.models.vocabulary import Vocabulary

Ints = np.ndarray[Any, np.dtype[np.int64]]

_SPLIT_BELOW = 0.9  # a batch is split when that leaves at most this share of its tokens, padding included
_ORDER_BASE = 20250513  # with the number of the epoch it determines the order of the items


@dataclass(frozen=True)
class Encoded:
    """One item: its tokens, the last `targets` of which are to be predicted."""

    ids: tuple[int, ...]
    targets: int


@dataclass(frozen=True)
class Batch:
    """B prompts side by side, padded on the right, where causal attention never looks; n target tokens in all."""

    ids: Ints  # [B, T]
    rows: Ints  # [n] the prompt of each target token
    positions: Ints  # [n] the position at which it is predicted, one before its own
    tokens: Ints  # [n] the target token itself
    lengths: Ints  # [B] tokens of each prompt with its target

    @classmethod
    def of(cls, items: Sequence[Encoded]) -> "Batch":
        """All items in one batch."""
        lengths = np.array([len(item.ids) for item in items], np.int64)
        ids = np.zeros((len(items), lengths.max()), np.int64)
        rows: list[int] = []
        positions: list[int] = []
        for row, item in enumerate(items):
            length = len(item.ids)
            ids[row, :length] = item.ids
            rows += [row] * item.targets
            positions += range(length - item.targets - 1, length - 1)
        row_of = np.array(rows, np.int64)
        position_of = np.array(positions, np.int64)
        return cls(ids, row_of, position_of, ids[row_of, position_of + 1], lengths)

    def parts(self) -> list[tuple["Batch", Ints]]:
        """The batch as a whole, or as short and long prompts where that saves padding; each with its targets' indices.

        The cut is where the two parts have the fewest tokens together, padding included.
        """
        by_length = np.argsort(self.lengths, kind="stable")
        lengths = self.lengths[by_length]
        short = np.arange(1, len(lengths) + 1)  # how many prompts the first part has
        tokens = short * lengths + (len(lengths) - short) * lengths[-1]  # of both parts, for each possible cut
        cut = int(np.argmin(tokens)) + 1
        if cut == len(lengths) or tokens[cut - 1] > _SPLIT_BELOW * tokens[-1]:
            return [(self, np.arange(len(self.tokens)))]
        return [self._only(by_length[:cut]), self._only(by_length[cut:])]

    def _only(self, chosen: Ints) -> tuple["Batch", Ints]:
        """A batch of some of the prompts, and which of the targets are theirs."""
        targets = np.flatnonzero(np.isin(self.rows, chosen))
        new_row = np.zeros(len(self.lengths), np.int64)
        new_row[chosen] = np.arange(len(chosen))
        lengths = self.lengths[chosen]
        part = Batch(
            ids=self.ids[chosen, : lengths.max()],
            rows=new_row[self.rows[targets]],
            positions=self.positions[targets],
            tokens=self.tokens[targets],
            lengths=lengths,
        )
        return part, targets


def encode(items: Sequence[TaskPrompt], vocabulary: Vocabulary, size: int) -> list[Encoded | None]:
    """Each item's tokens; None where prompt and target share a token, or a token is beyond the model's `size`."""
    texts = [item.prompt + item.target for item in items]
    encoded: list[Encoded | None] = []
    for item, tokens in zip(items, vocabulary.encoded(texts), strict=True):
        border = len(item.prompt)  # the character at which the target begins
        targets = sum(start >= border for start, _ in tokens.spans)
        shares_token = any(start < border < end for start, end in tokens.spans)
        both_sides = 0 < targets < len(tokens.ids)
        if both_sides and not shares_token and max(tokens.ids) < size:
            encoded.append(Encoded(tokens.ids, targets))
        else:
            encoded.append(None)
    return encoded


def within(items: Sequence[Encoded], tokens: int) -> Iterator[Batch]:
    """All items in order, in batches of at most so many tokens, padding included, but of one item at least."""
    group: list[Encoded] = []
    longest = 0
    for item in items:
        longest = max(longest, len(item.ids))
        if group and longest * (len(group) + 1) > tokens:
            yield Batch.of(group)
            group = []
            longest = len(item.ids)
        group.append(item)
    if group:
        yield Batch.of(group)


def batches(items: Sequence[Encoded], size: int, start: int = 0) -> Iterator[Batch]:
    """Endless batches in a fixed random order, from the given one on."""
    for number in count(start):
        chosen = batch_order(len(items), size, number)
        yield Batch.of([items[index] for index in chosen])


def batch_order(items: int, size: int, number: int) -> list[int]:
    """Which items are in a batch, given its number: in a fixed random order, no item twice within an epoch."""
    chosen = []
    for position in range(number * size, (number + 1) * size):
        epoch, index = divmod(position, items)
        chosen.append(int(_epoch_order(epoch, items)[index]))
    return chosen


@lru_cache(maxsize=4)
def _epoch_order(epoch: int, items: int) -> Ints:
    return np.random.default_rng([_ORDER_BASE, epoch]).permutation(items)
