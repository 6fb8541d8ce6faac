"""The token pairs that are asked of every head."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

TokenSource = int | Sequence[int]  # a token, or several


@dataclass(frozen=True)
class Query:
    """The token pairs of all relations: S sources, T targets and P pairs, each of them once.

    A pair that several relations share is counted once for each k that they ask it with.
    """

    sources: Tensor  # [S] token ids; of a source of several tokens the last one, at which it is read
    source_tokens: tuple[tuple[int, ...], ...]  # all tokens of each source
    targets: Tensor  # [T] token ids, in random order so that the first few are a fair sample
    source_of: Tensor  # [P] index into sources
    target_of: Tensor  # [P] index into targets
    k: Tensor  # [P]
    members: tuple[Tensor, ...]  # a relation's pairs, as indices into P

    @classmethod
    def of(cls, relations: Sequence[tuple[Sequence[tuple[TokenSource, int]], int]]) -> Self:
        """From each relation's kept token pairs and its k."""
        pairs: dict[tuple[tuple[int, ...], int, int], int] = {}  # (source, target, k) → its index
        members = []
        for kept, k in relations:
            indices = []
            for source, target in kept:
                tokens = (source,) if isinstance(source, int) else tuple(source)
                index = pairs.setdefault((tokens, target, k), len(pairs))
                indices.append(index)
            members.append(torch.tensor(indices, dtype=torch.long))
        distinct_sources = sorted({tokens for tokens, _, _ in pairs})
        place_of = {tokens: place for place, tokens in enumerate(distinct_sources)}
        last_tokens = [tokens[-1] for tokens in distinct_sources]
        target_of_pair = torch.tensor([target for _, target, _ in pairs], dtype=torch.long)
        targets, target_places = target_of_pair.unique(return_inverse=True)
        order = torch.randperm(len(targets), generator=torch.Generator().manual_seed(0))
        place_in_order = order.argsort()
        return cls(
            sources=torch.tensor(last_tokens, dtype=torch.long),
            source_tokens=tuple(distinct_sources),
            targets=targets[order],
            source_of=torch.tensor([place_of[tokens] for tokens, _, _ in pairs], dtype=torch.long),
            target_of=place_in_order[target_places],
            k=torch.tensor([k for _, _, k in pairs], dtype=torch.long),
            members=tuple(members),
        )

    def to(self, device: torch.device) -> Self:
        """The same with the indices that every head needs on a device."""
        return replace(
            self, source_of=self.source_of.to(device), target_of=self.target_of.to(device), k=self.k.to(device)
        )

    def by_relation(self, hits: Tensor) -> Tensor:  # [2, H, P] bool → [R, 2, H]
        """How many of each relation's pairs are hits."""
        return torch.stack([hits[:, :, members].sum(-1) for members in self.members])
