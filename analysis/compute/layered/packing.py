"""Many sources in a few sequences: each sees the prefix and itself, and none of the others.

    prefix     p0 p1 p2                             its keys and values, which stand before those of every sequence
    first      p0 p1 p2  s0  s1  t0 t1              t is a source of two tokens
    position    0  1  2   3   3   3  4
    second     s2  s3  u0 u1 …
    position    3   3   3  4

So a source costs its own tokens, and the prefix is run once for all of them: in the first sequence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LENGTH = 64  # tokens in a sequence: attention stays cheap, and local attention still reaches the prefix


@dataclass(frozen=True)
class PackedSources:
    """B sequences of T tokens, all of them behind a prefix of P tokens."""

    prefix: int  # P
    ids: Tensor  # [B, T]
    positions: Tensor  # [B, T]
    group: Tensor  # [B, T] 0 for the prefix itself, another number for each source or padding of a sequence
    row: Tensor  # [S] each source's sequence
    column: Tensor  # [S] where its last token is

    def mask(self) -> Tensor:  # [B, 1, T, P + T] float32: 0 where a token sees another, else very small
        """A token sees earlier ones of its own group; a source's also see the prefix, where its keys and values are."""
        length = self.ids.shape[1]
        same = self.group[:, :, None] == self.group[:, None, :]
        earlier = torch.ones(length, length, dtype=torch.bool).tril()
        sees_prefix = (self.group > 0)[:, :, None].expand(-1, -1, self.prefix)
        allowed = torch.cat([sees_prefix, same & earlier], 2)
        nothing = torch.finfo(torch.float32).min
        return torch.where(allowed, 0.0, nothing)[:, None]

    def split(self, at_once: int) -> "list[tuple[PackedSources, Tensor]]":
        """In parts of at most so many sequences, each with the sources [n] that are in it."""
        parts = []
        for start in range(0, len(self.ids), at_once):
            rows = slice(start, start + at_once)
            inside = ((self.row >= start) & (self.row < start + at_once)).nonzero().squeeze(1)
            part = PackedSources(
                self.prefix,
                self.ids[rows],
                self.positions[rows],
                self.group[rows],
                self.row[inside] - start,
                self.column[inside],
            )
            parts.append((part, inside))
        return parts


def packed(prefix: Sequence[int], sources: Sequence[Sequence[int]]) -> PackedSources:
    """Sources one after the other, in a new sequence whenever one is full; the prefix begins the first."""
    room = max(LENGTH, len(prefix))
    first = _Sequence(start=len(prefix))
    first.add_prefix(prefix)
    sequences = [first]
    rows, columns = [], []
    for source in sources:
        if sequences[-1].is_full(len(source), room):
            sequences.append(_Sequence(start=len(prefix)))
        rows.append(len(sequences) - 1)
        columns.append(sequences[-1].add(source))
    length = max(len(sequence.ids) for sequence in sequences)
    for sequence in sequences:
        while len(sequence.ids) < length:
            sequence.add([sequence.ids[-1]])
    return PackedSources(
        prefix=len(prefix),
        ids=torch.tensor([sequence.ids for sequence in sequences]),
        positions=torch.tensor([sequence.positions for sequence in sequences]),
        group=torch.tensor([sequence.group for sequence in sequences]),
        row=torch.tensor(rows),
        column=torch.tensor(columns),
    )


class _Sequence:
    """Sources, each at the position behind the prefix."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._groups = 0
        self.ids: list[int] = []
        self.positions: list[int] = []
        self.group: list[int] = []

    def is_full(self, more: int, room: int) -> bool:
        """Whether so many tokens do not fit any more."""
        return bool(self.ids) and len(self.ids) + more > room

    def add_prefix(self, prefix: Sequence[int]) -> None:
        """Begin with it: here its keys and values are computed."""
        self.ids += prefix
        self.positions += range(len(prefix))
        self.group += [0] * len(prefix)

    def add(self, source: Sequence[int]) -> int:
        """Append a source; says where its last token is."""
        self._groups += 1
        self.ids += source
        self.positions += range(self._start, self._start + len(source))
        self.group += [self._groups] * len(source)
        return len(self.ids) - 1
