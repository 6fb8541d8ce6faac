"""Results that no model has: as large as a 70B model, as hostile as a relation file may be."""

import json
from dataclasses import asdict, replace
from functools import cache

import numpy as np

from analysis.data.tasks import builtin as builtin_tasks
from analysis.evidence.shipped import shipped_scores
from analysis.methods.causal.fits import FittedGates
from analysis.methods.causal.plan import curves_of
from analysis.methods.causal.result import TASK, TaskRecord, TaskResult, Untouched, causal_scores, settled_share
from analysis.methods.causal.settings import GateSettings
from analysis.methods.salience.tokens import VERSION as SALIENCE_VERSION
from analysis.models.card import ModelCard
from analysis.relations.layer import scores_of_hits
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import Scores
from analysis.results.store import Store

HOSTILE = "<img src=x onerror=alert(1)>"
BIG = "synthetic-80x64"
ODD = "synthetic-odd"
BLIND = "synthetic-blind"


def big_scores(layers: int = 80, heads: int = 64) -> Scores:
    """Sparse scores in bands of layers, one relation set after the other, as real maps look."""
    rng = np.random.default_rng(0)
    real = shipped_scores("function")
    items = tuple(replace(item, kept=max(item.kept, 100), applicable=True) for item in real.provenance.items)
    card = replace(_card(BIG, layers, heads), layers=tuple(range(layers)))
    centre = rng.uniform(0.3, 1, (len(items), 1, 1, 1)) * layers
    near = np.exp(-(((np.arange(layers)[None, None, :, None] - centre) / (layers / 10)) ** 2))
    share = rng.beta(0.25, 3, (len(items), 2, layers, heads)) * near
    kept = np.array([item.kept for item in items])[:, None, None]
    hits = {layer: np.floor(share[:, :, layer] * kept) for layer in range(layers)}
    return scores_of_hits(hits, replace(real.provenance, model=card, items=items))


def odd_scores() -> Scores:
    """A relation whose every text is markup, one layer not computed, layers that are not numbered in a row."""
    real = shipped_scores("function")
    odd = ScoredItem("odd", HOSTILE, "custom", HOSTILE, "0", pairs=40, kept=40, k=10)
    items = (odd, replace(odd, name="few", kept=2, applicable=False))
    card = replace(_card(ODD, 4, 4), layers=(1, 3, 5, 8), kv_heads=1)
    hits = {1: np.array([[[30, 0, 3, 0], [0, 20, 0, 0]]]), 3: np.zeros((1, 2, 4)), 5: np.full((1, 2, 4), 4)}
    provenance: Provenance = replace(real.provenance, model=card, items=items)
    return scores_of_hits(hits, provenance)


def _card(name: str, layers: int, heads: int) -> ModelCard:
    real = shipped_scores("function")
    fingerprint = (name.encode().hex() * 4)[:64]
    return replace(
        real.provenance.model, id=name, fingerprint=fingerprint, revision=fingerprint[:12], layers=tuple(range(layers)),
        heads=heads, kv_heads=max(1, heads // 8), note="synthetic",
    )  # fmt: skip


def causal_scores_of(card: ModelCard, seeds: int = 5) -> Scores:
    """Gates of two tasks as fits leave them: most near 0 or 1, some heads alike in all seeds, most not."""
    rng = np.random.default_rng(1)
    shape = (len(card.layers), card.heads)
    results = []
    for task in (builtin_tasks()["math"], builtin_tasks()["syntax"]):
        needed, harmful = rng.uniform(size=shape) < 0.1, rng.uniform(size=shape) < 0.02
        gates = {seed: _gates(rng, needed, harmful) for seed in range(seeds)}
        kinds = [{"kind": kind, "items": 40, "accuracy": 0.5, "nll": 0.8} for kind in task.kinds]
        gradient = rng.normal(size=shape) * 0.02 - needed * 0.1
        statistics = {"mean": gradient, "least": gradient - 0.2, "most": gradient + 0.2}
        statistics["share"] = 1 / (1 + np.exp(gradient * 50))
        record = TaskRecord(
            untouched=Untouched(accuracy=0.5, nll=0.8, kinds=kinds),
            prompts=64,
            agreement={"facilitation": 0.4, "interference": -0.3},
            settled={
                "open": tuple(settled_share(of_seed.open) for of_seed in gates.values()),
                "shut": tuple(settled_share(of_seed.shut) for of_seed in gates.values()),
            },
            curves=curves_of(gates, ()),
        )
        item = ScoredItem(
            task.name, task.title, TASK.name, task.sentence, task.hash, pairs=len(task.train), kept=len(task.train)
        )
        roles = {seed: of_seed.roles() for seed, of_seed in gates.items()}
        effect = rng.normal(size=shape) * 0.02 - needed * 0.5 + harmful * 0.2
        results.append(TaskResult(item, roles, record, effect, statistics))
    return causal_scores(card, results, {**asdict(GateSettings()), "seeds": seeds}, "cpu")


def _gates(rng: np.random.Generator, needed: np.ndarray, harmful: np.ndarray) -> FittedGates:
    shut = np.where(needed, 0.97, rng.beta(0.15, 0.4, needed.shape))
    opened = np.where(harmful, 0.04, np.maximum(shut, rng.beta(0.4, 0.1, needed.shape)))
    fall = np.exp(-np.arange(80) / 15)
    curves = {name: (0.7 + 3 * fall + rng.normal(size=80) * 0.1).round(3).tolist() for name in ("free", "open", "shut")}
    return FittedGates(opened, shut, curves)


def fill_two_bases(store: Store, running: Scores) -> None:
    """The default model's map in the running model; and a model of which the weights-only map does not hold."""
    store.put(f"result/{running.provenance.model.fingerprint}/running/0", running.to_parquet())
    weights = shipped_scores("function")
    card = replace(weights.provenance.model, id=BLIND, fingerprint=(BLIND.encode().hex() * 4)[:64])
    for scores, turn in ((weights, 0), (running, 7)):  # other heads do it when the model runs
        arrays = {name: getattr(scores, name).roll(layer=turn, head=turn) for name in ("score", "hits", "missing")}
        parts = {name: part.roll(layer=turn, head=turn) for name, part in scores.parts.items()}
        moved = replace(scores, **arrays, parts=parts, provenance=replace(scores.provenance, model=card))
        store.put(f"result/{card.fingerprint}/{moved.provenance.method}/0", moved.to_parquet())


def fill(store: Store) -> None:
    """Put both into a store, as a finished analysis would."""
    for name, content in _contents().items():
        store.put(name, content)


@cache
def _contents() -> dict[str, bytes]:
    """What that is, by the names of the store; made once, because many tests fill a store of their own."""
    contents = {}
    for scores in (big_scores(), odd_scores()):
        card = scores.provenance.model
        contents[f"result/{card.fingerprint}/function/0"] = scores.to_parquet()
        contents[f"result/{card.fingerprint}/causal/0"] = causal_scores_of(card).to_parquet()
    odd = odd_scores().provenance.model
    entry = {"token": 1, "text": HOSTILE, "value": 1.0}
    operation = {"token": 1, "text": HOSTILE, "sigma": 1.0, "promoted": [entry], "suppressed": [entry]}
    for layer in odd.layers:
        name = f"salience/{odd.fingerprint}/{SALIENCE_VERSION}/{layer}/1"
        contents[name] = json.dumps([[operation]] * odd.heads).encode()
    return contents
