"""Whole rows of one head: where each pair's target and source stand in the vocabulary, and what stands first."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.rounding import TIE, relative_error
from analysis.compute.hits.unembedding import Unembedding, tile_of, tiles
from analysis.progress import Progress, silent

_AT_ONCE = 1024  # rows that are compared with a tile together


@dataclass(frozen=True)
class HeadRelation:
    """A head, and a relation of the query."""

    layer: int
    head: int
    relation: int
    way: int  # 0: what the head promotes, 1: what it suppresses


@dataclass(frozen=True)
class Ranks:
    """Ranks of each pair of a relation, in its order; rank 1 is the largest entry of the row."""

    target: Tensor  # [n]
    source: Tensor  # [n] of the source's own token
    top: Tensor  # [n, ≤ count] the tokens with the largest entries, the largest first

    def split(self, sizes: list[int]) -> "list[Ranks]":
        """Split into consecutive parts of these sizes."""
        parts = zip(self.target.split(sizes), self.source.split(sizes), self.top.split(sizes), strict=True)
        return [Ranks(*numbers) for numbers in parts]


def ranks_of_heads(
    inputs: Inputs, asked: Sequence[HeadRelation], count: int, progress: Progress = silent
) -> list[Ranks]:
    """In the order in which they are asked; all are compared with a part of the vocabulary while it is in memory.

    For suppression the rows are negated, so rank 1 is the entry that is suppressed most. A pair is a hit, as the
    counter has it, exactly when its target's rank is at most k: entries are counted in float32 and, where rounding
    could make a hit of a miss, in float64. Ranks far from k may be off by the few entries that are within rounding of
    the target's.
    """
    heads: dict[tuple[int, int], list[HeadRelation]] = {}
    for one in asked:
        heads.setdefault((one.layer, one.head), []).append(one)
    rankings = [_Ranking.of(inputs, of_head, count) for of_head in heads.values()]
    start = 0
    for tile in tiles(inputs.unembedding):
        norm = tile.norm(dim=1).max()
        for ranking in rankings:
            ranking.compare(tile, norm, start)
        start += len(tile)
        progress("ranking the targets", start, inputs.unembedding.vocabulary)
    _decide(inputs.unembedding, rankings)
    ranks_of: dict[HeadRelation, Ranks] = {}
    for of_head, ranking in zip(heads.values(), rankings, strict=True):
        sizes = [len(inputs.query.members[one.relation]) for one in of_head]
        ranks_of |= zip(of_head, ranking.ranks().split(sizes), strict=True)
    return [ranks_of[one] for one in asked]


@dataclass(frozen=True)
class _Marks:
    """What the entries of each row are compared with."""

    target: Tensor  # [n] float64: the target's entry
    source: Tensor  # [n] the source's own
    target_token: Tensor  # [n]
    source_token: Tensor  # [n]
    k: Tensor  # [n]

    @classmethod
    def of(cls, inputs: Inputs, members: Tensor, q: Tensor) -> "_Marks":
        """The marks of some pairs."""
        query = inputs.query
        source, target = query.source_of[members], query.target_of[members]
        own = inputs.unembedding.unembed(query.sources[source.cpu()])
        return cls(
            torch.linalg.vecdot(q, inputs.targets[target].double()),
            torch.linalg.vecdot(q, own.double()),
            query.targets.to(q.device)[target],
            query.sources.to(q.device)[source],
            query.k[members],
        )

    def bounds(self, margin: Tensor) -> list[tuple[Tensor, Tensor]]:  # each [n] and [n]
        """What is counted: entries larger than the target's, surely so, perhaps so; than the source's. Whose it is."""
        of_target = (self.target, self.target + margin, self.target - margin)
        return [*((bound.float(), self.target_token) for bound in of_target), (self.source.float(), self.source_token)]


class _Ranking:
    """Rows of one head by what it writes, and how they compare with the tokens that were seen so far."""

    def __init__(self, q: Tensor, basis: Tensor | None, marks: _Marks, count: int) -> None:
        self._q = q  # [n, d] float64, of length 1: a positive factor changes no rank
        self._basis = None if basis is None else basis.float()  # [d, d_head]
        self._c = (q if basis is None else q @ basis).float()  # the rows in that basis
        self._marks = marks
        self._count = count
        self._error = relative_error(q.shape[1], self._c.shape[1])
        self._larger = torch.zeros(4, len(q), dtype=torch.long, device=q.device)  # than the bounds of the marks
        self._larger_in: list[Tensor] = []  # of each tile the same, [4, n]; a tile has few enough tokens for int16
        self._top = _Top.empty(len(q), q.device)

    @classmethod
    def of(cls, inputs: Inputs, asked: Sequence[HeadRelation], count: int) -> "_Ranking":
        """One head before any token; through a basis of what the head can write where that saves work."""
        query, layer, head = inputs.query, asked[0].layer, asked[0].head
        members = torch.cat([query.members[one.relation] for one in asked]).to(inputs.heads.device)
        signs = [torch.full((len(query.members[one.relation]), 1), 1.0 - 2.0 * one.way) for one in asked]
        share = inputs.heads.card.heads // inputs.heads.card.kv_heads
        w_v = inputs.heads.values(layer)[head // share].double()
        w_o = inputs.heads.outputs(layer)[head].double()
        x = inputs.sources.x(layer)[query.source_of[members]].double()
        q = x @ w_v @ w_o * torch.cat(signs).to(x)
        length = q.norm(dim=1, keepdim=True)
        q = q / torch.where(length > 0, length, 1.0)
        inner, width = w_o.shape
        saves = len(q) * width > width * inner + len(q) * inner
        basis = torch.linalg.qr(w_o.T).Q if saves else None
        return cls(q, basis, _Marks.of(inputs, members, q), count)

    def compare(self, tile: Tensor, norm: Tensor, start: int) -> None:  # [m, d], the largest norm of its rows
        """Take the tokens from `start` on into account."""
        b = tile if self._basis is None else tile @ self._basis
        bounds = self._marks.bounds(self._error * norm)
        parts = []
        larger = torch.zeros_like(self._larger)
        for rows in torch.arange(len(self._c), device=tile.device).split(_AT_ONCE):
            entries = self._c[rows] @ b.T
            for which, (bound, token) in enumerate(bounds):
                larger[which, rows] = _larger(entries, bound[rows], token[rows] - start)
            parts.append(_Top.of(entries, start, self._count))
        self._larger += larger
        self._larger_in.append(larger.short())
        self._top = self._top.joined(_Top.stacked(parts), self._count)

    def doubtful(self) -> Tensor:  # [m]
        """The rows of which float32 cannot tell whether the target is among the k."""
        _, surely, perhaps, _ = self._larger
        rows: Tensor = ((surely < self._marks.k) & (perhaps >= self._marks.k)).nonzero()
        return rows.squeeze(1)

    def exactly(self, rows: Tensor) -> tuple[Tensor, Tensor]:  # [m] → [m, d], [m]
        """Some rows, and their targets' entries, in float64."""
        return self._q[rows], self._marks.target[rows]

    def surely_and_perhaps(self, rows: Tensor) -> tuple[Tensor, Tensor]:  # [m] → [tiles, m] and the same
        """How many entries of each tile are surely larger than the target's, and how many are perhaps so."""
        by_tile = torch.stack([larger[:, rows] for larger in self._larger_in]).long()
        return by_tile[:, 1], by_tile[:, 2]

    def settle(self, rows: Tensor, larger: Tensor) -> None:  # [m], [m]
        """Say how many entries of some rows are larger than the target's."""
        self._larger[0, rows] = larger

    def ranks(self) -> Ranks:
        """When all tokens were taken into account."""
        return Ranks(self._larger[0] + 1, self._larger[3] + 1, self._top.token)


def _decide(unembedding: Unembedding, rankings: Sequence[_Ranking]) -> None:
    """Count in float64, for all heads together, what float32 left doubtful, with the counter's rule for ties.

    Only tiles with an entry that float32 cannot tell from the target's are read again: two or three of dozens.
    """
    doubtful = [ranking.doubtful() for ranking in rankings]
    sizes = [len(rows) for rows in doubtful]
    if not sum(sizes):
        return
    vectors, entries, certain, possible = [], [], [], []
    for ranking, rows in zip(rankings, doubtful, strict=True):
        of_rows, of_marks = ranking.exactly(rows)
        vectors.append(of_rows)
        entries.append(of_marks)
        surely_larger, perhaps_larger = ranking.surely_and_perhaps(rows)
        certain.append(surely_larger)
        possible.append(perhaps_larger)
    q = torch.cat(vectors)
    marks = torch.cat(entries)
    surely = torch.cat(certain, 1)  # [tiles, m]
    is_open = torch.cat(possible, 1) > surely
    larger = surely.sum(0)
    open_tiles = is_open.any(1).nonzero().squeeze(1)
    for number in open_tiles.tolist():
        rows = is_open[number].nonzero().squeeze(1)
        u = tile_of(unembedding, number).double()
        largest_norm = u.norm(dim=1).max()
        bound = marks[rows] + TIE * largest_norm * q[rows].norm(dim=1)
        exactly_larger = (q[rows] @ u.T > bound[:, None]).sum(1)
        larger[rows] += exactly_larger - surely[number, rows]
    for ranking, rows, counts in zip(rankings, doubtful, larger.split(sizes), strict=True):
        ranking.settle(rows, counts)


def _larger(entries: Tensor, bound: Tensor, own: Tensor) -> Tensor:  # [n, m], [n], [n] → [n]
    """How many entries of each row are larger than a bound, but for the one in a column of its own, if it is there."""
    is_larger = torch.gt(entries, bound[:, None], out=torch.empty_like(entries))  # float32, of which a sum is quick
    there = ((own >= 0) & (own < entries.shape[1])).nonzero().squeeze(1)
    is_larger[there, own[there]] = 0
    return is_larger.sum(1).long()


@dataclass(frozen=True)
class _Top:
    """The largest entries of each row so far, and their tokens."""

    value: Tensor  # [n, c]
    token: Tensor  # [n, c]

    @classmethod
    def empty(cls, rows: int, device: torch.device) -> "_Top":
        value = torch.empty(rows, 0, device=device)
        return cls(value, value.long())

    @classmethod
    def of(cls, entries: Tensor, first: int, count: int) -> "_Top":  # entries [n, m] of the tokens from `first` on
        best = entries.topk(min(count, entries.shape[1]))
        return cls(best.values, best.indices + first)

    @classmethod
    def stacked(cls, parts: list["_Top"]) -> "_Top":
        """The rows of all parts, one part after the other."""
        return cls(torch.cat([part.value for part in parts]), torch.cat([part.token for part in parts]))

    def joined(self, other: "_Top", count: int) -> "_Top":
        """The largest entries over the tokens of both."""
        value = torch.cat([self.value, other.value], 1)
        token = torch.cat([self.token, other.token], 1)
        best = value.topk(min(count, value.shape[1]))
        return _Top(best.values, token.gather(1, best.indices))
