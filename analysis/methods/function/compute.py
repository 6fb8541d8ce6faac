"""The function map: which relations each head implements, read from its weights alone.

Elhelo & Geva, "Inferring Functionality of Attention Heads from their Parameters" (MAPS), ACL 2025, arXiv 2412.11965.

    M[l,h] = X_l · W_V[l,h] · W_O[l,h] · U      row s, column t: how strongly the head maps token s to token t
    X_0 = E ;  X_l = MLP_0(norm_0(E)) for l ≥ 1

A pair (s, t) is *promoted* when fewer than k entries of row s are strictly larger than entry t, *suppressed* when
fewer than k are strictly smaller. M has V² entries a head and is never formed. A head implements few of the pairs, so
most of the work is to show quickly that a pair is no hit, which takes only k larger and k smaller entries, anywhere:

1. `_eliminate` looks at a few hundred tokens a head: first some of the targets (their products are needed anyway),
   then the tokens that the head moves most for the average source, then all targets. A few per cent of the pairs stay,
   nearly all of them one way: as a claim that the pair is promoted, or that it is suppressed.
2. `_count` meets the claims of many layers with the whole unembedding, tile by tile, dropping those with k larger
   entries. A head with many claims is multiplied through d_head, the others together through d.
3. `_resolve` decides in float64 what float32 could not: the pairs whose count depends on entries within rounding error
   of the target's. So the result is that of float64 arithmetic on X, whatever the shortcut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, inf
from typing import Any, Self

import torch
from torch import Tensor

from analysis.compute.weights import Weights
from analysis.progress import Progress, silent

_FIRST_LOOK, _SECOND_LOOK = 13, 104  # targets looked at, as multiples of k; of a random head 15 % and 2 % then stay
_SIDE = 13  # tokens the head moves most, each way, as a multiple of k
_SAMPLE = 4096  # rows of U, from the first on, among which those tokens are sought
_TILE = 4096  # rows of U multiplied at once
_BLOCK = 1 << 21  # products compared at once
_FEW = 32  # products of which only the largest is compared at first
_GROUP_LAYERS = 32  # looked through before their survivors are counted, so that a stopped run has something to keep
_GROUP_BYTES = 400_000_000  # survivors held while further layers are looked through
_UNIT = 2.0**-24  # rounding unit of float32
_SAFETY = 8.0  # rounding errors of n additions stay below 8·sqrt(n) units but once in 1e13 (Higham & Mary 2019)
_TIE = 1e-12  # of the row's scale: values closer than this in float64 are ties


@dataclass(frozen=True)
class Query:
    """The token pairs of all relations, with every source, target and pair once."""

    sources: Tensor  # [S] token ids
    targets: Tensor  # [T] token ids, in random order so that the first few are a fair sample
    source_of: Tensor  # [P] index into sources
    target_of: Tensor  # [P] index into targets
    k: Tensor  # [P]
    members: tuple[Tensor, ...]  # a relation's pairs, as indices into P

    @classmethod
    def of(cls, relations: Sequence[tuple[Sequence[tuple[int, int]], int]]) -> Self:
        """From each relation's kept token pairs and its k."""
        pairs: dict[tuple[int, int, int], int] = {}
        members = []
        for kept, k in relations:
            members.append(torch.tensor([pairs.setdefault((s, t, k), len(pairs)) for s, t in kept], dtype=torch.long))
        ids = torch.tensor(list(pairs), dtype=torch.long).view(-1, 3)
        sources, source_of = ids[:, 0].unique(return_inverse=True)
        targets, target_of = ids[:, 1].unique(return_inverse=True)
        order = torch.randperm(len(targets), generator=torch.Generator().manual_seed(0))
        return cls(sources, targets[order], source_of, order.argsort()[target_of], ids[:, 2], tuple(members))

    def to(self, device: torch.device) -> Self:
        """The same with its indices on a device."""
        moved = {name: getattr(self, name).to(device) for name in ("source_of", "target_of", "k")}
        return replace(self, **moved)


_PER_ROW = ("owner", "way", "pair", "k", "at", "value", "above", "near")


@dataclass
class Survivors:
    """Claims of some heads that are still open: a row of M each, known by its vector q = x W_V W_O.

    Of a claim about suppression all signs are turned, so that here too only larger entries count.
    """

    owner: Tensor  # [n] index into the list of heads (layer · H + head, in the order of the run)
    way: Tensor  # [n] 0 when it is about promotion, 1 when about suppression
    pair: Tensor  # [n] index into the query's pairs
    k: Tensor  # [n]
    value: Tensor  # [n] float64: the target's entry, q · u_t
    above: Tensor  # [n] entries seen that are surely larger
    near: Tensor  # [n] entries seen that may be larger
    at: Tensor  # [n] where the row's vectors are in a and q, which stay as they are while rows leave
    a: Tensor  # [m, d_head] float32: x W_V
    q: Tensor  # [m, d] float32
    tied: Tensor  # [·, 3] way, owner and pair of rows that are zero throughout: all entries tie, so they are hits
    crowded: dict[int, Tensor] = field(default_factory=dict)  # owner → W_O [d_head, d] of heads with many survivors

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """One after the other."""
        names = (*_PER_ROW, "a", "q", "tied")
        joined: dict[str, Any] = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
        starts = torch.tensor([0, *(len(part.q) for part in parts[:-1])]).cumsum(0).tolist()
        joined["at"] = torch.cat([part.at + start for part, start in zip(parts, starts, strict=True)])
        return cls(**joined, crowded={owner: w for part in parts for owner, w in part.crowded.items()})

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def bytes(self) -> int:
        """What the rows occupy, nearly."""
        return self.q.nbytes + self.a.nbytes + sum(w.nbytes for w in self.crowded.values())

    def take(self, chosen: Tensor) -> Self:
        """Only the chosen rows."""
        return replace(self, **{name: getattr(self, name).index_select(0, chosen) for name in _PER_ROW})


def count_hits(
    weights: Weights,
    query: Query,
    layers: Sequence[int],
    *,
    first_mlp: bool = True,
    progress: Progress = silent,
) -> Iterator[tuple[int, Tensor]]:
    """For each layer the hits of every relation: [relation, promoted | suppressed, head].

    Divided by the relation's kept pairs this is the relation score φ and the suppression score φ⁻, each from 0 (no
    pair) to 1 (every pair has its target among the k largest, or k smallest, of the vocabulary).
    """
    yield from HitCounter(weights, query, first_mlp).count(layers, progress)


class HitCounter:
    """A model and a query, made ready once: counting one more layer repeats nothing."""

    def __init__(self, weights: Weights, query: Query, first_mlp: bool = True) -> None:
        torch.set_float32_matmul_precision("highest")  # the margins below assume real float32 products
        self._weights, self._query = weights, query.to(weights.device)
        self._look = _Look.at(weights, self._query, first_mlp)

    def count(self, layers: Sequence[int], progress: Progress = silent) -> Iterator[tuple[int, Tensor]]:
        """Look through some layers, count their survivors over the vocabulary, go on with the next."""
        weights, query, look = self._weights, self._query, self._look
        waiting: list[int] = []
        group: list[Survivors] = []
        for done, layer in enumerate(layers, start=1):
            group.append(_eliminate(weights, query, look, layer, len(waiting)))
            waiting.append(layer)
            progress("looking through layers", done, len(layers))
            full = len(group) == _GROUP_LAYERS or sum(part.bytes for part in group) > _GROUP_BYTES
            if full or done == len(layers):
                promoted = _verdicts(weights, query, look, Survivors.join(group), waiting, progress)
                for index, of_layer in enumerate(waiting):
                    yield of_layer, _by_relation(promoted[index], query)
                waiting, group = [], []


def _by_relation(hit: Tensor, query: Query) -> Tensor:  # [2, H, P] bool → [R, 2, H]
    return torch.stack([hit[:, :, members].sum(-1) for members in query.members])


class _Compare:
    """Counts, row by row, how many products with some tokens lie above a bound.

    Its buffers are kept, and flags are numbers, not bools: both make a comparison several times faster.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._block = _BLOCK if device.type == "cpu" else 64 * _BLOCK  # a GPU wants much to do at once
        self._buffers = {name: torch.empty(0, device=device) for name in ("products", "flags", "factor")}

    def above(self, rows: Tensor, tokens: Tensor, high: Tensor, out: Tensor) -> None:
        """Products above `high`."""
        for part, products in self._products(rows, tokens):
            torch.sum(products.gt_(high[part, None]), 1, out=out[part])

    def both(self, rows: Tensor, tokens: Tensor, high: Tensor, low: Tensor, out: Tensor) -> None:
        """Products above `high`, products below `low`."""
        for part, products in self._products(rows, tokens):
            flags = self._room("flags", *products.shape)
            torch.sum(torch.gt(products, high[part, None], out=flags), 1, out=out[0, part])
            torch.sum(products.lt_(low[part, None]), 1, out=out[1, part])

    def near(
        self, rows: Tensor, tokens: Tensor, high: Tensor, low: Tensor, enough: Tensor
    ) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Of some rows at a time: how many products lie above `high`; row and token of those from `low` to `high`.

        Most rows have nearly all products below, so the largest of every few tokens are compared first. A row with
        `enough` of them above `high` is not looked at more closely.
        """
        few = gcd(len(tokens), _FEW)
        for part, products in self._products(rows, tokens):
            folded, bound, least = products.unflatten(1, (few, -1)), high[part, None], low[part, None]
            largest = folded.amax(1)
            above = (largest > bound).sum(1)
            open_ = above < enough[part]
            row, column = (largest >= least.where(open_[:, None], inf)).nonzero().unbind(1)
            entries = folded[row, :, column]  # [·, few]
            larger = entries > bound[row]
            above = torch.where(open_, torch.zeros_like(above).index_add_(0, row, larger.sum(1)), above)
            at, fold = ((entries >= least[row]) & ~larger).nonzero().unbind(1)
            yield part, above, torch.stack([row[at], fold * folded.shape[2] + column[at]])

    def factor(self, left: Tensor, right: Tensor) -> Tensor:  # [n, m]
        """The product left · rightᵀ, in memory that the next call uses again."""
        return torch.mm(left, right.T, out=self._room("factor", len(left), len(right)))

    def _products(self, rows: Tensor, tokens: Tensor) -> Iterator[tuple[slice, Tensor]]:
        step = max(1, self._block // len(tokens))
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            room = self._room("products", part.stop - start, len(tokens))
            yield part, torch.mm(rows[part], tokens.T, out=room)

    def _room(self, name: str, rows: int, columns: int) -> Tensor:
        size = rows * columns
        if self._buffers[name].numel() < size:
            self._buffers[name] = torch.empty(size, device=self._device)
        return self._buffers[name][:size].view(rows, columns)


@dataclass(frozen=True)
class _Look:
    """What `_eliminate` needs for every layer alike."""

    x_first: Tensor  # [S, d] X_0 of the sources
    x_later: Tensor  # [S, d] X_l of the sources for l ≥ 1
    targets: Tensor  # [T, d] rows of U
    sample: Tensor  # [≤ V, d] the first rows of U
    u_norm: Tensor  # the largest norm of these rows of U
    compare: _Compare

    @classmethod
    def at(cls, weights: Weights, query: Query, first_mlp: bool) -> Self:
        embedded = weights.embed(query.sources)
        later = weights.first_mlp()(embedded) if first_mlp else embedded
        sample = weights.unembed_span(0, min(weights.vocabulary, _SAMPLE))
        targets = weights.unembed(query.targets)
        u_norm = torch.cat([sample, targets]).norm(dim=1).max()
        return cls(embedded, later, targets, sample, u_norm, _Compare(weights.device))

    def x(self, weights: Weights, layer: int) -> Tensor:
        """The sources' X for a layer."""
        return self.x_first if layer == weights.card.layers[0] else self.x_later


def _eliminate(weights: Weights, query: Query, look: _Look, layer: int, position: int) -> Survivors:
    """The layer's pairs that a look at a few hundred tokens did not decide."""
    w_v, w_o = _unit(weights.values(layer)), _unit(weights.outputs(layer))  # [H_kv, d, d_head], [H, d_head, d]
    x = look.x(weights, layer)
    claims = _first_look(_Layer.of(x, w_v, w_o, look, query), query, look.compare)
    claims.look_on(look.compare)
    return _survivors(x, w_v, w_o, look, query, claims, position * len(w_o))


@dataclass(frozen=True)
class _Layer:
    """One layer's heads, multiplied with the sources and with the tokens that are looked at."""

    a: Tensor  # [H_kv, S, d_head] x W_V
    b: Tensor  # [H, T, d_head] W_O u of the targets
    moved: Tensor  # [H, 2, n, d_head] the same of the tokens that a head promotes and suppresses most
    slack: Tensor  # [H, S] bound on the rounding error of the difference of two products
    k: int  # the largest

    @classmethod
    def of(cls, x: Tensor, w_v: Tensor, w_o: Tensor, look: _Look, query: Query) -> Self:
        heads, dim, d = w_o.shape
        k, share = int(query.k.max()), heads // len(w_v)
        a = torch.einsum("sd,gde->gse", x, w_v)
        b = (look.targets @ w_o.reshape(-1, d).T).view(-1, heads, dim).transpose(0, 1)  # one product for all heads
        tokens = _most_moved(a, w_o, look.sample, _SIDE * k)
        moved = torch.stack([look.sample.index_select(0, t.flatten()) @ w.T for t, w in zip(tokens, w_o, strict=True)])
        b_norm = torch.maximum(b.norm(dim=2).amax(1), moved.norm(dim=2).amax(1))  # [H]
        error_a = x.norm(dim=1) * w_v.norm(dim=(1, 2)).repeat_interleave(share)[:, None]  # [H, S]
        error_b = (w_o.norm(dim=(1, 2)) * look.u_norm)[:, None]
        rounding = 2 * _SAFETY * _UNIT * (d**0.5 + dim**0.5)
        slack = rounding * (error_a * b_norm[:, None] + error_b * a.norm(dim=2).repeat_interleave(share, 0))
        return cls(a, b, moved.unflatten(1, (2, -1)), slack, k)


def _first_look(layer: _Layer, query: Query, compare: _Compare) -> "_Claims":
    """Compare every pair's entry with those of a few targets; what may still be a hit becomes a claim."""
    heads, share = len(layer.b), len(layer.b) // len(layer.a)
    rows = layer.a.index_select(1, query.source_of)  # [H_kv, P, d_head]; faster than [...]
    value = torch.stack(
        [torch.linalg.vecdot(rows[h // share], layer.b[h].index_select(0, query.target_of)) for h in range(heads)]
    )
    slack = layer.slack.index_select(1, query.source_of)
    high, low = value + slack, value - slack
    counts = value.new_empty(heads, 2, len(query.k))
    for head, tokens in enumerate(layer.b[:, : _FIRST_LOOK * layer.k]):
        compare.both(rows[head // share], tokens, high[head], low[head], counts[head])
    group, pair = (counts < query.k).flatten(0, 1).nonzero().unbind(1)
    sign = 1 - 2 * (group % 2)
    rows = rows.flatten(0, 1).index_select(0, group // (2 * share) * len(query.k) + pair).mul_(sign[:, None])
    bound = torch.stack([high, -low], 1).flatten().index_select(0, group * len(query.k) + pair)
    return _Claims(layer, group, pair, query.k.index_select(0, pair), rows, bound)


@dataclass
class _Claims:
    """Pairs of one layer that may still be promoted, or suppressed: then all signs are turned, so that it is the same.

    In the order of their heads, and of one head the promoted first.
    """

    layer: _Layer
    group: Tensor  # [n] 2 · head, plus 1 when it is about suppression
    pair: Tensor  # [n]
    k: Tensor  # [n]
    rows: Tensor  # [n, d_head] x W_V, or its opposite
    high: Tensor  # [n] what an entry has to exceed to be surely larger than the target's

    def look_on(self, compare: _Compare) -> None:
        """Keep the claims for which no further look finds k larger entries."""
        layer = self.layer
        self._drop(compare, layer.moved.flatten(0, 1), 1)
        self._drop(compare, layer.b[:, : _SECOND_LOOK * layer.k], 2)
        self._drop(compare, layer.b, 2)

    def _drop(self, compare: _Compare, tokens: Tensor, groups: int) -> None:
        """Compare each `groups` groups with their tokens [·, n, d_head]; claims with k larger entries leave."""
        above = torch.empty_like(self.high)
        start = 0
        for mine, count in zip(tokens, self.counts(len(tokens), groups), strict=True):
            part = slice(start, start := start + count)
            if count:
                compare.above(self.rows[part], mine, self.high[part], above[part])
        left = (above < self.k).nonzero().squeeze(1)
        for name in ("group", "pair", "k", "rows", "high"):
            setattr(self, name, getattr(self, name).index_select(0, left))

    def counts(self, size: int, groups: int) -> list[int]:
        """How many claims each `groups` groups have."""
        counts: list[int] = torch.bincount(self.group // groups, minlength=size).tolist()
        return counts


def _unit(matrices: Tensor) -> Tensor:
    """Each matrix times the power of two that brings its largest entry to about 1.

    A positive factor changes no order, and float32 norms of very small heads do not vanish.
    """
    exponent = torch.frexp(matrices.abs().amax((1, 2), keepdim=True)).exponent
    return matrices * torch.ldexp(torch.ones_like(matrices[:, :1, :1]), -exponent)


def _most_moved(a: Tensor, w_o: Tensor, sample: Tensor, count: int) -> Tensor:  # [H, 2, count] indices into the sample
    """The tokens that each head promotes and suppresses most for its average source."""
    average = a.mean(1).repeat_interleave(len(w_o) // len(a), 0)  # [H, d_head]
    moved = torch.einsum("he,hed->hd", average, w_o) @ sample.T  # [H, sample]
    count = min(count, sample.shape[0])
    return torch.stack([moved.topk(count).indices, (-moved).topk(count).indices], 1)


def _survivors(
    x: Tensor, w_v: Tensor, w_o: Tensor, look: _Look, query: Query, claims: _Claims, first: int
) -> Survivors:
    """The rows of a layer's remaining claims, from float64 products. The layer's first head has the number `first`."""
    heads, dim, d = w_o.shape
    pair, owner, way = claims.pair, claims.group // 2 + first, claims.group % 2
    counts = claims.counts(heads, 2)
    a = torch.empty(len(pair), dim, dtype=torch.float64, device=x.device)
    q = torch.empty(len(pair), d, dtype=torch.float64, device=x.device)
    signed = x.index_select(0, query.source_of[pair]).double().mul_(1 - 2 * way[:, None])
    for head, (mine, out_a, out_q) in enumerate(
        zip(signed.split(counts), a.split(counts), q.split(counts), strict=True)
    ):
        torch.mm(mine, w_v[head * len(w_v) // heads].double(), out=out_a)
        torch.mm(out_a, w_o[head].double(), out=out_q)
    value = torch.linalg.vecdot(q, look.targets.index_select(0, query.target_of[pair]).double())
    some = q.any(1)
    left = some.nonzero().squeeze(1)
    rows = Survivors(
        owner=owner,
        way=way,
        pair=pair,
        k=claims.k,
        value=value,
        above=torch.zeros_like(pair),
        near=torch.full_like(pair, -1),  # the target itself will be among them
        at=torch.arange(len(pair), device=x.device),
        a=a.float(),
        q=q.float(),
        tied=torch.stack([way, owner, pair], 1)[~some],
        crowded={first + head: w_o[head].clone() for head, count in enumerate(counts) if _many(count, dim, d)},
    )
    return rows.take(left)


def _verdicts(
    weights: Weights, query: Query, look: _Look, rows: Survivors, layers: Sequence[int], progress: Progress
) -> Tensor:  # [layer, 2, H, P] bool
    """Which pairs each head of a group of layers promotes and suppresses."""
    rows = _count(weights, look.compare, rows, progress)
    hit = rows.above + rows.near < rows.k
    doubtful = (~hit).nonzero().squeeze(1)
    if len(doubtful):
        for some in doubtful.split(_TILE):  # few, unless a model has many equal tokens
            hit[some] = _resolve(weights, look, query, rows.take(some), layers)
    verdict = torch.zeros(2, len(layers) * weights.card.heads, len(query.k), dtype=torch.bool)
    verdict[rows.way.cpu(), rows.owner.cpu(), rows.pair.cpu()] = hit.cpu()
    verdict[rows.tied.cpu().unbind(1)] = True
    return verdict.view(2, len(layers), weights.card.heads, -1).transpose(0, 1)


def _tiles(weights: Weights) -> Iterator[Tensor]:
    """All rows of U, a few thousand at a time.

    In their own order: tokenizers number tokens from common to rare, and common tokens decide most pairs.
    """
    for start in range(0, weights.vocabulary, _TILE):
        yield weights.unembed_span(start, min(start + _TILE, weights.vocabulary))


def _count(weights: Weights, compare: _Compare, rows: Survivors, progress: Progress) -> Survivors:
    """Count larger entries over the whole vocabulary, for as long as a row has fewer than k."""
    total = -(-weights.vocabulary // _TILE)
    for done, tile in enumerate(_tiles(weights), start=1):
        if not len(rows):
            break
        _count_tile(compare, rows, tile)
        rows = rows.take((rows.above < rows.k).nonzero().squeeze(1))
        progress("counting over the vocabulary", done, total)
    return rows


def _count_tile(compare: _Compare, rows: Survivors, tile: Tensor) -> None:
    """Add one tile's larger entries to every row's counts."""
    d, dim, u_norm = tile.shape[1], rows.a.shape[1], tile.norm(dim=1).max()
    crowded, plain = _split(rows, d)
    together = max(1, _TILE // 4 // dim)
    for start in range(0, len(crowded), together):
        some = crowded[start : start + together]
        w_o = [rows.crowded[owner] for owner, _ in some]
        b = compare.factor(tile, torch.cat(w_o)).split(dim, dim=1)  # of each crowded head [tile, d_head]
        for i, (_, mine) in enumerate(some):
            _add(compare, rows, mine, rows.a, b[i], w_o[i].norm() * u_norm * (d**0.5 + dim**0.5))
    for mine in plain.split(_TILE):
        _add(compare, rows, mine, rows.q, tile, u_norm * d**0.5)


def _split(rows: Survivors, d: int) -> tuple[list[tuple[int, Tensor]], Tensor]:
    """The rows of heads that have so many that going through d_head is less work; the indices of all others."""
    owners, counts = rows.owner.unique_consecutive(return_counts=True)
    crowded, plain = [], []
    parts = torch.arange(len(rows), device=rows.owner.device).split(counts.tolist())
    for owner, mine in zip(owners.tolist(), parts, strict=True):
        if owner in rows.crowded and _many(len(mine), rows.a.shape[1], d):
            crowded.append((owner, mine))
        else:
            plain.append(mine)
    return crowded, torch.cat(plain) if plain else rows.owner[:0]


def _many(count: int, d_head: int, d: int) -> bool:
    """Whether (tile · W_O) · a takes fewer operations than tile · q."""
    return count * d > d_head * d + count * d_head


def _add(compare: _Compare, rows: Survivors, chosen: Tensor, vectors: Tensor, tokens: Tensor, scale: Tensor) -> None:
    """Count for the chosen rows, whose vectors have these products with the tokens."""
    left = vectors.index_select(0, rows.at.index_select(0, chosen))
    margin = (_SAFETY * _UNIT) * scale * left.norm(dim=1)
    value = rows.value.index_select(0, chosen)
    enough = (rows.k - rows.above).index_select(0, chosen)
    for part, above, near in compare.near(left, tokens, (value + margin).float(), (value - margin).float(), enough):
        rows.above.index_add_(0, chosen[part], above)
        rows.near.index_add_(0, chosen[part], near[0].bincount(minlength=len(above)))


def _resolve(weights: Weights, look: _Look, query: Query, rows: Survivors, layers: Sequence[int]) -> Tensor:  # [n] bool
    """The hits among the few rows that float32 could not decide: float64 for the entries near the target's."""
    q = _exact_vectors(weights, look, query, rows, layers)
    value = torch.linalg.vecdot(q, look.targets[query.target_of[rows.pair]].double())
    left, norm, larger = q.float(), q.norm(dim=1), torch.zeros_like(rows.k)
    for tile in _tiles(weights):
        u_norm = tile.norm(dim=1).max()
        margin, tie = _SAFETY * _UNIT * tile.shape[1] ** 0.5 * norm * u_norm, _TIE * norm * u_norm
        high, low = (value + margin).float(), (value - margin).float()
        for part, above, near in look.compare.near(left, tile, high, low, rows.k):
            larger[part] += above
            for row, token in (some.unbind(0) for some in near.split(max(1, _BLOCK // tile.shape[1]), 1)):
                row = row + part.start
                difference = torch.linalg.vecdot(q[row], tile[token].double()) - value[row]
                larger.index_add_(0, row, (difference > tie[row]).long())
    return larger < rows.k


def _exact_vectors(
    weights: Weights, look: _Look, query: Query, rows: Survivors, layers: Sequence[int]
) -> Tensor:  # [n, d] float64
    """The rows' vectors q once more, unrounded; each head scaled as a whole so that none vanishes in float32."""
    card = weights.card
    q = torch.empty(len(rows), card.width, dtype=torch.float64, device=rows.q.device)
    owners, start = rows.owner // card.heads, 0
    for index, count in zip(*(part.tolist() for part in owners.unique_consecutive(return_counts=True)), strict=True):
        layer, mine = layers[index], slice(start, start := start + count)
        w_v, w_o = weights.values(layer), weights.outputs(layer)
        x = look.x(weights, layer).index_select(0, query.source_of[rows.pair[mine]]).double()
        heads = rows.owner[mine] % card.heads
        for head in heads.unique().tolist():
            of_head = heads == head
            pair = _unit(w_v[head // (card.heads // card.kv_heads)][None])[0], _unit(w_o[head][None])[0]
            q[mine][of_head] = x[of_head] @ pair[0].double() @ pair[1].double()
    return q.mul_(1 - 2 * rows.way[:, None])
