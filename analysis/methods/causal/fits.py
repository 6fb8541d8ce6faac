"""A fit of gates as a value: its gates after a number of updates, and its file format. Nothing here loads torch.

A fit goes through two stages. In the *free* stage every seed has one set of gates, without a push. In the *pushed*
stage every seed has two: a copy that is pushed open (G⁺) and a copy that is pushed shut (G⁻), each with an optimiser of
its own. A contrastive fit has a single stage and stays *free*: one set of gates per seed throughout.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self
from zipfile import BadZipFile

import numpy as np

from analysis.errors import StoreError

GateArray = np.ndarray[Any, np.dtype[Any]]
FitStage = Literal["free", "pushed"]

LIMIT = 4.0  # the push ends where a gate's logit is beyond it

_SEED_BASE = 20250514  # with the seed's number it determines the random initialisation
_GATE_MARGIN = 0.001  # initial gates stay this far from 0 and 1, so that their logits are finite


@dataclass(frozen=True)
class FittedGates:
    """One seed's fitted gates of one task."""

    open: GateArray  # [L, H] G⁺
    shut: GateArray  # [L, H] G⁻
    curves: dict[str, list[float]]  # NLL at every update: free, open, shut

    def roles(self) -> GateArray:  # [role, L, H]
        """F, N and R of every head."""
        facilitation = self.shut
        interference = 1 - self.open
        irrelevance = self.open * (1 - self.shut)
        return np.stack([facilitation, interference, irrelevance])


@dataclass(frozen=True)
class Fit:
    """The gates of S seeds after a number of updates, with the state of their optimiser.

    The first axis of `logits`, `mean` and `square` is the *variant*. There are V = S variants in the free stage, one
    per seed, and V = 2 S in the pushed stage: all seeds pushed open, then all seeds pushed shut.
    """

    seeds: tuple[int, ...]  # S of them
    stage: FitStage
    update: int  # updates done so far, over both stages
    logits: GateArray  # [V, L, H]
    mean: GateArray  # [V, L, H] Adam's running mean of the gradient
    square: GateArray  # [V, L, H] Adam's running mean of the squared gradient
    free_nll: GateArray  # [updates of the free stage, S]
    push_nll: GateArray  # [updates of the pushed stage, 2 S]

    @classmethod
    def begin(cls, seeds: Sequence[int], layers: int, heads: int) -> Self:
        """A random initialisation: gates drawn uniformly, each seed's from its own generator."""
        drawn = []
        for seed in seeds:
            generator = np.random.default_rng([_SEED_BASE, seed])
            drawn.append(generator.uniform(size=(layers, heads)))
        gates = np.clip(np.stack(drawn), _GATE_MARGIN, 1 - _GATE_MARGIN)
        logits = np.log(gates / (1 - gates)).astype(np.float32)
        return cls(
            seeds=tuple(seeds),
            stage="free",
            update=0,
            logits=logits,
            mean=np.zeros_like(logits),
            square=np.zeros_like(logits),
            free_nll=np.zeros((0, len(seeds)), np.float32),
            push_nll=np.zeros((0, 2 * len(seeds)), np.float32),
        )

    def pushed(self) -> Self:
        """The start of the pushed stage: every seed's gates twice, with a new optimiser."""
        twice = np.concatenate([self.logits, self.logits])
        return replace(self, stage="pushed", logits=twice, mean=np.zeros_like(twice), square=np.zeros_like(twice))

    def of_seed(self, index: int) -> Self:
        """The fit of one seed alone, given by its position among the seeds."""
        pushes = [index, index + len(self.seeds)]  # its copy that is pushed open, its copy that is pushed shut
        variants = pushes if self.stage == "pushed" else [index]
        return replace(
            self,
            seeds=(self.seeds[index],),
            logits=self.logits[variants],
            mean=self.mean[variants],
            square=self.square[variants],
            free_nll=self.free_nll[:, [index]],
            push_nll=self.push_nll[:, pushes],
        )

    def gates(self) -> Iterator[tuple[int, FittedGates]]:
        """Each seed with its gates as they are now; none in the free stage, which has neither G⁺ nor G⁻."""
        if self.stage == "free":
            return
        values = 1 / (1 + np.exp(-self.logits.astype(np.float64)))
        for index, seed in enumerate(self.seeds):
            pushed_open, pushed_shut = index, index + len(self.seeds)
            curves = {
                "free": _curve(self.free_nll[:, index]),
                "open": _curve(self.push_nll[:, pushed_open]),
                "shut": _curve(self.push_nll[:, pushed_shut]),
            }
            yield seed, FittedGates(values[pushed_open], values[pushed_shut], curves)

    def to_bytes(self) -> bytes:
        """A compressed file of plain arrays, one per field."""
        sink = io.BytesIO()
        np.savez_compressed(
            sink,
            seeds=np.asarray(self.seeds),
            stage=np.asarray(self.stage),
            update=np.asarray(self.update),
            logits=self.logits,
            mean=self.mean,
            square=self.square,
            free_nll=self.free_nll,
            push_nll=self.push_nll,
        )
        return sink.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                seeds = tuple(arrays["seeds"].tolist())
                logits = arrays["logits"]
                return cls(
                    seeds=seeds,
                    stage=_stored_stage(arrays, len(seeds), len(logits)),
                    update=int(arrays["update"]),
                    logits=logits,
                    mean=arrays["mean"],
                    square=arrays["square"],
                    free_nll=arrays["free_nll"],
                    push_nll=arrays["push_nll"],
                )
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise StoreError("a stored fit cannot be read", "It will be fitted again from the start.") from error


def _stored_stage(arrays: Any, seeds: int, variants: int) -> FitStage:
    """The stage of a stored fit; older files do not name it, but only the pushed stage has more variants than seeds."""
    if "stage" not in arrays:
        return "pushed" if variants > seeds else "free"
    match str(arrays["stage"]):
        case "free":
            return "free"
        case "pushed":
            return "pushed"
        case other:
            raise ValueError(f"a fit has no stage {other}")


def _curve(nll: GateArray) -> list[float]:
    """A loss curve in the precision that is shown and stored."""
    rounded: list[float] = np.round(nll.astype(np.float64), 4).tolist()
    return rounded
