"""The second pass: the survivors' larger entries, counted over the whole vocabulary."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.compute.hits.comparison import Bounds, Compare
from analysis.compute.hits.rounding import relative_error
from analysis.compute.hits.survivors import Survivors, is_crowded
from analysis.compute.hits.unembedding import Unembedding, tile_count, tiles
from analysis.progress import Progress

_ROWS = 4096  # rows that are compared with a tile together
_FACTORS = 1024  # columns of the product of a tile with the W_O of several heads


def count_larger(
    unembedding: Unembedding, compare: Compare, survivors: Survivors, progress: Progress
) -> Survivors:  # fewer
    """Compare the claims with one tile of U after the other, for as long as they are not refuted."""
    total = tile_count(unembedding)
    for done, tile in enumerate(tiles(unembedding), start=1):
        if not len(survivors):
            break
        _count_tile(compare, survivors, tile)
        survivors = survivors.unrefuted()
        progress("counting over the vocabulary", done, total)
    return survivors


def _count_tile(compare: Compare, survivors: Survivors, tile: Tensor) -> None:  # tile [m, d]
    """Add one tile's larger and near entries to every claim's counts."""
    d, d_head = tile.shape[1], survivors.a.shape[1]
    u_norm = tile.norm(dim=1).max()
    crowded, plain = _split(survivors, d)
    heads_together = max(1, _FACTORS // d_head)
    for start in range(0, len(crowded), heads_together):
        some = crowded[start : start + heads_together]
        _count_crowded(compare, survivors, some, tile, u_norm)
    for claims in plain.split(_ROWS):
        index, row = survivors.index.index_select(0, claims).unique_consecutive(return_inverse=True)
        rows = survivors.q.index_select(0, index)
        _add(compare, survivors, claims, row, rows, tile, relative_error(d) * u_norm)


def _count_crowded(
    compare: Compare, survivors: Survivors, crowded: Sequence[tuple[int, Tensor]], tile: Tensor, u_norm: Tensor
) -> None:
    """The same for heads with many claims, through d_head: (tile · W_Oᵀ) · a, the first product for all heads."""
    d, d_head = tile.shape[1], survivors.a.shape[1]
    w_o = [survivors.crowded[owner] for owner, _ in crowded]
    products = compare.product(tile, torch.cat(w_o)).split(d_head, dim=1)  # of each head [m, d_head]
    for (_, claims), tokens, w_o_of_head in zip(crowded, products, w_o, strict=True):
        index, row = survivors.index.index_select(0, claims).unique_consecutive(return_inverse=True)
        rows = survivors.a.index_select(0, index)
        _add(compare, survivors, claims, row, rows, tokens, relative_error(d, d_head) * w_o_of_head.norm() * u_norm)


def _split(survivors: Survivors, d: int) -> tuple[list[tuple[int, Tensor]], Tensor]:
    """The heads for which going through d_head is less work, each with its claims; the claims of all others."""
    owners, owner_of, counts = survivors.owner.unique_consecutive(return_inverse=True, return_counts=True)
    claims_of = torch.arange(len(survivors), device=owners.device).split(counts.tolist())
    first_of_row = survivors.index.diff(prepend=survivors.index[:1] - 1) != 0
    rows_of = torch.bincount(owner_of[first_of_row], minlength=len(owners))
    crowded: list[tuple[int, Tensor]] = []
    plain = [owners[:0]]
    for owner, claims, rows in zip(owners.tolist(), claims_of, rows_of.tolist(), strict=True):
        if owner in survivors.crowded and is_crowded(rows, survivors.a.shape[1], d):
            crowded.append((owner, claims))
        else:
            plain.append(claims)
    return crowded, torch.cat(plain)


def _add(
    compare: Compare,
    survivors: Survivors,
    claims: Tensor,  # [n] which of the survivors
    row: Tensor,  # [n] the row that each is about
    rows: Tensor,  # [r, ·] the rows' vectors
    tokens: Tensor,  # [m, ·] the vectors of the tokens
    error: Tensor,  # bound on the rounding error of a product, relative to the norm of the row
) -> None:
    """Count the tokens whose entries are surely larger than the target's, and those that may be."""
    margin = (error * rows.norm(dim=1)).index_select(0, row)
    value = survivors.value.index_select(0, claims)
    high, low = (value + margin).float(), (value - margin).float()
    enough = (survivors.k - survivors.above).index_select(0, claims)
    for nearby in compare.near(rows, tokens, Bounds(row, high, low, enough)):
        compared = claims[nearby.claims]
        near = nearby.near_claim.bincount(minlength=len(compared))
        survivors.above.index_add_(0, compared, nearby.above)
        survivors.near.index_add_(0, compared, near)
