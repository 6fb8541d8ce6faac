"""Entries of M compared with bounds: the inner loop of all passes."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, inf

import torch
from torch import Tensor

BLOCK = 1 << 21  # products compared at once

_FOLD = 32  # products of which only the largest is compared at first


@dataclass(frozen=True)
class Bounds:
    """Claims about rows, several of which may be about the same one, and the bounds of what is near their targets."""

    row: Tensor  # [c] ascending
    high: Tensor  # [c] what is larger is surely larger than the target's entry
    low: Tensor  # [c] what is smaller is surely not
    enough: Tensor  # [c] so many larger entries refute the claim

    def of_rows(self, rows: slice) -> slice:
        """The claims about some consecutive rows."""
        ends = torch.tensor([rows.start, rows.stop], device=self.row.device)
        first, last = torch.searchsorted(self.row, ends).tolist()
        return slice(first, last)


@dataclass(frozen=True)
class Comparison:
    """Some consecutive claims compared with the tokens."""

    claims: slice  # which they are
    above: Tensor  # [claims] how many products lie above the upper bound; of a refuted claim at least enough
    near_claim: Tensor  # [m] of each product between the bounds its claim, counted from the first of `claims`
    near_token: Tensor  # [m] and its token


class Compare:
    """Counts, row by row, how many products with some tokens lie above a bound.

    A row is a vector, a token is a vector, their product is an entry of M. Buffers are reused, and flags are numbers,
    not bools: both make a comparison several times faster.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._block = BLOCK if device.type == "cpu" else 64 * BLOCK  # a GPU wants much to do at once
        self._buffers = {name: torch.empty(0, device=device) for name in ("products", "flags", "factor")}

    def above(
        self,
        rows: Tensor,  # [n, ·]
        tokens: Tensor,  # [m, ·]
        high: Tensor,  # [n]
        out: Tensor,  # [n]
    ) -> None:
        """Count the products above `high`."""
        for part, products in self._products(rows, tokens):
            flags = products.gt_(high[part, None])
            torch.sum(flags, 1, out=out[part])

    def both(
        self,
        rows: Tensor,  # [n, ·]
        tokens: Tensor,  # [m, ·]
        high: Tensor,  # [n]
        low: Tensor,  # [n]
        out: Tensor,  # [2, n]
    ) -> None:
        """Count the products above `high`, and those below `low`."""
        for part, products in self._products(rows, tokens):
            larger = torch.gt(products, high[part, None], out=self._room("flags", *products.shape))
            torch.sum(larger, 1, out=out[0, part])
            smaller = products.lt_(low[part, None])
            torch.sum(smaller, 1, out=out[1, part])

    def near(
        self,
        rows: Tensor,  # [n, ·]
        tokens: Tensor,  # [m, ·]
        claims: Bounds,  # [c]
    ) -> Iterator[Comparison]:
        """Count the products above each claim's upper bound, and find those between its bounds, some rows at a time.

        Nearly all products of most rows lie below. So the tokens are folded, and only the largest product of each fold
        is compared at first; folds whose largest reaches the lower bound are then looked at one by one. A claim with
        `enough` folds above is refuted by that alone and not looked at more closely.
        """
        depth = gcd(len(tokens), _FOLD)  # tokens per fold
        for part, products in self._products(rows, tokens):
            own = claims.of_rows(part)
            row_of = claims.row[own] - part.start  # [c]
            folded = products.unflatten(1, (depth, -1))  # [n, depth, folds]: token = level · folds + fold
            folds = folded.shape[2]
            upper = claims.high[own, None]
            lower = claims.low[own, None]
            largest = folded.amax(1).index_select(0, row_of)  # [c, folds]
            folds_above = (largest > upper).sum(1)
            undecided = folds_above < claims.enough[own]
            reaching = largest >= lower.where(undecided[:, None], inf)
            claim, fold = reaching.nonzero().unbind(1)
            entries = folded[row_of[claim], :, fold]  # [folds that reach, depth]
            larger = entries > upper[claim]
            entries_above = torch.zeros_like(folds_above).index_add_(0, claim, larger.sum(1))
            above = torch.where(undecided, entries_above, folds_above)
            index, level = ((entries >= lower[claim]) & ~larger).nonzero().unbind(1)
            yield Comparison(own, above, claim[index], level * folds + fold[index])

    def product(self, left: Tensor, right: Tensor) -> Tensor:  # [n, ·], [m, ·] → [n, m]
        """The product left · rightᵀ, in memory that the next call uses again."""
        return torch.mm(left, right.T, out=self._room("factor", len(left), len(right)))

    def _products(self, rows: Tensor, tokens: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """The products of all rows with all tokens, in blocks of rows that fit into the cache."""
        step = max(1, self._block // len(tokens))
        for start in range(0, len(rows), step):
            stop = min(start + step, len(rows))
            room = self._room("products", stop - start, len(tokens))
            yield slice(start, stop), torch.mm(rows[start:stop], tokens.T, out=room)

    def _room(self, name: str, rows: int, columns: int) -> Tensor:
        """A buffer of this shape; it grows when it has to."""
        size = rows * columns
        if self._buffers[name].numel() < size:
            self._buffers[name] = torch.empty(size, device=self._device)
        return self._buffers[name][:size].view(rows, columns)
