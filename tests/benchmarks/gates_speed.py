"""How much faster gates are fitted than in the published way, both timed in this run at equal updates.

The published way fits one set of gates at a time; ours fits the seeds of a task as variants of one batch, and then both
pushes of all seeds; or one seed with both its pushes. Rounds take turns; each number is the median of them.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import torch

from analysis.compute.gated_model import GatedModel
from analysis.compute.loaded_model import attention_outputs
from analysis.data.prompts import Batch, batch_order, encode
from analysis.data.tasks import builtin
from analysis.methods.causal.compute.fitting import loss_and_gradient
from analysis.methods.causal.fits import Fit
from analysis.methods.causal.settings import SEEDS, GateSettings
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary
from tests.benchmarks.published_gates import published_update


def table(folder: Path, rounds: int = 3) -> str:
    """Seconds for one update of one set of gates, the whole fit's ratio, and how far the two ways differ."""
    checkpoint, settings = Checkpoint.open(folder), GateSettings()
    model = GatedModel(checkpoint)
    outputs = attention_outputs(model.module, checkpoint)
    found = encode(builtin()["math"].train[:2_000], Vocabulary.open(folder), checkpoint.card.vocabulary)
    train = [item for item in found if item]
    start = Fit.begin(range(SEEDS), len(checkpoint.card.layers), checkpoint.card.heads)
    logits = torch.tensor(start.logits).clamp(-3, 3)
    plain: list[float] = []
    ours: dict[tuple[int, str], list[float]] = {
        (seeds, stage): [] for seeds in (SEEDS, 1) for stage in ("free", "push")
    }
    for number in range(rounds):
        items = [train[at] for at in batch_order(len(train), settings.batch, number)]
        batch = Batch.of(items)
        plain.append(_seconds(partial(published_update, model.module, outputs, items, logits[0], settings.push)))
        for (seeds, stage), times in ours.items():
            variants, push = _variants(logits[:seeds], settings.push if stage == "push" else 0.0)
            times.append(_seconds(partial(loss_and_gradient, model, batch, variants, push)) / len(variants))
    model.module.double()  # whether both compute the same is not a matter of rounding
    nll, gradient = published_update(model.module, outputs, items, logits[0].double(), settings.push)
    variants, push = _variants(logits.double(), settings.push)
    nlls, gradients = loss_and_gradient(model, batch, variants, push)
    loss_error = abs(float(nlls[0]) - nll) / nll
    gradient_error = float((gradients[0] - gradient).norm() / gradient.norm())
    published = median(plain) * (settings.free_updates + 2 * settings.push_updates)
    whole = {
        seeds: median(ours[seeds, "free"]) * settings.free_updates
        + median(ours[seeds, "push"]) * 2 * settings.push_updates
        for seeds in (SEEDS, 1)
    }
    return "\n".join(
        [
            f"| math, {settings.batch} prompts, {settings.free_updates} + {settings.push_updates} updates "
            "| published | ours | ratio |",
            "|---|---|---|---|",
            _row(f"an update of one set of gates, {SEEDS} seeds together", median(plain), median(ours[SEEDS, "free"])),
            _row("the same, both pushes", median(plain), median(ours[SEEDS, "push"])),
            _row(f"one seed's whole fit, {SEEDS} together", published, whole[SEEDS]),
            _row("one seed's whole fit, alone", published, whole[1]),
            "",
            f"Relative difference in float64: of the loss {loss_error:.1e}, of the gradient {gradient_error:.1e}.",
        ]
    )


def _variants(logits: torch.Tensor, push: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The gates of some seeds: without a push once, with one pushed both ways."""
    if not push:
        return logits, logits.new_zeros(len(logits))
    return torch.cat([logits, logits]), logits.new_tensor([push] * len(logits) + [-push] * len(logits))


def _row(what: str, published: float, ours: float) -> str:
    return f"| {what} | {published:.2f} s | {ours:.2f} s | **{published / ours:.2f}×** |"


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
