"""How much faster every head is switched off in turn than by a forward pass of its own, both timed in this run.

The plain way: a hook on the head's output projection and one whole forward pass per head, on the same prompts. It is
timed on nine heads spread over the layers and scaled to all of them, and so is ours where every position is ablated
(the heads of six layers whose mean depth is that of all); where only the last one is, ours runs in full. Rounds take
turns; each number is the median of them.
"""

import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from analysis.compute.ablation import AblatedModel
from analysis.compute.gated_model import attention_outputs
from analysis.data.prompts import Batch, Encoded
from analysis.models.checkpoint import Checkpoint

PROMPTS, LENGTH = 8, 32
SAMPLE = 9  # heads that are timed the plain way, a part of them in each round
EVERY = 5  # a layer of so many is timed where every position is ablated


def plain_loss(model: Any, output: Any, head: int, heads: int, ids: Tensor, first: int) -> Tensor:  # [B]
    """The loss of each prompt's last token, with a head off from a position on."""

    def off(_: Any, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        z = args[0].clone()
        z.unflatten(-1, (heads, -1))[:, first:, head] = 0
        return (z,)

    handle = output.register_forward_pre_hook(off)
    logits = model(input_ids=ids[:, :-1], use_cache=False).logits
    handle.remove()
    return F.cross_entropy(logits[:, -1], ids[:, -1], reduction="none")


def table(folder: Path, rounds: int = 3) -> str:
    """Ratios of the default model, and how far the losses differ."""
    from transformers import AutoModelForCausalLM

    checkpoint = Checkpoint.open(folder)
    plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    outputs = attention_outputs(plain, checkpoint)
    model = AblatedModel(checkpoint)
    card = checkpoint.card
    ids = torch.randint(card.vocabulary, (PROMPTS, LENGTH + 1), generator=torch.Generator().manual_seed(0))
    batch = Batch.of([Encoded(tuple(row.tolist()), 1) for row in ids])
    every = torch.eye(model.heads, dtype=torch.bool).unflatten(-1, (len(card.layers), card.heads))
    sample = range(model.heads // SAMPLE // 2, model.heads, model.heads // SAMPLE)
    layers = every.view(len(card.layers), card.heads, *every.shape[1:])[EVERY // 2 :: EVERY].flatten(0, 1)
    seconds: dict[str, list[float]] = {"plain": [], "untouched": [], "last": [], "all": []}
    losses: dict[int, Tensor] = {}  # the plain way, every position ablated
    for turn in range(rounds):
        start = time.perf_counter()
        run = model.untouched(batch)
        seconds["untouched"].append(time.perf_counter() - start)
        for positions, chosen in (("last", every), ("all", layers)):
            start = time.perf_counter()
            model.ablated(run, chosen, model.nothing(), positions)
            seconds[positions].append((time.perf_counter() - start) * model.heads / len(chosen))
        for head in sample[turn::rounds]:
            start = time.perf_counter()
            losses[head] = plain_loss(plain, outputs[head // card.heads], head % card.heads, card.heads, ids, 0)
            seconds["plain"].append((time.perf_counter() - start) * model.heads)
    differences = {"last": 0.0, "all": 0.0}
    for positions in differences:
        found = model.ablated(run, every[list(sample)], model.nothing(), positions).log_probs
        for at, head in enumerate(sample):
            loss = losses[head]
            if positions == "last":
                output, own = outputs[head // card.heads], head % card.heads
                loss = plain_loss(plain, output, own, card.heads, ids, LENGTH - 1)
            differences[positions] = max(differences[positions], float((loss + found[at]).abs().max()))
    slow, untouched = median(seconds["plain"]), median(seconds["untouched"])
    lines = [
        f"| {model.heads} heads, {PROMPTS} × {LENGTH} tokens | a forward pass per head | ours | ratio | bar |",
        "|---|---|---|---|---|",
    ]
    for positions, bar in (("all", 4.5), ("last", 45)):
        ours = untouched + median(seconds[positions])
        lines.append(f"| {positions} | {slow:.0f} s | {ours:.1f} s | **{slow / ours:.1f}×** | {bar:g}× |")
    lines += ["", f"Largest difference of a loss: {differences['all']:.1e} (all), {differences['last']:.1e} (last)."]
    return "\n".join(lines)
