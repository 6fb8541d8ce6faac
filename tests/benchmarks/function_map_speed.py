"""How much faster the function map is than the published loop, both timed in this run.

The published loop is timed on a sample of heads spread over the layers and scaled to all of them; ours runs in full.
The sgemm peak is the best of repeated float32 products in this run, so that the share of it is the machine's own.
"""

import argparse
import time
from pathlib import Path
from statistics import median

import torch
from torch.utils.flop_counter import FlopCounterMode

from analysis import relations
from analysis.checkpoint import Checkpoint
from analysis.function_map import Query, count_hits
from analysis.tokens import MIN_PAIRS, Vocabulary
from analysis.weights import Weights
from tests.benchmarks.published_loop import published_hits

Pairs = list[tuple[tuple[tuple[int, int], ...], int]]


def sgemm_peak() -> float:
    """Floating point operations a second of the best of some large float32 products."""
    best = 0.0
    for m, k, n in ((1800, 576, 576), (2048, 768, 2048), (4096, 4096, 4096), (4096, 576, 4096)):
        a, b, c = torch.randn(m, k), torch.randn(n, k), torch.empty(m, n)
        for _ in range(max(3, int(4e10 / (2 * m * k * n)))):
            start = time.perf_counter()
            torch.mm(a, b.T, out=c)
            best = max(best, 2 * m * k * n / (time.perf_counter() - start))
    return best


def time_published(weights: Weights, pairs: Pairs, heads: int) -> float:
    """Seconds for all heads, from a sample of them."""
    card = weights.card
    embedded = weights.embed(torch.arange(weights.vocabulary))
    mlp = weights.first_mlp()
    later = torch.cat([mlp(part) for part in embedded.split(4096)])
    u = weights.unembed_span(0, weights.vocabulary)
    seconds = []
    for i in range(heads):
        layer, head = card.layers[(i * len(card.layers)) // heads], (i * 5) % card.heads
        w_v = weights.values(layer)[head // (card.heads // card.kv_heads)]
        w_o = weights.outputs(layer)[head]
        start = time.perf_counter()
        published_hits(embedded if layer == 0 else later, w_v, w_o, u, pairs)
        seconds.append(time.perf_counter() - start)
    return median(seconds) * len(card.layers) * card.heads


def time_ours(weights: Weights, pairs: Pairs, runs: int = 3) -> tuple[float, float]:
    """Best of some runs in seconds, and the floating point operations of its matrix products."""
    query, layers = Query.of(pairs), weights.card.layers
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        for _result in count_hits(weights, query, layers):
            pass
        seconds.append(time.perf_counter() - start)
    with FlopCounterMode(display=False) as counter:
        for _result in count_hits(weights, query, layers):
            pass
    return median(seconds), float(counter.get_total_flops())


def report(name: str, folder: Path, heads: int) -> None:
    """One line of the table."""
    checkpoint = Checkpoint.open(folder)
    weights, vocabulary = Weights(checkpoint), Vocabulary.open(folder)
    kept = {r: vocabulary.keep(r) for r in relations.builtin().values()}
    pairs: Pairs = [(p, 1 if r.k == "copying" else 10) for r, p in kept.items() if len(p) >= MIN_PAIRS]
    ours, flops = time_ours(weights, pairs)
    published = time_published(weights, pairs, heads)
    peak = sgemm_peak()
    print(
        f"{name}: {sum(len(p) for p, _ in pairs)} pairs of {len(pairs)} relations, published loop {published:.0f} s "
        f"(from {heads} heads), ours {ours:.2f} s: {published / ours:.0f} times faster, "
        f"{flops / ours / peak:.2f} of the sgemm peak ({peak / 1e9:.0f} GFLOP/s), {flops / 1e9:.0f} GFLOP",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--heads", type=int, default=6)
    arguments = parser.parse_args()
    report(arguments.folder.name, arguments.folder, arguments.heads)
