"""A fit of gates as a value: what it is after so many updates, and how it is kept. Nothing here loads torch."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from analysis.errors import StoreError

Floats = np.ndarray[Any, np.dtype[Any]]

LIMIT = 4.0  # the push ends where a gate's logit is beyond it


@dataclass(frozen=True)
class Gates:
    """One seed's fitted gates of one task."""

    open: Floats  # [L, H] G⁺
    shut: Floats  # [L, H] G⁻
    curves: dict[str, list[float]]  # NLL at every update: free, open, shut

    def roles(self) -> Floats:  # [role, L, H]
        """F, N and R of every head."""
        return np.stack([self.shut, 1 - self.open, self.open * (1 - self.shut)])


@dataclass(frozen=True)
class Fit:
    """Some seeds' gates after a number of updates."""

    seeds: tuple[int, ...]
    update: int  # done so far, over both stages
    logits: Floats  # [V, L, H]: a seed each, then the seeds pushed open followed by the seeds pushed shut
    mean: Floats  # Adam's running mean of the gradient
    square: Floats  # and of its square
    free_nll: Floats  # [updates of the first stage, S]
    push_nll: Floats  # [updates of the second stage, 2 S]

    @classmethod
    def begin(cls, seeds: Sequence[int], layers: int, heads: int) -> Self:
        """Gates drawn uniformly, each seed's from its own generator."""
        drawn = [np.random.default_rng([20250514, seed]).uniform(size=(layers, heads)) for seed in seeds]
        gates = np.clip(np.stack(drawn), 0.001, 0.999)
        logits = np.log(gates / (1 - gates)).astype(np.float32)
        zero = np.zeros_like(logits)
        nothing = (np.zeros((0, len(seeds)), np.float32), np.zeros((0, 2 * len(seeds)), np.float32))
        return cls(tuple(seeds), 0, logits, zero, zero, *nothing)

    @property
    def second(self) -> bool:
        """Whether the gates are being pushed."""
        return len(self.logits) > len(self.seeds)

    def pushed(self) -> Self:
        """Every seed twice, with a new optimiser: the start of the second stage."""
        twice = np.concatenate([self.logits, self.logits])
        return replace(self, logits=twice, mean=np.zeros_like(twice), square=np.zeros_like(twice))

    def of_seed(self, at: int) -> Self:
        """One of the seeds alone."""
        both = [at, at + len(self.seeds)] if self.second else [at]
        parts = {name: getattr(self, name)[both] for name in ("logits", "mean", "square")}
        pushes = self.push_nll[:, [at, at + len(self.seeds)]]
        return replace(self, seeds=(self.seeds[at],), free_nll=self.free_nll[:, [at]], push_nll=pushes, **parts)

    def gates(self) -> Iterator[tuple[int, Gates]]:
        """Each seed's gates as they are now; before the second stage nothing is known of them."""
        count = len(self.seeds)
        values = 1 / (1 + np.exp(-self.logits.astype(np.float64)))
        for at, seed in enumerate(self.seeds if self.second else ()):
            curves = (self.free_nll[:, at], self.push_nll[:, at], self.push_nll[:, at + count])
            rounded = [np.round(curve.astype(np.float64), 4).tolist() for curve in curves]
            named = dict(zip(("free", "open", "shut"), rounded, strict=True))
            yield seed, Gates(values[at], values[at + count], named)

    def to_bytes(self) -> bytes:
        """A file of plain arrays."""
        sink = io.BytesIO()
        arrays: dict[str, Any] = {name: np.asarray(getattr(self, name)) for name in self.__dataclass_fields__}
        np.savez_compressed(sink, **arrays)
        return sink.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                fields = {name: arrays[name] for name in cls.__dataclass_fields__}
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise StoreError("a stored fit cannot be read", "It begins anew.") from error
        return cls(**{**fields, "seeds": tuple(fields["seeds"].tolist()), "update": int(fields["update"])})
