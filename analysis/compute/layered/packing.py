"""Many sources in a few sequences: each sees the prefix and itself, and none of the others.

    tokens     p0 p1 p2  s0  s1  t0 t1  s2 …      t is a source of two tokens
    position    0  1  2   3   3   3  4   3

So a source costs its own tokens, and the prefix is run once per sequence instead of once per source.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LENGTH = 64  # tokens of sources in a sequence: attention stays cheap, and local attention still reaches the prefix


@dataclass(frozen=True)
class PackedSources:
    """B sequences of T tokens."""

    ids: Tensor  # [B, T]
    positions: Tensor  # [B, T]
    group: Tensor  # [B, T] 0 for the prefix, another number for each source or padding of a sequence
    row: Tensor  # [S] each source's sequence
    column: Tensor  # [S] where its last token is

    def mask(self) -> Tensor:  # [B, 1, T, T] float32: 0 where a token sees another, else very small
        """A token sees earlier ones of its own group and the prefix."""
        length = self.ids.shape[1]
        same = self.group[:, :, None] == self.group[:, None, :]
        sees_prefix = (self.group == 0)[:, None, :]
        earlier = torch.ones(length, length, dtype=torch.bool).tril()
        allowed = (same | sees_prefix) & earlier
        nothing = torch.finfo(torch.float32).min
        return torch.where(allowed, 0.0, nothing)[:, None]

    def split(self, at_once: int) -> "list[tuple[PackedSources, Tensor]]":
        """In parts of at most so many sequences, each with the sources [n] that are in it."""
        parts = []
        for start in range(0, len(self.ids), at_once):
            rows = slice(start, start + at_once)
            inside = ((self.row >= start) & (self.row < start + at_once)).nonzero().squeeze(1)
            part = PackedSources(
                self.ids[rows], self.positions[rows], self.group[rows], self.row[inside] - start, self.column[inside]
            )
            parts.append((part, inside))
        return parts


def packed(prefix: Sequence[int], sources: Sequence[Sequence[int]]) -> PackedSources:
    """Sources one after the other, in a new sequence whenever one is full."""
    sequences: list[_Sequence] = []
    rows, columns = [], []
    for source in sources:
        if not sequences or sequences[-1].is_full(len(source)):
            sequences.append(_Sequence(prefix))
        rows.append(len(sequences) - 1)
        columns.append(sequences[-1].add(source))
    length = max(len(sequence.ids) for sequence in sequences)
    for sequence in sequences:
        while len(sequence.ids) < length:
            sequence.add([sequence.ids[-1]])
    return PackedSources(
        ids=torch.tensor([sequence.ids for sequence in sequences]),
        positions=torch.tensor([sequence.positions for sequence in sequences]),
        group=torch.tensor([sequence.group for sequence in sequences]),
        row=torch.tensor(rows),
        column=torch.tensor(columns),
    )


class _Sequence:
    """A prefix and the sources after it."""

    def __init__(self, prefix: Sequence[int]) -> None:
        self._start = len(prefix)
        self.ids = list(prefix)
        self.positions = list(range(self._start))
        self.group = [0] * self._start

    def is_full(self, more: int) -> bool:
        """Whether so many tokens do not fit any more."""
        taken = len(self.ids) - self._start
        return taken > 0 and taken + more > LENGTH

    def add(self, source: Sequence[int]) -> int:
        """Append a source; says where its last token is."""
        number = self.group[-1] + 1 if self.group else 1
        self.ids += source
        self.positions += range(self._start, self._start + len(source))
        self.group += [number] * len(source)
        return len(self.ids) - 1
