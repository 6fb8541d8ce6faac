"""How much faster the running model's map is than the plain way, and how it compares with the weights-only map.

The plain way: a forward pass per prompt, every head's full row in the vocabulary, the k largest and smallest of it. It
is timed on a sample of prompts spread over sources and carriers and scaled to all of them; ours runs in full, without
and with controls as the map does. Everything in one run; medians of three rounds that take turns.
"""

import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor

from analysis.compute.hits import HitCounter, Query, weights_inputs
from analysis.compute.weights import Weights
from analysis.data import relations
from analysis.methods.running.compute import running_inputs
from analysis.methods.running.settings import CARRIERS
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.progress import silent
from analysis.relations.settings import default_ks

PROMPTS = 12  # timed the plain way, per round


def query_of(checkpoint: Checkpoint) -> Query:
    """All relations."""
    vocabulary = Vocabulary.open(checkpoint.folder)
    copying, standard = default_ks(checkpoint.card.vocabulary)
    asked = []
    for relation in relations.builtin().values():
        pairs = vocabulary.keep(relation, checkpoint.card.vocabulary)
        if len(pairs) >= MIN_PAIRS:
            asked.append((pairs, copying if relation.k == "copying" else standard))
    return Query.of(asked)


def plain_prompt(model: Any, weights: Weights, u: Tensor, ids: list[int], k: int) -> None:
    """One prompt the plain way."""
    hidden = model.model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    card = weights.card
    for layer in card.layers:
        block = model.model.layers[layer]
        x = block.input_layernorm(hidden[layer][:, -1])
        v = block.self_attn.v_proj(x).view(card.kv_heads, card.head_dim)
        v = v.repeat_interleave(card.heads // card.kv_heads, 0)
        w_o = block.self_attn.o_proj.weight.view(card.width, card.heads, card.head_dim)
        rows = torch.einsum("he,dhe->hd", v, w_o) * model.model.norm.weight @ u.T  # [H, V]
        rows.topk(k)
        rows.topk(k, largest=False)


def time_plain(model: Any, weights: Weights, query: Query, prefixes: list[tuple[int, ...]], turn: int) -> float:
    """Seconds for all prompts: the mean of a sample, times their number."""
    u = weights.unembed_span(0, weights.vocabulary)
    _, k = default_ks(weights.card.vocabulary)
    start = time.perf_counter()
    for number in range(PROMPTS):
        source = query.source_tokens[(number * 197 + turn * 31) % len(query.source_tokens)]
        plain_prompt(model, weights, u, [*prefixes[number % len(prefixes)], *source], k)
    per_prompt = (time.perf_counter() - start) / PROMPTS
    return per_prompt * len(query.source_tokens) * len(prefixes)


def time_running(
    checkpoint: Checkpoint, query: Query, prefixes: list[tuple[int, ...]], controls: bool
) -> tuple[float, float]:
    """Seconds for all carriers, and of these the forward passes; reading the weights included."""
    start, running = time.perf_counter(), 0.0
    for prefix in prefixes:
        before = time.perf_counter()
        inputs = running_inputs(checkpoint, torch.device("cpu"), query, prefix, checkpoint.card.layers, silent)
        running += time.perf_counter() - before
        for _result in HitCounter(inputs, controls).count(checkpoint.card.layers):
            pass
    return time.perf_counter() - start, running


def time_weights(checkpoint: Checkpoint, query: Query, controls: bool) -> float:
    """Seconds of the weights-only map."""
    start = time.perf_counter()
    counter = HitCounter(weights_inputs(Weights(checkpoint), query), controls)
    for _result in counter.count(checkpoint.card.layers):
        pass
    return time.perf_counter() - start


def table(default: Path, runs: int = 3) -> str:
    """Ratios of the default model."""
    from transformers import AutoModelForCausalLM

    checkpoint = Checkpoint.open(default)
    vocabulary, query = Vocabulary.open(default), query_of(checkpoint)
    prefixes = [vocabulary.prefix(carrier) for carrier in CARRIERS]
    model = AutoModelForCausalLM.from_pretrained(default, dtype=torch.float32).eval()
    weights = Weights(checkpoint)
    plain, ours, forward, compared, weights_only, weights_compared = [], [], [], [], [], []
    for turn in range(runs):
        plain.append(time_plain(model, weights, query, prefixes, turn))
        seconds, of_them = time_running(checkpoint, query, prefixes, controls=False)
        ours.append(seconds)
        forward.append(of_them)
        weights_only.append(time_weights(checkpoint, query, controls=False))
        compared.append(time_running(checkpoint, query, prefixes, controls=True)[0])
        weights_compared.append(time_weights(checkpoint, query, controls=True))
    slow, fast, both = median(plain), median(ours), median(compared)
    count, running = len(prefixes), median(forward)
    lines = [
        f"{len(query.source_tokens):,} sources × {count} carriers, {len(query.k):,} pairs; the plain way is timed on "
        f"{PROMPTS} prompts a round and scaled to all",
        "",
        "| all relations, all heads, four carriers | seconds | ratio |",
        "|---|---|---|",
        f"| plain way: a forward pass per prompt, full rows, top-k | {slow:.0f} s | |",
        f"| ours, scores alone | {fast:.1f} s, of which {running:.1f} s run the model | **{slow / fast:.0f}×** |",
        f"| ours, with controls | {both:.1f} s | {slow / both:.0f}× |",
        f"| a carrier against the weights-only map, scores alone | {fast / count:.1f} s : {median(weights_only):.1f} s "
        f"| {fast / count / median(weights_only):.1f} |",
        f"| the same with controls | {both / count:.1f} s : {median(weights_compared):.1f} s "
        f"| {both / count / median(weights_compared):.1f} |",
    ]
    return "\n".join(lines)
