"""Entries of M compared with bounds: the inner loop of all passes."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, inf

import torch
from torch import Tensor

BLOCK = 1 << 21  # products compared at once

_FOLD = 32  # products of which only the largest is compared at first


@dataclass(frozen=True)
class Comparison:
    """Some consecutive rows compared with the tokens."""

    rows: slice  # which rows they are
    above: Tensor  # [rows] how many products lie above the row's upper bound; of a refuted row at least enough
    near_row: Tensor  # [m] of each product from the lower to the upper bound its row, counted from the first of `rows`
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
        high: Tensor,  # [n]
        low: Tensor,  # [n]
        enough: Tensor,  # [n]
    ) -> Iterator[Comparison]:
        """Count the products above `high`, and find those from `low` to `high`, of some rows at a time.

        Nearly all products of most rows lie below `low`. So the tokens are folded, and only the largest product of
        each fold is compared at first; folds whose largest reaches `low` are then looked at one by one. A row with
        `enough` folds above `high` is refuted by that alone and not looked at more closely.
        """
        depth = gcd(len(tokens), _FOLD)  # tokens per fold
        for part, products in self._products(rows, tokens):
            folded = products.unflatten(1, (depth, -1))  # [n, depth, folds]: token = level · folds + fold
            folds = folded.shape[2]
            upper = high[part, None]
            lower = low[part, None]
            largest = folded.amax(1)  # [n, folds]
            folds_above = (largest > upper).sum(1)
            undecided = folds_above < enough[part]
            reaching = largest >= lower.where(undecided[:, None], inf)
            row, fold = reaching.nonzero().unbind(1)
            entries = folded[row, :, fold]  # [folds that reach, depth]
            larger = entries > upper[row]
            entries_above = torch.zeros_like(folds_above).index_add_(0, row, larger.sum(1))
            above = torch.where(undecided, entries_above, folds_above)
            index, level = ((entries >= lower[row]) & ~larger).nonzero().unbind(1)
            yield Comparison(part, above, row[index], level * folds + fold[index])

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
