"""How much faster every head is switched off in turn than by a forward pass of its own, both timed in this run.

The plain way: a hook on the head's output projection and one whole forward pass per head, on the same prompts. It is
timed on nine heads spread over the layers and scaled to all of them, and so is ours where every position is ablated
(the heads of six layers whose mean depth is that of all); where only the last one is, ours runs in full. Rounds take
turns; each number is the median of them. Prompts are of two kinds: questions that have nothing in common, and a
relation's pairs behind the same worked examples. A loss is a head's, mean over the prompts; the exact one is the plain
way's in float64.
"""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from analysis.compute.ablation import AblatedModel
from analysis.compute.loaded_model import attention_outputs
from analysis.compute.packed_linear import PackedLinear
from analysis.data import relations, tasks
from analysis.data.prompts import Batch, Encoded, encode
from analysis.data.relation_prompts import kept_pairs
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary

PROMPTS, LENGTH = 8, 32
SAMPLE = 9  # heads that are timed the plain way, a part of them in each round
EVERY = 5  # a layer of so many is timed where every position is ablated
DISTINCT, ALIKE = "nothing in common", "same examples first"
CASES = ((DISTINCT, "all", 4.5), (ALIKE, "all", 4.5), (DISTINCT, "last", 45))  # prompts, positions, bar


def distinct_prompts(vocabulary: Vocabulary, size: int) -> Tensor:  # [B, T + 1]
    """The ends of questions, with their answers."""
    (task,) = tasks.choose(["commonsense"])
    encoded = [one.ids for one in encode(task.validation, vocabulary, size) if one is not None and one.targets == 1]
    return torch.tensor([ids[-LENGTH - 1 :] for ids in encoded if len(ids) > LENGTH][:PROMPTS])


def alike_prompts(vocabulary: Vocabulary, size: int) -> Tensor:  # [B, T + 1]
    """The capitals of countries behind those of four others."""
    (relation,) = relations.choose(["country_capital"])
    pairs = [pair for pair, _ in kept_pairs(relation, vocabulary, size)]
    examples = "".join(f"The capital of {country} is {capital}. " for country, capital in pairs[PROMPTS : PROMPTS + 4])
    texts = [f"{examples}The capital of {country} is {capital}" for country, capital in pairs[:PROMPTS]]
    return torch.tensor([tokens.ids[-LENGTH - 1 :] for tokens in vocabulary.encoded(texts)])


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


def timed(call: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """Seconds, and what it gives; with one thread (OMP_NUM_THREADS=1) the processor's, which a busy machine shares."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    start = clock()
    result = call(*args)
    return clock() - start, result


class Measured:
    """Both ways on the prompts of both kinds."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM

        checkpoint = Checkpoint.open(folder)
        self.plain = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.outputs = attention_outputs(self.plain, checkpoint)
        self.model = AblatedModel(checkpoint)
        self.layers, self.heads = len(checkpoint.card.layers), checkpoint.card.heads
        vocabulary, size = Vocabulary.open(folder), checkpoint.card.vocabulary
        self.ids = {DISTINCT: distinct_prompts(vocabulary, size), ALIKE: alike_prompts(vocabulary, size)}
        self.every = torch.eye(self.model.heads, dtype=torch.bool).unflatten(-1, (self.layers, self.heads))
        spread = self.every.unflatten(0, (self.layers, self.heads))[EVERY // 2 :: EVERY]
        self.chosen = {"all": spread.flatten(0, 1), "last": self.every}
        self.sample = range(self.model.heads // SAMPLE // 2, self.model.heads, self.model.heads // SAMPLE)

    def batch(self, kind: str) -> Batch:
        """All prompts of a kind."""
        return Batch.of([Encoded(tuple(row), 1) for row in self.ids[kind].tolist()])

    def plain_loss(self, head: int, kind: str, positions: str) -> Tensor:  # [B]
        """A forward pass of its own."""
        layer, own = divmod(head, self.heads)
        first = 0 if positions == "all" else LENGTH - 1
        return plain_loss(self.plain, self.outputs[layer], own, self.heads, self.ids[kind], first)

    def ours(self, kind: str, positions: Any) -> float:
        """Seconds for all heads, the untouched run included."""
        chosen = self.chosen[positions]
        untouched, run = timed(self.model.untouched, self.batch(kind))
        ablated, _ = timed(self.model.ablated, run, chosen, self.model.nothing(), positions)
        return untouched + ablated * self.model.heads / len(chosen)

    def losses(self, kind: str, positions: Any) -> tuple[Tensor, Tensor]:  # [heads], [heads]
        """Of some heads, mean over the prompts: ours and the plain way's."""
        heads = list(self.sample)[::2]
        run = self.model.untouched(self.batch(kind))
        ours = -self.model.ablated(run, self.every[heads], self.model.nothing(), positions).log_probs
        plain = torch.stack([self.plain_loss(head, kind, positions) for head in heads])
        return ours.double().mean(1), plain.double().mean(1)

    def rounding(self) -> dict[tuple[str, str], tuple[float, float]]:
        """How far ours, and the plain way, are at most from the plain way in float64: it is what both should give."""
        losses = {(kind, positions): self.losses(kind, positions) for kind, positions, _ in CASES}
        self.plain.double()
        differences = {}
        for case, (ours, plain) in losses.items():
            _, exact = self.losses(*case)
            differences[case] = (float((ours - exact).abs().max()), float((plain - exact).abs().max()))
        return differences

    def least_work(self) -> float:
        """Multiplications and additions of the layers between a head's own and the last one, mean over the heads."""
        numbers = sum(weight.numel() for layer in self.plain.model.layers for weight in layer.parameters())
        share = (self.layers - 1) * (self.layers - 2) / 2 / self.layers**2
        return 2.0 * numbers * share * PROMPTS * LENGTH

    def fastest(self) -> float:
        """Multiplications and additions a second of the fastest of some matrix products of this model's sizes."""
        speeds = []
        for weight in (self.plain.model.layers[0].mlp.up_proj.weight, self.plain.model.layers[0].mlp.down_proj.weight):
            linear = PackedLinear(weight, None)
            for rows in (512, 1_024, 2_048):
                x = torch.randn(rows, weight.shape[1])
                speeds += [2 * rows * weight.numel() / timed(linear, x)[0] for _ in range(9)]
        return max(speeds)


def table(folder: Path, rounds: int = 3) -> str:
    """Ratios of the default model, how far the losses differ, and what bounds the ratio."""
    measured = Measured(folder)
    heads = measured.model.heads
    plain: list[float] = []
    ours: dict[tuple[str, str], list[float]] = {(kind, positions): [] for kind, positions, _ in CASES}
    for turn in range(rounds):
        for kind, positions in ours:
            ours[kind, positions].append(measured.ours(kind, positions))
        for head in measured.sample[turn::rounds]:
            seconds, _ = timed(measured.plain_loss, head, DISTINCT, "all")
            plain.append(seconds * heads)
    slow, speed, work = median(plain), measured.fastest(), measured.least_work()
    rounding = measured.rounding()
    lines = [
        f"| {heads} heads, {PROMPTS} × {LENGTH} tokens | off at | a forward pass per head | ours | ratio | bar "
        "| ours from the exact loss | plain from it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind, positions, bar in CASES:
        fast, (own, plain_one) = median(ours[kind, positions]), rounding[kind, positions]
        times = f"{slow:.0f} s | {fast:.1f} s | **{slow / fast:.1f}×** | {bar:g}×"
        lines.append(f"| {kind} | {positions} | {times} | {own:.1e} | {plain_one:.1e} |")
    bound = slow / heads / (work / speed)
    lines += [
        "",
        f"All positions of prompts with {DISTINCT}: the layers behind a head's own and before the last one take "
        f"{work / 1e9:.1f} GFLOP per head; at the fastest matrix product of this run ({speed / 1e9:.0f} GFLOP/s) that "
        f"bounds the ratio at {bound:.1f}×.",
    ]
    return "\n".join(lines)
