"""Gates fitted to a task: which heads help, hurt or do not matter (Causal Head Gating).

Nam et al., "Causal Head Gating", NeurIPS 2025, arXiv 2505.13737. Every head has a gate, G = sigmoid(logit), that
multiplies its output. With frozen weights one minimises

    mean NLL of the target tokens − λ · mean over heads of clamp(logit, −4, +4)

first with λ = 0 from a random initialisation (the free stage), then, from where that ended, once with +λ (gates that
may open do: G⁺) and once with −λ (gates that may close do: G⁻; together the pushed stage). All seeds, and both pushes
of each, run as variants of one batch. A fit is a value: it can be saved after any update and goes on exactly as if it
had not been stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from analysis.compute.gated_model import GatedModel
from analysis.data.prompts import Batch, Encoded, batch_order, batches, within
from analysis.methods.causal.fits import LIMIT, Fit, GateArray
from analysis.methods.causal.settings import GateSettings

CONTRAST = 5.0  # a pair whose forget side is less likely by this many nats counts as forgotten

# Adam's own defaults, and the small number that torch adds to a norm before it divides by it.
_MEAN_DECAY = 0.9
_SQUARE_DECAY = 0.999
_ADAM_EPSILON = 1e-8
_CLIP_EPSILON = 1e-6


def advance(model: GatedModel, items: Sequence[Encoded], settings: GateSettings, fit: Fit, updates: int) -> Fit:
    """The fit some updates further, but not beyond the end of its stage."""
    if fit.stage == "free" and fit.update == settings.free_updates:
        fit = fit.pushed()
    schedule = _Schedule.of(settings, fit)
    push = _push(settings, fit, model.device)
    optimiser = Adam(fit, model.device, settings.clip)
    stop = min(fit.update + updates, schedule.end)
    upcoming = batches(items, settings.batch, fit.update)
    losses = []
    for update in range(fit.update, stop):
        nll, gradient = loss_and_gradient(model, next(upcoming), optimiser.logits, push)
        optimiser.step(gradient, schedule.rate(update), schedule.number(update))
        losses.append(nll.tolist())
    fit = replace(optimiser.fit(fit), update=stop)
    if fit.stage == "pushed":
        return replace(fit, push_nll=_extended(fit.push_nll, losses))
    return replace(fit, free_nll=_extended(fit.free_nll, losses))


@dataclass(frozen=True)
class _Schedule:
    """The updates of one stage, and their learning rate, which changes linearly."""

    begin: int  # the stage's first update, counted over both stages
    end: int  # the update after its last one
    first_rate: float
    last_rate: float

    @classmethod
    def of(cls, settings: GateSettings, fit: Fit) -> "_Schedule":
        """The schedule of the stage that a fit is in."""
        if fit.stage == "pushed":
            return cls(settings.free_updates, settings.total, *settings.push_rate)
        return cls(0, settings.free_updates, *settings.free_rate)

    def rate(self, update: int) -> float:
        """The learning rate of an update."""
        progress = (update - self.begin) / max(self.end - self.begin - 1, 1)  # from 0 to 1
        return self.first_rate + (self.last_rate - self.first_rate) * progress

    def number(self, update: int) -> int:
        """An update's number within its stage, counted from 1."""
        return update - self.begin + 1


def _push(settings: GateSettings, fit: Fit, device: torch.device) -> Tensor:  # [V]
    """λ of every variant: none in the free stage, then +λ for the seeds pushed open and −λ for those pushed shut."""
    if fit.stage == "free":
        return torch.zeros(len(fit.seeds), dtype=torch.float32, device=device)
    push_open = torch.full((len(fit.seeds),), settings.push, dtype=torch.float32, device=device)
    return torch.cat([push_open, -push_open])


def _extended(curves: GateArray, losses: list[list[float]]) -> GateArray:  # [updates, V]
    """Loss curves with those of some more updates."""
    more = np.array(losses, np.float32).reshape(len(losses), curves.shape[1])
    return np.concatenate([curves, more])


class Adam:
    """Adam (Kingma & Ba 2015) on independent variants: the gradient of each is clipped by its own norm."""

    def __init__(self, fit: Fit, device: torch.device, clip: float) -> None:
        self._clip = clip
        self.logits = torch.tensor(fit.logits, device=device)  # [V, L, H], as are the next two
        self._mean = torch.tensor(fit.mean, device=device)
        self._square = torch.tensor(fit.square, device=device)

    def step(self, gradient: Tensor, rate: float, number: int) -> None:
        """One update, the stage's `number`th, counted from 1."""
        norm = gradient.flatten(1).norm(dim=1)[:, None, None]  # [V, 1, 1]
        gradient = gradient * (self._clip / (norm + _CLIP_EPSILON)).clamp(max=1)
        self._mean = torch.lerp(gradient, self._mean, _MEAN_DECAY)
        self._square = torch.lerp(gradient.square(), self._square, _SQUARE_DECAY)
        mean_bias = 1 - _MEAN_DECAY**number  # both means start at 0, which these two factors correct
        square_bias = 1 - _SQUARE_DECAY**number
        root = (self._square / square_bias).sqrt() + _ADAM_EPSILON
        self.logits = self.logits - rate * self._mean / mean_bias / root

    def fit(self, before: Fit) -> Fit:
        """The fit with the logits and the optimiser's state as they are now."""
        return replace(
            before,
            logits=self.logits.cpu().numpy(),
            mean=self._mean.cpu().numpy(),
            square=self._square.cpu().numpy(),
        )


def loss_and_gradient(model: GatedModel, batch: Batch, logits: Tensor, push: Tensor) -> tuple[Tensor, Tensor]:
    """The mean NLL of each variant [V], and the gradient of its whole loss by its logits [V, L, H]."""

    def mean_nll(gates: Tensor) -> Tensor:
        return -model.log_probs(batch, gates).mean(1)

    return gradient_of(mean_nll, logits, push)


def contrast_and_gradient(
    model: GatedModel, forget: Batch, retain: Batch, logits: Tensor, push: Tensor
) -> tuple[Tensor, Tensor]:
    """The same for matched pairs: how much likelier the forget side is than the retain side."""

    def contrast(gates: Tensor) -> Tensor:
        difference = _prompt_log_probs(model, forget, gates) - _prompt_log_probs(model, retain, gates)  # [V, B]
        return difference.clamp(min=-CONTRAST).mean(1)

    return gradient_of(contrast, logits, push)


def _prompt_log_probs(model: GatedModel, batch: Batch, gates: Tensor) -> Tensor:  # [V, B]
    """The log-probability of each prompt's whole target."""
    log_probs = model.log_probs(batch, gates)  # [V, n]
    rows = torch.as_tensor(batch.rows, device=model.device)
    return log_probs.new_zeros(len(gates), len(batch.ids)).index_add(1, rows, log_probs)


def gradient_of(loss: Callable[[Tensor], Tensor], logits: Tensor, push: Tensor) -> tuple[Tensor, Tensor]:
    """A loss of the gates [V], and the gradient by the logits [V, L, H] of that loss with the push."""
    with torch.enable_grad():
        free = logits.detach().requires_grad_()
        plain_loss = loss(torch.sigmoid(free))
        pushed_loss = plain_loss - push * free.clamp(-LIMIT, LIMIT).mean((1, 2))
        (gradient,) = torch.autograd.grad(pushed_loss.sum(), free)  # the sum's, for variants are independent
    return plain_loss.detach(), gradient


def advance_contrast(
    model: GatedModel, pairs: Sequence[tuple[Encoded, Encoded]], settings: GateSettings, fit: Fit, updates: int
) -> Fit:
    """Contrastive gates some updates further: a single stage, pushed open from the start."""
    push = torch.full((len(fit.seeds),), settings.push, dtype=torch.float32, device=model.device)
    optimiser = Adam(fit, model.device, settings.clip)
    first_rate, last_rate = settings.free_rate
    stop = min(fit.update + updates, settings.free_updates)
    losses = []
    for update in range(fit.update, stop):
        chosen = [pairs[index] for index in batch_order(len(pairs), settings.batch, update)]
        forget = Batch.of([pair[0] for pair in chosen])
        retain = Batch.of([pair[1] for pair in chosen])
        loss, gradient = contrast_and_gradient(model, forget, retain, optimiser.logits, push)
        # Not `_Schedule.rate`: it divides first, and stored fits are only continued exactly with this rounding.
        rate = first_rate + (last_rate - first_rate) * update / max(settings.free_updates - 1, 1)
        optimiser.step(gradient, rate, update + 1)
        losses.append(loss.tolist())
    return replace(optimiser.fit(fit), update=stop, free_nll=_extended(fit.free_nll, losses))


def untouched(model: GatedModel, items: Sequence[Encoded], at_once: int) -> tuple[list[float], list[bool]]:
    """Each item's mean NLL, and whether greedy decoding gives its whole target, with every gate at 1."""
    nll: list[float] = []
    right: list[bool] = []
    with torch.no_grad():
        for batch in within(items, at_once):
            log_probs, likeliest = model.untouched(batch)
            batch_nll = -log_probs.cpu().numpy()  # [n]
            batch_right = likeliest.cpu().numpy()  # [n]
            for row in range(len(batch.ids)):
                targets = batch.rows == row
                nll.append(float(batch_nll[targets].mean()))
                right.append(bool(batch_right[targets].all()))
    return nll, right
