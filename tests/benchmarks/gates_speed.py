"""How much faster gates are fitted than in the published way, both timed in this run at equal updates.

The published way fits one set of gates at a time; ours fits the seeds of a task as variants of one batch, and then both
pushes of all seeds. Rounds of both take turns; each number is the median of them.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

import torch

from analysis.causal import SEEDS, GateSettings
from analysis.checkpoint import Checkpoint
from analysis.fits import Fit
from analysis.gated_model import GatedModel, attention_outputs
from analysis.gates import loss_and_gradient
from analysis.prompts import Batch, batch_order, encode
from analysis.tasks import builtin
from analysis.tokens import Vocabulary
from tests.benchmarks.published_gates import published_update

T = TypeVar("T")


def table(folder: Path, rounds: int = 3) -> str:
    """Seconds for one update of one set of gates, the whole fit's ratio, and how far the two ways differ."""
    checkpoint, settings = Checkpoint.open(folder), GateSettings()
    model = GatedModel(checkpoint)
    outputs = attention_outputs(model.module, checkpoint)
    found = encode(builtin()["math"].train[:2_000], Vocabulary.open(folder), checkpoint.card.vocabulary)
    train = [item for item in found if item]
    start = Fit.begin(range(SEEDS), len(checkpoint.card.layers), checkpoint.card.heads)
    logits = torch.tensor(start.logits).clamp(-3, 3)
    twice, push = torch.cat([logits, logits]), torch.tensor([settings.push] * SEEDS + [-settings.push] * SEEDS)
    plain, free, pushed = [], [], []
    for number in range(rounds):
        items = [train[at] for at in batch_order(len(train), settings.batch, number)]
        batch = Batch.of(items)
        seconds, _ = _timed(partial(published_update, model.module, outputs, items, logits[0], 0.1))
        plain.append(seconds)
        seconds, _ = _timed(partial(loss_and_gradient, model, batch, logits, torch.zeros(SEEDS)))
        free.append(seconds / SEEDS)
        seconds, _ = _timed(partial(loss_and_gradient, model, batch, twice, push))
        pushed.append(seconds / (2 * SEEDS))
    model.module.double()  # whether both compute the same is not a matter of rounding
    nll, gradient = published_update(model.module, outputs, items, logits[0].double(), settings.push)
    nlls, gradients = loss_and_gradient(model, batch, twice.double(), push)
    loss_error = abs(float(nlls[0]) - nll) / nll
    gradient_error = float((gradients[0] - gradient).norm() / gradient.norm())
    published = median(plain) * (settings.free_updates + 2 * settings.push_updates)
    ours = median(free) * settings.free_updates + median(pushed) * 2 * settings.push_updates
    return "\n".join(
        [
            f"| math, {settings.batch} prompts, {SEEDS} seeds | published | ours | ratio |",
            "|---|---|---|---|",
            _row("one update of one set of gates, first stage", median(plain), median(free)),
            _row("the same, both pushes", median(plain), median(pushed)),
            _row("one seed's whole fit", published, ours),
            "",
            f"Relative difference in float64: of the loss {loss_error:.1e}, of the gradient {gradient_error:.1e}.",
        ]
    )


def _row(what: str, published: float, ours: float) -> str:
    return f"| {what} | {published:.2f} s | {ours:.2f} s | **{published / ours:.2f}×** |"


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
