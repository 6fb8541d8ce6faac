"""The function map: which relations each head implements, read from its weights alone.

Elhelo & Geva, "Inferring Functionality of Attention Heads from their Parameters" (MAPS), ACL 2025, arXiv 2412.11965.

    M[l,h] = X_l · W_V[l,h] · W_O[l,h] · U      row s, column t: how strongly the head maps token s to token t
    X_0 = E ;  X_l = MLP_0(norm_0(E)) for l ≥ 1

A pair (s, t) is *promoted* when fewer than k entries of row s are strictly larger than entry t, *suppressed* when
fewer than k are strictly smaller. M has V² entries a head and is never formed. A head implements few of the pairs, so
most of the work is to show quickly that a pair is no hit, which takes only k larger and k smaller entries, anywhere:

1. `_eliminate` looks at a few hundred tokens a head: first some of the targets (their products are needed anyway),
   then the tokens that the head moves most for the average source, then all targets. A few per cent of the pairs stay.
2. `_count` meets the survivors of many layers with the whole unembedding, tile by tile, dropping pairs as they are
   decided. A head with many survivors is multiplied through d_head, the others together through d.
3. `_resolve` decides in float64 what float32 could not: the pairs whose count depends on entries within rounding error
   of the target's. So the result is that of float64 arithmetic on X, whatever the shortcut.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import torch
from torch import Tensor

from analysis.progress import Progress, silent
from analysis.weights import Weights

_FIRST_LOOK, _SECOND_LOOK = 13, 104  # targets looked at, as multiples of k; of a random head 15 % and 2 % then stay
_SIDE = 13  # tokens the head moves most, each way, as a multiple of k
_SAMPLE = 4096  # rows of U, from the first on, among which those tokens are sought
_TILE = 4096  # rows of U multiplied at once
_BLOCK = 1 << 21  # products compared at once
_GROUP_LAYERS = 16  # looked through before their survivors are counted, so that a stopped run has something to keep
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


_PER_ROW = ("owner", "pair", "k", "a", "q", "value", "above", "below")


@dataclass
class Survivors:
    """Pairs that may still be hits of some head: a row of M each, known by its vector q = x W_V W_O."""

    owner: Tensor  # [n] index into the list of heads (layer · H + head, in the order of the run)
    pair: Tensor  # [n] index into the query's pairs
    k: Tensor  # [n]
    a: Tensor  # [n, d_head] float64: x W_V
    q: Tensor  # [n, d] float32
    value: Tensor  # [n] float64: the target's entry, q · u_t
    above: Tensor  # [n] entries seen that are surely larger
    below: Tensor  # [n] surely smaller
    tied: Tensor  # [m, 2] owner and pair of rows that are zero throughout: all entries tie, so both ways a hit
    crowded: dict[int, Tensor] = field(default_factory=dict)  # owner → W_O [d_head, d] of heads with many survivors

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """One after the other."""
        names = (*_PER_ROW, "tied")
        joined: dict[str, Any] = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
        return cls(**joined, crowded={owner: w for part in parts for owner, w in part.crowded.items()})

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def bytes(self) -> int:
        """What the rows occupy, nearly."""
        return self.q.nbytes + self.a.nbytes + sum(w.nbytes for w in self.crowded.values())

    def take(self, chosen: Tensor) -> Self:
        """Only the chosen rows."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _PER_ROW})

    def undecided(self) -> Tensor:  # [n] bool
        """Rows that can still be a hit one way or the other."""
        return (self.above < self.k) | (self.below < self.k)


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
    torch.set_float32_matmul_precision("highest")  # the margins below assume real float32 products
    query = query.to(weights.device)
    look = _Look.at(weights, query, first_mlp)
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
    """Counts, row by row, how many products with `upper` lie above `high` and how many with `lower` lie below `low`.

    Its two buffers are kept: fresh memory for every product would cost as much time as the comparison.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._block = _BLOCK if device.type == "cpu" else 64 * _BLOCK  # a GPU wants much to do at once
        self._buffers: dict[torch.dtype, Tensor] = {}

    def __call__(self, rows: Tensor, upper: Tensor, lower: Tensor, high: Tensor, low: Tensor) -> tuple[Tensor, Tensor]:
        above, below = torch.empty_like(high), torch.empty_like(low)
        step = max(1, self._block // max(len(upper), len(lower)))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            products, flags = self._room(rows[part], upper)
            torch.mm(rows[part], upper.T, out=products)
            # Flags are numbers, not bools: comparing into them and summing them is several times faster.
            torch.sum(torch.gt(products, high[part, None], out=flags), 1, out=above[part])
            if lower is not upper:
                products, flags = self._room(rows[part], lower)
                torch.mm(rows[part], lower.T, out=products)
            torch.sum(torch.lt(products, low[part, None], out=flags), 1, out=below[part])
        return above, below

    def _room(self, rows: Tensor, columns: Tensor) -> Tensor:  # [2, n, m]
        size = len(rows) * len(columns)
        buffer = self._buffers.get(rows.dtype)
        if buffer is None or buffer.numel() < 2 * size:
            buffer = torch.empty(2 * size, dtype=rows.dtype, device=self._device)
            self._buffers[rows.dtype] = buffer
        return buffer[: 2 * size].view(2, len(rows), len(columns))


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
    card = weights.card
    w_v, w_o = _unit(weights.values(layer)), _unit(weights.outputs(layer))  # [H_kv, d, d_head], [H, d_head, d]
    x = look.x(weights, layer)
    a_all = torch.einsum("sd,gde->gse", x, w_v)  # [H_kv, S, d_head]
    k = int(query.k.max())
    moved = _most_moved(a_all, w_o, look.sample, _SIDE * k)
    rounding = _SAFETY * _UNIT * (card.width**0.5 + card.head_dim**0.5)
    x_norm = rounding * x.norm(dim=1)
    parts = []
    for head in range(card.heads):
        group = head // (card.heads // card.kv_heads)
        a, b = a_all[group], look.targets @ w_o[head].T  # [S, d_head], [T, d_head]
        error_a = x_norm * w_v[group].norm()  # [S] of the vector a
        error_b = rounding * w_o[head].norm() * look.u_norm  # of the vector b of any token
        looks = _looks(b, look.sample, moved[:, head], w_o[head], k)
        alive = _undecided(look.compare, a, b, error_a, error_b, query, looks)
        parts.append(_survivors(x, w_v[group], w_o[head], look, query, alive, position * card.heads + head))
    return Survivors.join(parts)


def _unit(matrices: Tensor) -> Tensor:
    """Each matrix times the power of two that brings its largest entry to about 1.

    A positive factor changes no order, and float32 norms of very small heads do not vanish.
    """
    exponent = torch.frexp(matrices.abs().amax((1, 2), keepdim=True)).exponent
    return torch.ldexp(matrices, -exponent)


def _most_moved(a: Tensor, w_o: Tensor, sample: Tensor, count: int) -> Tensor:  # [2, H, count] indices into the sample
    """The tokens that each head promotes and suppresses most for its average source."""
    average = a.mean(1).repeat_interleave(len(w_o) // len(a), 0)  # [H, d_head]
    moved = torch.einsum("he,hed->hd", average, w_o) @ sample.T  # [H, sample]
    count = min(count, sample.shape[0])
    return torch.stack([moved.topk(count).indices, (-moved).topk(count).indices])


def _looks(b: Tensor, sample: Tensor, moved: Tensor, w_o: Tensor, k: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Vectors b of tokens to compare with, in order: where larger and where smaller entries are sought."""
    first = b[: _FIRST_LOOK * k]
    yield first, first
    most, least = (sample[moved] @ w_o.T).unbind(0)
    yield most, least
    second = b[: _SECOND_LOOK * k]
    yield second, second
    yield b, b


def _undecided(
    compare: _Compare,
    a: Tensor,
    b: Tensor,
    error_a: Tensor,
    error_b: Tensor,
    query: Query,
    looks: Iterator[tuple[Tensor, Tensor]],
) -> Tensor:  # indices into P
    """Pairs for which no look found k larger and k smaller entries, rounding allowed for."""
    alive = torch.arange(len(query.k), device=a.device)
    rows, targets = a[query.source_of], b[query.target_of]
    value = (rows * targets).sum(1)
    slack_a, slack_b = error_a[query.source_of], 2 * error_b * rows.norm(dim=1)
    b_norm = b.norm(dim=1).max()
    k = query.k
    for upper, lower in looks:
        margin = slack_a * (b_norm + upper.norm(dim=1).max().maximum(lower.norm(dim=1).max())) + slack_b
        above, below = compare(rows, upper, lower, value + margin, value - margin)
        chosen = ((above < k) | (below < k)).nonzero().squeeze(1)
        alive, rows, value, k = alive[chosen], rows[chosen], value[chosen], k[chosen]
        slack_a, slack_b = slack_a[chosen], slack_b[chosen]
        if not len(alive):
            break
    return alive


def _survivors(x: Tensor, w_v: Tensor, w_o: Tensor, look: _Look, query: Query, alive: Tensor, owner: int) -> Survivors:
    """The rows of the undecided pairs of one head, from float64 products."""
    a = x[query.source_of[alive]].double() @ w_v.double()
    q = a @ w_o.double()
    some = q.any(1)
    tied = torch.stack([torch.full_like(alive, owner), alive], 1)[~some]
    alive, a, q = alive[some], a[some], q[some]
    value = (q * look.targets[query.target_of[alive]].double()).sum(1)
    zero = torch.zeros_like(value)
    return Survivors(
        owner=torch.full_like(alive, owner),
        pair=alive,
        k=query.k[alive],
        a=a,
        q=q.float(),
        value=value,
        above=zero,
        below=zero.clone(),
        tied=tied,
        crowded={owner: w_o.clone()} if _many(len(alive), *w_o.shape) else {},
    )


def _verdicts(
    weights: Weights, query: Query, look: _Look, rows: Survivors, layers: Sequence[int], progress: Progress
) -> Tensor:  # [layer, 2, H, P] bool
    """Which pairs each head of a group of layers promotes and suppresses."""
    rows = _count(weights, look.compare, rows, progress)
    others = weights.vocabulary - 1  # all but the target itself
    unsure = others - rows.above - rows.below
    hits = torch.stack([rows.above + unsure < rows.k, rows.below + unsure < rows.k])
    open_ = torch.stack([rows.above < rows.k, rows.below < rows.k]) & ~hits
    doubtful = open_.any(0).nonzero().squeeze(1)
    if len(doubtful):
        for some in doubtful.split(_TILE):  # few, unless a model has many equal tokens
            hits[:, some] = _resolve(weights, look, query, rows.take(some), layers)
    verdict = torch.zeros(2, len(layers) * weights.card.heads, len(query.k), dtype=torch.bool)
    verdict[:, rows.owner.cpu(), rows.pair.cpu()] = hits.cpu()
    verdict[:, rows.tied[:, 0].cpu(), rows.tied[:, 1].cpu()] = True
    return verdict.view(2, len(layers), weights.card.heads, -1).transpose(0, 1)


def _tiles(weights: Weights) -> Iterator[Tensor]:
    """All rows of U, a few thousand at a time.

    In their own order: tokenizers number tokens from common to rare, and common tokens decide most pairs.
    """
    for start in range(0, weights.vocabulary, _TILE):
        yield weights.unembed_span(start, min(start + _TILE, weights.vocabulary))


def _count(weights: Weights, compare: _Compare, rows: Survivors, progress: Progress) -> Survivors:
    """Count larger and smaller entries over the whole vocabulary, for as long as a row is undecided."""
    total = -(-weights.vocabulary // _TILE)
    for done, tile in enumerate(_tiles(weights), start=1):
        if not len(rows):
            break
        _count_tile(compare, rows, tile)
        rows = rows.take(rows.undecided().nonzero().squeeze(1))
        progress("counting over the vocabulary", done, total)
    return rows


def _count_tile(compare: _Compare, rows: Survivors, tile: Tensor) -> None:
    """Add one tile's larger and smaller entries to every row's counts."""
    d, u_norm = tile.shape[1], tile.norm(dim=1).max()
    crowded, plain = _split(rows, d)
    if crowded:
        dim = len(next(iter(rows.crowded.values())))
        w_o = [rows.crowded[owner] for owner, _ in crowded]
        b = (tile @ torch.cat(w_o).T).split(dim, dim=1)  # of each crowded head [tile, d_head]
        for i, (_, mine) in enumerate(crowded):
            a = rows.a[mine]
            scale = a.norm(dim=1) * w_o[i].norm() * u_norm * (d**0.5 + dim**0.5)
            _add(compare, rows, mine, a.float(), b[i], scale)
    for some in plain.split(_TILE):
        q = rows.q[some]
        _add(compare, rows, some, q, tile, q.norm(dim=1) * u_norm * d**0.5)


def _split(rows: Survivors, d: int) -> tuple[list[tuple[int, slice]], Tensor]:
    """The rows of heads that have so many that going through d_head is less work; the indices of all others."""
    owners, counts = rows.owner.unique_consecutive(return_counts=True)
    plain = torch.ones(len(rows), dtype=torch.bool, device=rows.owner.device)
    crowded, start = [], 0
    for owner, count in zip(owners.tolist(), counts.tolist(), strict=True):
        w_o = rows.crowded.get(owner)
        if w_o is not None and _many(count, len(w_o), d):
            crowded.append((owner, slice(start, start + count)))
            plain[start : start + count] = False
        start += count
    return crowded, plain.nonzero().squeeze(1)


def _many(count: int, d_head: int, d: int) -> bool:
    """Whether (tile · W_O) · a takes fewer operations than tile · q."""
    return count * d > d_head * d + count * d_head


def _add(
    compare: _Compare, rows: Survivors, chosen: slice | Tensor, left: Tensor, right: Tensor, scale: Tensor
) -> None:
    margin = _SAFETY * _UNIT * scale
    value = rows.value[chosen]
    above, below = compare(left, right, right, (value + margin).float(), (value - margin).float())
    rows.above[chosen] += above
    rows.below[chosen] += below


def _resolve(
    weights: Weights, look: _Look, query: Query, rows: Survivors, layers: Sequence[int]
) -> Tensor:  # [2, n] bool
    """The hits of the few rows that float32 could not decide, in float64 over the whole vocabulary."""
    heads = weights.card.heads
    q = torch.empty_like(rows.q, dtype=torch.float64)
    for owner in rows.owner.unique().tolist():
        mine = rows.owner == owner
        q[mine] = rows.a[mine] @ weights.outputs(layers[owner // heads])[owner % heads].double()
    value = (q * look.targets[query.target_of[rows.pair]].double()).sum(1)
    above, below = torch.zeros_like(value), torch.zeros_like(value)
    for tile in _tiles(weights):
        u = tile.double()
        tie = _TIE * q.norm(dim=1) * u.norm(dim=1).max()
        more, less = look.compare(q, u, u, value + tie, value - tie)
        above += more
        below += less
    return torch.stack([above < rows.k, below < rows.k])
