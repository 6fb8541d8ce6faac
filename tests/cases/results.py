"""The small results of the cases, made of their JSON."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import xarray as xr

from analysis.methods.ablation.result import ERROR, part_name
from analysis.methods.ablation.result import KINDS as OFF
from analysis.methods.behaviour.measures import SCORE
from analysis.methods.causal.fits import FittedGates
from analysis.methods.causal.result import CONTRAST, TASK, TaskRecord, TaskResult, Untouched, causal_scores
from analysis.methods.causal.settings import GateSettings
from analysis.models.card import ModelCard
from analysis.relations.layer import scores_of_hits
from analysis.relations.scores import KINDS
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import DIMS, ONLY_SAMPLE, Missing, Scores, part_array

FOLDER = Path(__file__).parent


PROMPTS = 24  # of every item of an ablation
VIEWS = {"agreement": "agreement", "besides": "function"}  # of tables whose results are of several methods
COMPARED = "comparison"  # the table of the figure that compares two results


def tables() -> dict[str, dict]:
    """The tables by the name of their map."""
    return {name: json.loads((FOLDER / f"{name}.json").read_text()) for name in RESULTS}


def result_of(name: str, described: dict) -> Scores | dict[str, Scores]:
    """A result from its description; of some tables several of one model, by their methods."""
    return RESULTS[name](described)


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
        facts = {"pairs": 60, "kept": each["kept"], "applicable": enough, "k": 10, "hash": each["name"]}
        items.append(ScoredItem(each["name"], each["title"], each["category"], each.get("sentence", ""), **facts))
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


def running_result(described: dict) -> Scores:
    """The same in the running model, after one carrier."""
    scores = function_result(described)
    return replace(scores, provenance=replace(scores.provenance, method="running"))


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
        item = ScoredItem(each["name"], each["title"], variant.name)
        gradient = {name: np.array(values) for name, values in each.get("gradient", {}).items()}
        untouched = Untouched(accuracy=1.0, example=each["example"]) if "example" in each else None
        results.append(TaskResult(item, _roles(each), TaskRecord(untouched=untouched), None, gradient))
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
            roles[seed] = FittedGates(np.array(task["open"][seed]), np.array(shut), {}).roles()
    return roles


def behaviour_result(described: dict) -> Scores:
    """One number per head and measure."""
    return plain_result(described, "behaviour", (SCORE,))


def ablation_result(described: dict) -> Scores:
    """One number per head and item for each way of switching off; an error that all heads of an item have."""
    scores = plain_result(described, "ablation", OFF)
    grid = (1, described["layers"], described["heads"])
    parts = {}
    for kind in OFF:
        values = np.stack([np.full(grid, each["error"][kind]) for each in described["items"]])
        parts[part_name(ERROR, kind)] = part_array(scores.provenance, (ONLY_SAMPLE,), values)
    records: dict[str, dict] = {}
    for each in described["items"]:
        accuracy = {"accuracy": each["accuracy"]} if "accuracy" in each else {}
        records[each["name"]] = {"prompts": PROMPTS, **accuracy}
    return replace(scores, parts=parts, records=records)


def plain_result(described: dict, method: str, kinds: tuple[str, ...]) -> Scores:
    """Values [layer][head] of each item and kind; null was not computed."""
    items = described["items"]
    scored = tuple(ScoredItem(each["name"], each["title"], method) for each in items)
    card = card_of(described["layers"], described["heads"])
    provenance = Provenance(card, method, "1", {}, scored, "cpu", {}, "2026-01-01T00:00:00Z", "0")
    values = np.array([[[each["values"][kind]] for kind in kinds] for each in items], float)
    labels = ([each["name"] for each in items], list(kinds), [ONLY_SAMPLE], list(card.layers), list(range(card.heads)))
    score = xr.DataArray(values, dict(zip(DIMS, labels, strict=True)), DIMS)
    missing = xr.where(score.isnull(), int(Missing.NOT_COMPUTED), int(Missing.PRESENT)).astype("int8")
    return Scores(score, score * np.nan, missing, provenance)


def several_results(described: dict) -> dict[str, Scores]:
    """A result of each method that is described."""
    described = {name: each for name, each in described.items() if name in ONE}
    return {name: ONE[name](each) for name, each in described.items()}


ONE = {
    "function": function_result,
    "running": running_result,
    "causal": causal_result,
    "behaviour": behaviour_result,
    "ablation": ablation_result,
}

ALONE = ("function", "causal", "behaviour", "ablation")  # tables whose results are of one method, of its name
RESULTS = {**{name: ONE[name] for name in ALONE}, **dict.fromkeys((*VIEWS, COMPARED), several_results)}
