"""Gates fitted to a task: which heads help, hurt or do not matter (Causal Head Gating).

Nam et al., "Causal Head Gating", NeurIPS 2025, arXiv 2505.13737. One gate a head, G = sigmoid(logit), multiplies the
head's output. With frozen weights one minimises

    mean NLL of the target tokens − λ · mean over heads of clamp(logit, −4, +4)

first with λ = 0 from random gates, then, from where that ended, once with +λ (gates that may open do: G⁺) and once with
−λ (gates that may close do: G⁻). The two pushes of all seeds run as variants of one batch. A fit is a value: it can be
saved after any update and goes on exactly as if it had not been stopped.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from analysis.causal import GateSettings
from analysis.errors import StoreError
from analysis.gated_model import GatedModel
from analysis.prompts import Batch, Encoded, batches

LIMIT = 4.0  # the push ends where a logit is beyond it
_BETAS, _EPS = (0.9, 0.999), 1e-8  # Adam's own defaults

Floats = np.ndarray[Any, np.dtype[np.float32]]


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

    def pushed(self) -> Self:
        """Every seed twice, with a new optimiser: the start of the second stage."""
        twice = np.concatenate([self.logits, self.logits])
        return replace(self, logits=twice, mean=np.zeros_like(twice), square=np.zeros_like(twice))

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


def advance(model: GatedModel, items: Sequence[Encoded], settings: GateSettings, fit: Fit, updates: int) -> Fit:
    """The fit some updates further, but not beyond the end of its stage."""
    if fit.update == settings.free_updates and len(fit.logits) == len(fit.seeds):
        fit = fit.pushed()
    second = len(fit.logits) > len(fit.seeds)
    begin, end = (settings.free_updates, settings.total) if second else (0, settings.free_updates)
    push = np.repeat([settings.push, -settings.push], len(fit.seeds)) if second else np.zeros(len(fit.seeds))
    stage = _Stage(model, fit, torch.tensor(push, dtype=torch.float32, device=model.device), settings.clip)
    rates = settings.push_rate if second else settings.free_rate
    stop = min(fit.update + updates, end)
    losses = []
    for update, batch in zip(range(fit.update, stop), batches(items, settings.batch, fit.update), strict=False):
        along = (update - begin) / max(end - begin - 1, 1)
        losses.append(stage.step(batch, rates[0] + (rates[1] - rates[0]) * along, update - begin + 1))
    seen = np.array(losses, np.float32).reshape(len(losses), len(fit.logits))
    fit = replace(stage.fit(fit), update=stop)
    if second:
        return replace(fit, push_nll=np.concatenate([fit.push_nll, seen]))
    return replace(fit, free_nll=np.concatenate([fit.free_nll, seen]))


class _Stage:
    """Gates on the device while they are being fitted."""

    def __init__(self, model: GatedModel, fit: Fit, push: Tensor, clip: float) -> None:
        self._model, self._push, self._clip = model, push, clip
        at = model.device
        self._logits, self._mean, self._square = (
            torch.tensor(part, device=at) for part in (fit.logits, fit.mean, fit.square)
        )

    def step(self, batch: Batch, rate: float, number: int) -> list[float]:
        """One update of every variant; their losses before it."""
        nll, gradient = loss_and_gradient(self._model, batch, self._logits, self._push)
        norm = gradient.flatten(1).norm(dim=1)[:, None, None]
        gradient = gradient * (self._clip / (norm + 1e-6)).clamp(max=1)
        self._mean = torch.lerp(gradient, self._mean, _BETAS[0])
        self._square = torch.lerp(gradient.square(), self._square, _BETAS[1])
        root = (self._square / (1 - _BETAS[1] ** number)).sqrt() + _EPS
        self._logits = self._logits - rate * self._mean / (1 - _BETAS[0] ** number) / root
        losses: list[float] = nll.tolist()
        return losses

    def fit(self, before: Fit) -> Fit:
        """Back to plain arrays."""
        logits, mean, square = (part.cpu().numpy() for part in (self._logits, self._mean, self._square))
        return replace(before, logits=logits, mean=mean, square=square)


def loss_and_gradient(model: GatedModel, batch: Batch, logits: Tensor, push: Tensor) -> tuple[Tensor, Tensor]:
    """The mean NLL of each variant [V], and the gradient of its whole loss by its logits [V, L, H]."""
    with torch.enable_grad():
        free = logits.detach().requires_grad_()
        nll = -model.log_probs(batch, torch.sigmoid(free)).mean(1)
        loss = nll - push * free.clamp(-LIMIT, LIMIT).mean((1, 2))
        (gradient,) = torch.autograd.grad(loss.sum(), free)
    return nll.detach(), gradient


def untouched(model: GatedModel, items: Sequence[Encoded], batch: int) -> tuple[list[float], list[bool]]:
    """Each item's mean NLL, and whether the model would have written it all, with every gate at 1."""
    open_gates = torch.ones(1, len(model.card.layers), model.card.heads, device=model.device)
    nll: list[float] = []
    right: list[bool] = []
    with torch.no_grad():
        for start in range(0, len(items), batch):
            part = Batch.of(items[start : start + batch])
            log_probs, best = model.log_probs(part, open_gates)[0].cpu().numpy(), model.best(part).cpu().numpy()
            for row in range(len(part.ids)):
                nll.append(float(-log_probs[part.rows == row].mean()))
                right.append(bool(best[part.rows == row].all()))
    return nll, right


def first_batch(items: Sequence[Encoded], size: int) -> Batch:
    """The batch that a fit begins with."""
    return next(islice(batches(items, size), 1))
