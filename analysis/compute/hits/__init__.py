"""Exact counting of hits: which pairs of tokens each head promotes and suppresses.

Of the weights alone, as in:

Elhelo & Geva, "Inferring Functionality of Attention Heads from their Parameters" (MAPS), ACL 2025, arXiv 2412.11965.

    M[l,h] = X_l · W_V[l,h] · W_O[l,h] · U      row s, column t: how strongly the head maps token s to token t
    X_0 = E ;  X_l = MLP_0(norm_0(E)) for l ≥ 1

A pair (s, t) is *promoted* when fewer than k entries of row s are strictly larger than entry t, *suppressed* when
fewer than k are strictly smaller. M has V² entries per head and is never formed.

**Claims.** For every head and pair there are two claims: that the head promotes the pair, and that it suppresses it. A
claim is refuted by any k larger (or smaller) entries of its row, so most of the work is to find such entries quickly. A
claim about suppression is kept with its row negated: an entry is smaller than the target's exactly when its negative is
larger than the target's negative. From there on only larger entries have to be counted, whatever the claim is about.

1. `elimination` looks at a few hundred tokens per head: some of the targets (their products are needed anyway), then
   the tokens that the head moves most for the average source, then all targets. It refutes all but a few per cent.
2. `counting` compares the claims of many layers that survived with the whole unembedding, tile by tile, dropping those
   with k larger entries. A head with many claims is multiplied through d_head, the others together through d.
3. `near_ties` decides in float64 what float32 could not: the claims whose count depends on entries within rounding
   error of the target's (see `rounding`). So the result is that of float64 arithmetic on X, whatever the shortcut.

`deciding` puts the second and the third together, `counter` all of them. A hit is worth little when the source itself,
or another pair's target, is among the k as well: `outranking` and `controls` tell, with the same passes. W_V and W_O
come from `Heads`, X from `Sources`, U from an `Unembedding`, so that another method can bring its own.
"""

from analysis.compute.hits.counter import HitCounter
from analysis.compute.hits.counts import HitCounts
from analysis.compute.hits.inputs import Heads, Inputs, Sources
from analysis.compute.hits.query import Query
from analysis.compute.hits.rows import HeadRelation, Ranks, ranks_of_heads
from analysis.compute.hits.token_sources import TokenSources, weights_inputs
from analysis.compute.hits.unembedding import Unembedding

__all__ = [
    "HeadRelation",
    "Heads",
    "HitCounter",
    "HitCounts",
    "Inputs",
    "Query",
    "Ranks",
    "Sources",
    "TokenSources",
    "Unembedding",
    "ranks_of_heads",
    "weights_inputs",
]
