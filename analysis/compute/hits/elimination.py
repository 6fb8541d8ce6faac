"""The first pass: claims that a look at a few hundred tokens refutes.

Entries come from float32 products through d_head: a · b, with a = x W_V of the source and b = W_O u of the token. An
entry speaks against a claim only when it is larger than the target's by more than `slack`, so no true claim is lost.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from analysis.compute.hits.comparison import Compare
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.query import Query
from analysis.compute.hits.rounding import relative_error, scaled
from analysis.compute.hits.survivors import Survivors, is_crowded, signs

# How many tokens a look compares, as multiples of k. Of a random head 15 % of the claims stay after the first look at
# targets, and 2 % after the second.
_FIRST_TARGETS = 13
_SECOND_TARGETS = 104
_MOST_MOVED = 13

_SAMPLE = 4096  # rows of U, from the first on, among which the tokens that a head moves most are sought


@dataclass(frozen=True)
class Elimination:
    """The first pass, with what it needs for every layer alike."""

    inputs: Inputs
    compare: Compare
    sample: Tensor  # [≤ V, d] the first rows of U
    u_norm: Tensor  # the largest norm of these rows and of the targets'

    @classmethod
    def of(cls, inputs: Inputs, compare: Compare) -> Self:
        """Read the rows of U that are looked at."""
        sample = inputs.unembedding.unembed_span(0, min(inputs.unembedding.vocabulary, _SAMPLE))
        return cls(inputs, compare, sample, _largest_norm(sample, inputs.targets))

    def asking(self, inputs: Inputs) -> Self:
        """The same with another query."""
        return replace(self, inputs=inputs, u_norm=_largest_norm(self.sample, inputs.targets))

    def survivors(self, layer: int, position: int) -> Survivors:
        """The claims about a layer, at this position of the run, that are not refuted."""
        model, query = self.inputs.heads, self.inputs.query
        heads = _LayerHeads(self.inputs.sources.x(layer), scaled(model.values(layer)), scaled(model.outputs(layer)))
        products = _Products.of(heads, self, self.inputs.targets, int(query.k.max()))
        claims = _first_look(products, query, self.compare)
        claims = claims.unrefuted(products.moved.flatten(0, 1), self.compare)
        return self._survivors(heads, products, claims, position * len(heads.w_o))

    def survivors_of_head(
        self,
        head: "HeadMatrices",
        x: Tensor,  # [S, d] the sources' vectors for the head's layer
        owner: int,
        way: Tensor,  # [n] ascending
        pair: Tensor,  # [n]
    ) -> Survivors:
        """The claims about one head that are not refuted."""
        query = self.inputs.query
        sources, source = query.source_of[pair].unique(return_inverse=True)
        targets, target = query.target_of[pair].unique(return_inverse=True)
        heads = _LayerHeads(x.index_select(0, sources), scaled(head.w_v[None]), scaled(head.w_o[None]))
        k = query.k[pair]
        products = _Products.of(heads, self, self.inputs.targets.index_select(0, targets), int(k.max()))
        rows = products.a[0].index_select(0, source).mul_(signs(way))
        value = torch.linalg.vecdot(rows, products.b[0].index_select(0, target))
        claims = _Claims(1, way, pair, source, k, rows, value + products.slack[0].index_select(0, source))
        claims = claims.unrefuted(products.moved.flatten(0, 1), self.compare)
        return self._survivors(heads, products, claims, owner)

    def _survivors(self, heads: "_LayerHeads", products: "_Products", claims: "_Claims", first_owner: int) -> Survivors:
        """Those that the targets do not refute either."""
        claims = claims.unrefuted(products.b[:, : _SECOND_TARGETS * products.k], self.compare)
        claims = claims.unrefuted(products.b, self.compare)
        return _survivors(heads, self.inputs, claims, first_owner)


@dataclass(frozen=True)
class HeadMatrices:
    """What one head multiplies with."""

    w_v: Tensor  # [d, d_head]
    w_o: Tensor  # [d_head, d]


def _largest_norm(sample: Tensor, targets: Tensor) -> Tensor:
    norms: Tensor = torch.cat([sample, targets]).norm(dim=1)
    return norms.max()


@dataclass(frozen=True)
class _LayerHeads:
    """Some heads of a layer and what enters them."""

    x: Tensor  # [S, d]
    w_v: Tensor  # [H_kv, d, d_head]
    w_o: Tensor  # [H, d_head, d]

    @property
    def share(self) -> int:
        """How many heads share a value head."""
        return len(self.w_o) // len(self.w_v)


@dataclass(frozen=True)
class _Products:
    """Heads multiplied with the sources, and with the tokens that are looked at."""

    a: Tensor  # [H_kv, S, d_head] x W_V
    b: Tensor  # [H, T, d_head] W_O u of the targets
    moved: Tensor  # [H, 2, n, d_head] the same of the tokens that a head promotes most, and of those it suppresses most
    slack: Tensor  # [H, S] bound on the rounding error of the difference of two entries of a row
    k: int  # the query's largest

    @classmethod
    def of(cls, heads: _LayerHeads, first_pass: Elimination, targets: Tensor, k: int) -> Self:  # targets [T, d]
        """All products that the looks share."""
        count, d_head, d = heads.w_o.shape
        a = torch.einsum("sd,gde->gse", heads.x, heads.w_v)
        all_heads = targets @ heads.w_o.reshape(-1, d).T  # [T, H · d_head]: one product for all
        b = all_heads.view(-1, count, d_head).transpose(0, 1)
        tokens = _most_moved(a, heads.w_o, first_pass.sample, _MOST_MOVED * k)  # [H, 2, n]
        moved = []
        for tokens_of_head, w_o in zip(tokens, heads.w_o, strict=True):
            u = first_pass.sample.index_select(0, tokens_of_head.flatten())  # [2 n, d]
            moved.append(u @ w_o.T)
        moved_b = torch.stack(moved)  # [H, 2 n, d_head]
        b_norm = torch.maximum(b.norm(dim=2).amax(1), moved_b.norm(dim=2).amax(1))  # [H]
        slack = _slack(heads, a, b_norm, first_pass.u_norm)
        return cls(a, b, moved_b.unflatten(1, (2, -1)), slack, k)


def _slack(heads: _LayerHeads, a: Tensor, b_norm: Tensor, u_norm: Tensor) -> Tensor:  # [H, S]
    """A bound on the rounding error of the difference of two entries a · b of a row.

    a has an error relative to ‖x‖ ‖W_V‖, which the product multiplies by ‖b‖; b has one relative to ‖W_O‖ ‖u‖, which it
    multiplies by ‖a‖. Both are sums over d; the product itself is one over d_head. All of it twice, for two entries.
    """
    _, d_head, d = heads.w_o.shape
    w_v_norm = heads.w_v.norm(dim=(1, 2)).repeat_interleave(heads.share)[:, None]  # [H, 1]
    w_o_norm = heads.w_o.norm(dim=(1, 2))[:, None]  # [H, 1]
    a_norm = a.norm(dim=2).repeat_interleave(heads.share, 0)  # [H, S]
    scale_of_a = heads.x.norm(dim=1) * w_v_norm  # [H, S]
    scale_of_b = w_o_norm * u_norm  # [H, 1]
    scale: Tensor = scale_of_a * b_norm[:, None] + scale_of_b * a_norm
    return 2 * relative_error(d, d_head) * scale


def _most_moved(a: Tensor, w_o: Tensor, sample: Tensor, count: int) -> Tensor:  # [H, 2, count] indices into the sample
    """The tokens that each head promotes most for its average source, and those that it suppresses most."""
    average = a.mean(1).repeat_interleave(len(w_o) // len(a), 0)  # [H, d_head]
    entries = torch.einsum("he,hed->hd", average, w_o) @ sample.T  # [H, sample]
    count = min(count, len(sample))
    promoted = entries.topk(count).indices
    suppressed = (-entries).topk(count).indices
    return torch.stack([promoted, suppressed], 1)


@dataclass(frozen=True)
class _Claims:
    """The claims about some heads of a layer that are not refuted yet.

    They are sorted into *buckets*: bucket 2 · h holds those that head h promotes a pair, bucket 2 · h + 1 those that it
    suppresses one. Of the latter the row is negated, so that of all of them only larger entries count.
    """

    heads: int
    bucket: Tensor  # [n] ascending
    pair: Tensor  # [n] index into the query's pairs
    source: Tensor  # [n] index into the vectors x
    k: Tensor  # [n]
    rows: Tensor  # [n, d_head] a = x W_V, or its negative
    high: Tensor  # [n] what an entry has to exceed to be surely larger than the target's

    def unrefuted(self, tokens: Tensor, compare: Compare) -> Self:  # tokens [H or 2 H, m, d_head]
        """The claims for which fewer than k of the tokens have larger entries; tokens are given per head or bucket."""
        above = torch.empty_like(self.high)
        start = 0
        for own_tokens, count in zip(tokens, self.counts(len(tokens)), strict=True):
            own = slice(start, start + count)
            start += count
            if count:
                compare.above(self.rows[own], own_tokens, self.high[own], above[own])
        left = (above < self.k).nonzero().squeeze(1)
        return replace(
            self,
            bucket=self.bucket.index_select(0, left),
            pair=self.pair.index_select(0, left),
            source=self.source.index_select(0, left),
            k=self.k.index_select(0, left),
            rows=self.rows.index_select(0, left),
            high=self.high.index_select(0, left),
        )

    def counts(self, groups: int) -> list[int]:
        """How many claims each head has (with as many groups as heads), or each bucket (with twice as many)."""
        buckets = 2 * self.heads // groups  # of a group
        counts: list[int] = torch.bincount(self.bucket // buckets, minlength=groups).tolist()
        return counts


def _first_look(products: _Products, query: Query, compare: Compare) -> _Claims:
    """Compare every pair's entry with those of a few targets; what may still be a hit becomes a claim."""
    heads, pairs = len(products.b), len(query.k)
    share = heads // len(products.a)
    rows = products.a.index_select(1, query.source_of)  # [H_kv, P, d_head]; faster than [...]
    values = []
    for head, b in enumerate(products.b):
        values.append(torch.linalg.vecdot(rows[head // share], b.index_select(0, query.target_of)))
    value = torch.stack(values)  # [H, P] the targets' entries
    slack = products.slack.index_select(1, query.source_of)  # [H, P]
    high, low = value + slack, value - slack
    counts = value.new_empty(heads, 2, pairs)  # surely larger entries, surely smaller entries
    for head, tokens in enumerate(products.b[:, : _FIRST_TARGETS * products.k]):
        compare.both(rows[head // share], tokens, high[head], low[head], counts[head])
    bucket, pair = (counts < query.k).flatten(0, 1).nonzero().unbind(1)
    value_head = bucket // (2 * share)
    way = bucket % 2
    claim_rows = rows.flatten(0, 1).index_select(0, value_head * pairs + pair).mul_(signs(way))
    bounds = torch.stack([high, -low], 1)  # [H, 2, P]: to be smaller than low is, negated, to be larger than -low
    claim_high = bounds.flatten().index_select(0, bucket * pairs + pair)
    source = query.source_of.index_select(0, pair)
    return _Claims(heads, bucket, pair, source, query.k.index_select(0, pair), claim_rows, claim_high)


def _survivors(heads: _LayerHeads, inputs: Inputs, claims: _Claims, first_owner: int) -> Survivors:
    """The remaining claims, sorted by the row that they are about, with the rows from float64 products."""
    rows, index = (claims.bucket * len(heads.x) + claims.source).unique(return_inverse=True)
    order = index.argsort(stable=True)
    index, pair = index[order], claims.pair[order]
    bucket = claims.bucket[order]
    owner = bucket // 2 + first_owner
    way = bucket % 2
    a, q = _row_vectors(heads, rows)
    rows_of_heads = torch.bincount(rows // (2 * len(heads.x)), minlength=len(heads.w_o)).tolist()
    crowded = {}
    for head, w_o in enumerate(heads.w_o):
        if is_crowded(rows_of_heads[head], *w_o.shape):
            crowded[first_owner + head] = w_o.clone()
    targets = inputs.targets.index_select(0, inputs.query.target_of[pair])
    not_zero = q.any(1)[index]
    survivors = Survivors(
        owner=owner,
        way=way,
        pair=pair,
        k=claims.k[order],
        value=torch.linalg.vecdot(q.index_select(0, index), targets.double()),
        above=torch.zeros_like(pair),
        near=torch.full_like(pair, -1),  # the target itself will be found among the near ones
        index=index,
        a=a.float(),
        q=q.float(),
        tied=torch.stack([way, owner, pair], 1)[~not_zero],
        crowded=crowded,
    )
    return survivors.take(not_zero.nonzero().squeeze(1))


def _row_vectors(heads: _LayerHeads, rows: Tensor) -> tuple[Tensor, Tensor]:  # [r] → [r, d_head], [r, d] float64
    """X W_V and x W_V W_O of rows, each given as bucket · S + source and ascending."""
    _, d_head, d = heads.w_o.shape
    bucket, source = rows // len(heads.x), rows % len(heads.x)
    x = heads.x.index_select(0, source).double().mul_(signs(bucket % 2))
    a = x.new_empty(len(rows), d_head)
    q = x.new_empty(len(rows), d)
    start = 0
    for head, count in enumerate(torch.bincount(bucket // 2, minlength=len(heads.w_o)).tolist()):
        own = slice(start, start + count)
        start += count
        torch.mm(x[own], heads.w_v[head // heads.share].double(), out=a[own])
        torch.mm(a[own], heads.w_o[head].double(), out=q[own])
    return a, q
