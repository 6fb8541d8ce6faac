"""The small results of the cases, made of their JSON."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from analysis.methods.causal.fits import Gates
from analysis.methods.causal.result import CONTRAST, TASK, TaskRecord, TaskResult, causal_scores
from analysis.methods.causal.settings import GateSettings
from analysis.methods.relation_layer import scores_of_hits
from analysis.methods.relation_scores import KINDS
from analysis.models.card import ModelCard
from analysis.results.provenance import Item, Provenance
from analysis.results.scores import Missing, Scores, part_array

FOLDER = Path(__file__).parent


def tables() -> dict[str, dict]:
    """The tables by the name of their map."""
    return {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in ("function", "causal")}


def result_of(name: str, described: dict) -> Scores:
    """A result from its description."""
    return {"function": function_result, "causal": causal_result}[name](described)


def card_of(layers: int, heads: int) -> ModelCard:
    """A model of so many heads."""
    return ModelCard(
        id="case-model", revision="0", fingerprint="0" * 64, family="none", layers=tuple(range(layers)), heads=heads,
        kv_heads=1, head_dim=8, width=8, vocabulary=100, dtype="float32",
    )  # fmt: skip


def function_result(described: dict) -> Scores:
    """Hits [kind][layer][head] of each relation; layers beyond them are not computed."""
    relations = described["relations"]
    items = []
    for each in relations:
        enough = each["kept"] >= 30
        told = {"pairs": 60, "kept": each["kept"], "applicable": enough, "k": 10, "hash": each["name"]}
        items.append(Item(each["name"], each["title"], each["category"], each.get("sentence", ""), **told))
    card = card_of(described["layers"], described["heads"])
    settings = {"k_standard": 10, "k_copying": 1}
    provenance = Provenance(card, "function", "1", settings, tuple(items), "cpu", {}, "2026-01-01T00:00:00Z", "0")
    hits = np.array([each["hits"] for each in relations if each["kept"] >= 30], float)  # [relation, kind, layer, head]
    computed = hits.shape[2] if hits.size else 0
    scores = scores_of_hits({layer: hits[:, :, layer] for layer in range(computed)}, provenance)
    for layer, word in described.get("reasons", {}).items():
        reason = scores.missing.loc[{"layer": int(layer)}]
        scores.missing.loc[{"layer": int(layer)}] = reason.where(reason == Missing.NOT_APPLICABLE, int(Missing[word]))
    parts = {}
    for name in ("beyond", "control"):
        if any(name in each for each in relations):
            parts |= _parts(name, described, scores)
    return replace(scores, parts=parts)


def _parts(name: str, described: dict, scores: Scores) -> dict:
    """One number per kind of each relation stands for all its heads; those not given were not measured."""
    parts = {}
    for place, kind in enumerate(KINDS):
        values = np.full((len(described["relations"]), 1, described["layers"], described["heads"]), np.nan)
        for row, each in enumerate(described["relations"]):
            values[row] = np.nan if name not in each else _number(each[name][place])
        parts[f"{name} {kind}"] = part_array(scores.provenance, scores.samples, values)
    return parts


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def causal_result(described: dict) -> Scores:
    """Gates pushed shut and open [seed][layer][head] of each task, and gradients where there are some."""
    card = card_of(described["layers"], described["heads"])
    results = []
    for each in described["tasks"]:
        variant = CONTRAST if each.get("contrast") else TASK
        item = Item(each["name"], each["title"], variant.name)
        gradient = {name: np.array(values) for name, values in each.get("gradient", {}).items()}
        results.append(TaskResult(item, _roles(each), TaskRecord(), None, gradient))
    settings = {**asdict(GateSettings()), "seeds": described["seeds"]}
    scores = causal_scores(card, results, settings, "cpu")
    if described.get("running"):
        missing = scores.missing.where(scores.missing != Missing.NOT_COMPUTED, int(Missing.RUNNING))
        scores = replace(scores, missing=missing.astype("int8"))
    return scores


def _roles(task: dict) -> dict[int, np.ndarray]:
    roles = {}
    for seed, shut in enumerate(task.get("shut", [])):
        if task.get("contrast"):
            gate = np.array(shut)
            roles[seed] = np.stack([1 - gate, np.full(gate.shape, np.nan), gate])
        else:
            roles[seed] = Gates(np.array(task["open"][seed]), np.array(shut), {}).roles()
    return roles
