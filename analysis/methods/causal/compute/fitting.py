"""Gates fitted to a task: which heads help, hurt or do not matter (Causal Head Gating).

Nam et al., "Causal Head Gating", NeurIPS 2025, arXiv 2505.13737. One gate a head, G = sigmoid(logit), multiplies the
head's output. With frozen weights one minimises

    mean NLL of the target tokens − λ · mean over heads of clamp(logit, −4, +4)

first with λ = 0 from random gates, then, from where that ended, once with +λ (gates that may open do: G⁺) and once with
−λ (gates that may close do: G⁻). The two pushes of all seeds run as variants of one batch. A fit is a value: it can be
saved after any update and goes on exactly as if it had not been stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from analysis.compute.gated_model import GatedModel
from analysis.data.prompts import Batch, Encoded, batch_order, batches, within
from analysis.methods.causal.fits import LIMIT, Fit
from analysis.methods.causal.plan import GateSettings

CONTRAST = 5.0  # what is so much less likely than what is kept has been forgotten well enough
_BETAS, _EPS = (0.9, 0.999), 1e-8  # Adam's own defaults


def advance(model: GatedModel, items: Sequence[Encoded], settings: GateSettings, fit: Fit, updates: int) -> Fit:
    """The fit some updates further, but not beyond the end of its stage."""
    if fit.update == settings.free_updates and not fit.second:
        fit = fit.pushed()
    begin, end = (settings.free_updates, settings.total) if fit.second else (0, settings.free_updates)
    push = np.repeat([settings.push, -settings.push], len(fit.seeds)) if fit.second else np.zeros(len(fit.seeds))
    pushes = torch.tensor(push, dtype=torch.float32, device=model.device)
    optimiser = Adam(fit, model.device, settings.clip)
    rates = settings.push_rate if fit.second else settings.free_rate
    stop = min(fit.update + updates, end)
    losses = []
    for update, batch in zip(range(fit.update, stop), batches(items, settings.batch, fit.update), strict=False):
        nll, gradient = loss_and_gradient(model, batch, optimiser.logits, pushes)
        along = (update - begin) / max(end - begin - 1, 1)
        optimiser.step(gradient, rates[0] + (rates[1] - rates[0]) * along, update - begin + 1)
        losses.append(nll.tolist())
    seen = np.array(losses, np.float32).reshape(len(losses), len(fit.logits))
    fit = replace(optimiser.fit(fit), update=stop)
    if fit.second:
        return replace(fit, push_nll=np.concatenate([fit.push_nll, seen]))
    return replace(fit, free_nll=np.concatenate([fit.free_nll, seen]))


class Adam:
    """Adam (Kingma & Ba 2015) on variants that do not touch each other: each has its own norm to be clipped."""

    def __init__(self, fit: Fit, device: torch.device, clip: float) -> None:
        self._clip = clip
        self.logits, self._mean, self._square = (
            torch.tensor(part, device=device) for part in (fit.logits, fit.mean, fit.square)
        )

    def step(self, gradient: Tensor, rate: float, number: int) -> None:
        """One update, the stage's `number`th, counted from 1."""
        norm = gradient.flatten(1).norm(dim=1)[:, None, None]
        gradient = gradient * (self._clip / (norm + 1e-6)).clamp(max=1)
        self._mean = torch.lerp(gradient, self._mean, _BETAS[0])
        self._square = torch.lerp(gradient.square(), self._square, _BETAS[1])
        root = (self._square / (1 - _BETAS[1] ** number)).sqrt() + _EPS
        self.logits = self.logits - rate * self._mean / (1 - _BETAS[0] ** number) / root

    def fit(self, before: Fit) -> Fit:
        """Back to plain arrays."""
        logits, mean, square = (part.cpu().numpy() for part in (self.logits, self._mean, self._square))
        return replace(before, logits=logits, mean=mean, square=square)


def loss_and_gradient(model: GatedModel, batch: Batch, logits: Tensor, push: Tensor) -> tuple[Tensor, Tensor]:
    """The mean NLL of each variant [V], and the gradient of its whole loss by its logits [V, L, H]."""
    return gradient_of(lambda gates: -model.log_probs(batch, gates).mean(1), logits, push)


def contrast_and_gradient(
    model: GatedModel, forget: Batch, retain: Batch, logits: Tensor, push: Tensor
) -> tuple[Tensor, Tensor]:
    """The same for matched pairs: how much likelier what is to be forgotten is than what is to be kept."""

    def contrast(gates: Tensor) -> Tensor:
        difference = _of_prompts(model, forget, gates) - _of_prompts(model, retain, gates)
        return difference.clamp(min=-CONTRAST).mean(1)

    return gradient_of(contrast, logits, push)


def _of_prompts(model: GatedModel, batch: Batch, gates: Tensor) -> Tensor:  # [V, B]
    """The log-probability of each prompt's whole target."""
    log_probs = model.log_probs(batch, gates)
    rows = torch.as_tensor(batch.rows, device=model.device)
    return log_probs.new_zeros(len(gates), len(batch.ids)).index_add(1, rows, log_probs)


def gradient_of(loss: Callable[[Tensor], Tensor], logits: Tensor, push: Tensor) -> tuple[Tensor, Tensor]:
    """A loss of the gates [V], and the gradient by the logits [V, L, H] of it with the push."""
    with torch.enable_grad():
        free = logits.detach().requires_grad_()
        found = loss(torch.sigmoid(free))
        pushed = found - push * free.clamp(-LIMIT, LIMIT).mean((1, 2))
        (gradient,) = torch.autograd.grad(pushed.sum(), free)
    return found.detach(), gradient


def advance_contrast(
    model: GatedModel, pairs: Sequence[tuple[Encoded, Encoded]], settings: GateSettings, fit: Fit, updates: int
) -> Fit:
    """Contrastive gates some updates further: one stage, pushed open from the beginning."""
    push = torch.full((len(fit.seeds),), settings.push, device=model.device)
    optimiser = Adam(fit, model.device, settings.clip)
    stop = min(fit.update + updates, settings.free_updates)
    losses, (first, last) = [], settings.free_rate
    for update in range(fit.update, stop):
        chosen = [pairs[at] for at in batch_order(len(pairs), settings.batch, update)]
        forget, retain = (Batch.of([pair[side] for pair in chosen]) for side in (0, 1))
        loss, gradient = contrast_and_gradient(model, forget, retain, optimiser.logits, push)
        optimiser.step(gradient, first + (last - first) * update / max(settings.free_updates - 1, 1), update + 1)
        losses.append(loss.tolist())
    seen = np.array(losses, np.float32).reshape(len(losses), len(fit.seeds))
    return replace(optimiser.fit(fit), update=stop, free_nll=np.concatenate([fit.free_nll, seen]))


def untouched(model: GatedModel, items: Sequence[Encoded], at_once: int) -> tuple[list[float], list[bool]]:
    """Each item's mean NLL, and whether the model would have written it all, with every gate at 1."""
    nll: list[float] = []
    right: list[bool] = []
    with torch.no_grad():
        for part in within(items, at_once):
            log_probs, best = (found.cpu().numpy() for found in model.untouched(part))
            for row in range(len(part.ids)):
                nll.append(float(-log_probs[part.rows == row].mean()))
                right.append(bool(best[part.rows == row].all()))
    return nll, right
