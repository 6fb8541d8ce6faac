"""The pairs that a score is compared with: each source with itself, and with another pair's target."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from analysis.compute.hits.query import Query

DRAWS = 5  # times that the targets are shuffled

_TokenPair = tuple[int, int, int]  # a source as its index, a target as its token, k


@dataclass(frozen=True)
class ControlQuery:
    """Pairs with the same sources as a query's, and which of them each of its relations is compared with."""

    query: Query  # one pair for each source, target and k; `members` are all that a relation is compared with
    own: Tensor  # [S] of each source its own token, as an index into the targets
    itself: tuple[Tensor, ...]  # of each relation its sources with themselves, one for each of its pairs
    shuffled: tuple[tuple[Tensor, ...], ...]  # of each relation and draw the shuffled pairs that are not true ones
    copying: Tensor  # [R] whether a relation maps every source to itself

    @classmethod
    def of(cls, query: Query) -> Self:
        """A relation's draws depend on its own pairs alone, not on what else is asked."""
        own = query.sources.tolist()  # of a source of several tokens the last one, at which it is read
        index: dict[_TokenPair, int] = {}
        itself, shuffled, members, copying = [], [], [], []
        for true in _pairs_by_relation(query):
            with_itself = [(source, own[source], k) for source, _, k in true]
            itself.append(_indices(with_itself, index))
            draws = tuple(_indices(draw, index) for draw in _draws(true))
            shuffled.append(draws)
            members.append(torch.cat([itself[-1], *draws]).unique())
            copying.append(true == with_itself)
        sources, tokens, ks = torch.tensor(list(index)).T
        targets, target_of = tokens.unique(return_inverse=True)
        order = torch.randperm(len(targets), generator=torch.Generator().manual_seed(0))
        position = order.argsort()
        control = replace(
            query,
            targets=targets[order],
            source_of=sources,
            target_of=position[target_of],
            k=ks,
            members=tuple(members),
        )
        own_of = position[torch.searchsorted(targets, query.sources)]
        return cls(control, own_of, tuple(itself), tuple(shuffled), torch.tensor(copying))


def _pairs_by_relation(query: Query) -> Iterator[list[_TokenPair]]:
    """The pairs of each relation."""
    source, k = query.source_of.tolist(), query.k.tolist()
    target = query.targets[query.target_of.cpu()].tolist()
    for members in query.members:
        yield [(source[pair], target[pair], k[pair]) for pair in members.tolist()]


def _draws(true: Sequence[_TokenPair]) -> Iterator[list[_TokenPair]]:
    """The pairs with their targets shuffled, several times; those that are true ones all the same are left out."""
    true_pairs = set(true)
    for seed in range(DRAWS):
        order = torch.randperm(len(true), generator=torch.Generator().manual_seed(seed)).tolist()
        draw = []
        for (source, _, k), other in zip(true, order, strict=True):
            pair = (source, true[other][1], k)
            if pair not in true_pairs:
                draw.append(pair)
        yield draw


def _indices(pairs: Sequence[_TokenPair], index: dict[_TokenPair, int]) -> Tensor:
    """Where pairs stand among all, new ones at the end."""
    return torch.tensor([index.setdefault(pair, len(index)) for pair in pairs], dtype=torch.long)
