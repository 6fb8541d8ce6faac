"""How much faster the function map is than the published loop, both timed in this run.

The published loop is timed on a sample of heads spread over the layers and scaled to all of them; ours runs in full.
Every number is the median of three rounds; the sgemm peak is the best sustained rate of float32 products.
"""

import shutil
import time
from pathlib import Path
from statistics import median

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import GPT2Config, GPT2LMHeadModel

from analysis.compute.hits import Query
from analysis.compute.weights import Weights
from analysis.data import relations
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.relations.settings import default_ks
from tests.benchmarks.published_loop import published_hits
from tests.computing import count_hits

Pairs = list[tuple[tuple[tuple[int, int], ...], int]]


def sgemm_peak() -> float:
    """Floating point operations a second of large float32 products, sustained for a second; best of three shapes."""
    rates = []
    for m, k, n in ((1800, 576, 576), (4096, 576, 4096), (4096, 4096, 4096)):
        a, b, c = torch.randn(m, k), torch.randn(n, k), torch.empty(m, n)
        torch.mm(a, b.T, out=c)
        start, products = time.perf_counter(), 0
        while time.perf_counter() - start < 1:
            torch.mm(a, b.T, out=c)
            products += 1
        rates.append(2 * m * k * n * products / (time.perf_counter() - start))
    return max(rates)


def time_published(weights: Weights, pairs: Pairs, heads: int) -> float:
    """Seconds for all heads: the mean of a sample spread over the layers, times their number."""
    card = weights.card
    embedded = weights.embed(torch.arange(weights.vocabulary))
    mlp = weights.first_mlp()
    later = torch.cat([mlp(part) for part in embedded.split(4096)])
    u = weights.unembed_span(0, weights.vocabulary)
    total = 0.0
    for i in range(heads):
        layer, head = card.layers[(i * len(card.layers)) // heads], (i * 5) % card.heads
        w_v = weights.values(layer)[head // (card.heads // card.kv_heads)]
        w_o = weights.outputs(layer)[head]
        start = time.perf_counter()
        published_hits(embedded if layer == 0 else later, w_v, w_o, u, pairs)
        total += time.perf_counter() - start
    return total / heads * len(card.layers) * card.heads


def time_ours(weights: Weights, pairs: Pairs) -> float:
    """Seconds for all heads, everything included: embeddings, first MLP, reading the weights."""
    start = time.perf_counter()
    for _result in count_hits(weights, Query.of(pairs), weights.card.layers):
        pass
    return time.perf_counter() - start


def operations(weights: Weights, pairs: Pairs) -> float:
    """Floating point operations of our matrix products, counted by torch."""
    with FlopCounterMode(display=False) as counter:
        for _result in count_hits(weights, Query.of(pairs), weights.card.layers):
            pass
    return float(counter.get_total_flops())


def measure(name: str, folder: Path, heads: int = 6, runs: int = 3) -> str:
    """One row of the table. Runs of ours and heads of the published loop take turns, so both meet the same machine."""
    checkpoint = Checkpoint.open(folder)
    weights, vocabulary = Weights(checkpoint), Vocabulary.open(folder)
    kept = {r: vocabulary.keep(r) for r in relations.builtin().values()}
    copying, standard = default_ks(checkpoint.card.vocabulary)
    k = {"copying": copying, "standard": standard}
    pairs: Pairs = [(p, k[r.k]) for r, p in kept.items() if len(p) >= MIN_PAIRS]
    time_ours(weights, pairs)
    flops = operations(weights, pairs)
    ours, published, shares, peaks = [], [], [], [sgemm_peak()]
    for _ in range(runs):
        ours.append(time_ours(weights, pairs))
        peaks.append(sgemm_peak())
        shares.append(flops / ours[-1] / ((peaks[-2] + peaks[-1]) / 2))  # of the peak just before and just after
        published.append(time_published(weights, pairs, heads))
        peaks.append(sgemm_peak())
    fast, slow, peak = median(ours), median(published), median(peaks)
    return (
        f"| {name} | {sum(len(p) for p, _ in pairs):,} | {slow:.0f} s | {fast:.1f} s | **{slow / fast:.0f}×** "
        f"| {median(shares):.2f} of {peak / 1e9:.0f} GFLOP/s |"
    )


def table(default: Path, scratch: Path) -> str:
    """The default model's trained weights, and random weights in the shape of GPT-2 with the same tokenizer."""
    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config()).save_pretrained(scratch)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(default / name, scratch)
    lines = [
        "| weights | pairs | published loop | ours | ratio | share of the sgemm peak |",
        "|---|---|---|---|---|---|",
        measure("default model, trained", default),
        measure("GPT-2 shape, random", scratch),
    ]
    return "\n".join(lines)
