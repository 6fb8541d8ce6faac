"""Results that no model has: as large as a 70B model, as hostile as a relation file may be."""

import json
from dataclasses import replace

import numpy as np

from analysis.heads import ModelCard
from analysis.plan import SALIENCE_VERSION
from analysis.provenance import Provenance
from analysis.scores import Scores
from analysis.shipped import shipped
from analysis.store import Store

HOSTILE = "<img src=x onerror=alert(1)>"
BIG = "synthetic-80x64"
ODD = "synthetic-odd"


def big_scores(layers: int = 80, heads: int = 64) -> Scores:
    """Sparse scores in bands of layers, one relation set after the other, as real maps look."""
    rng = np.random.default_rng(0)
    (real,) = shipped()
    items = tuple({**item, "kept": max(item["kept"], 100), "applicable": True} for item in real.provenance.items)
    card = replace(_card(BIG, layers, heads), layers=tuple(range(layers)))
    centre = rng.uniform(0.3, 1, (len(items), 1, 1, 1)) * layers
    near = np.exp(-(((np.arange(layers)[None, None, :, None] - centre) / (layers / 10)) ** 2))
    share = rng.beta(0.25, 3, (len(items), 2, layers, heads)) * near
    kept = np.array([item["kept"] for item in items])[:, None, None]
    hits = {layer: np.floor(share[:, :, layer] * kept) for layer in range(layers)}
    return Scores.from_hits(hits, replace(real.provenance, model=card, items=items))


def odd_scores() -> Scores:
    """A relation whose every text is markup, one layer not computed, layers that are not numbered in a row."""
    (real,) = shipped()
    texts = {"name": "odd", "category": "custom", "title": HOSTILE, "sentence": HOSTILE, "k": 10, "hash": "0"}
    items = (
        {**texts, "pairs": 40, "kept": 40, "applicable": True},
        {**texts, "name": "few", "pairs": 40, "kept": 2, "applicable": False},
    )
    card = replace(_card(ODD, 4, 4), layers=(1, 3, 5, 8), kv_heads=1)
    hits = {1: np.array([[[30, 0, 3, 0], [0, 20, 0, 0]]]), 3: np.zeros((1, 2, 4)), 5: np.full((1, 2, 4), 4)}
    provenance: Provenance = replace(real.provenance, model=card, items=items)
    return Scores.from_hits(hits, provenance)


def _card(name: str, layers: int, heads: int) -> ModelCard:
    (real,) = shipped()
    fingerprint = (name.encode().hex() * 4)[:64]
    return replace(
        real.provenance.model, id=name, fingerprint=fingerprint, revision=fingerprint[:12], layers=tuple(range(layers)),
        heads=heads, kv_heads=max(1, heads // 8), note="synthetic",
    )  # fmt: skip


def fill(store: Store) -> None:
    """Put both into a store, as a finished analysis would."""
    for scores in (big_scores(), odd_scores()):
        store.put(f"result/{scores.provenance.model.fingerprint}/function/0", scores.to_parquet())
    odd = odd_scores().provenance.model
    entry = {"token": 1, "text": HOSTILE, "value": 1.0}
    operation = {"token": 1, "text": HOSTILE, "sigma": 1.0, "promoted": [entry], "suppressed": [entry]}
    for layer in odd.layers:
        content = json.dumps([[operation]] * odd.heads).encode()
        store.put(f"salience/{odd.fingerprint}/{SALIENCE_VERSION}/{layer}/1", content)
