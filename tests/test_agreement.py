"""How far two maps of the same relations agree, and which labels they share."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.cli import main
from analysis.evidence.comparison import compared_text
from analysis.evidence.quantities import values
from analysis.evidence.shipped import shipped_scores
from analysis.methods import METHODS, method
from analysis.relations.agreement import agreement, correlation, label_counts
from analysis.relations.layer import RelationLayer, scores_of_layers
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import ONLY_SAMPLE, part_array
from tests.hand_made import HandMade

RNG = np.random.default_rng(0)
CARD = HandMade.random(0, layers=2, heads=3, kv_heads=1).card
ITEMS = tuple(ScoredItem(name, name, "knowledge", kept=40, k=10) for name in ("a", "b"))
FACTS = Provenance(CARD, "function", "2", {}, ITEMS, "cpu", {}, "2026-01-01T00:00:00Z", "0")


def scores_of(hits, samples=(ONLY_SAMPLE,), beyond=np.nan, control=np.nan, items=ITEMS):
    """A result from hits [sample, relation, kind, layer, head], with the same β and control everywhere."""
    layers = {}
    for number, sample in enumerate(samples):
        for layer in CARD.layers:
            own = np.asarray(hits, float)[number][:, :, layer]
            layers[sample, layer] = RelationLayer(
                own, np.full(own.shape, beyond), np.full(own.shape, np.nan), np.full(own.shape, control)
            )
    return scores_of_layers(layers, samples, replace(FACTS, items=items))


def test_r_is_pearsons_over_kinds_and_heads():
    """For each relation as numpy computes it, of several carriers by their mean; over all the relations' mean."""
    one = RNG.integers(0, 40, (1, 2, 2, 2, 3))
    other = RNG.integers(0, 40, (2, 2, 2, 2, 3))
    found = agreement(scores_of(one), scores_of(other, ("x", "y")))
    expected = [np.corrcoef(one[0, i].ravel(), other.mean(0)[i].ravel())[0, 1] for i in range(2)]
    assert list(found.relations.values()) == pytest.approx(expected)
    assert found.overall == pytest.approx(np.mean(expected))


def test_beyond_copying_over_carriers_is_a_share_of_all_their_hits():
    """Pooled for the mean, 0.9 of 30 hits and 0.1 of 2, else of the carrier that decides, as copied and control are."""
    hits = np.zeros((2, 2, 2, 2, 3))
    hits[0, 0, 0, 0, 0], hits[1, 0, 0, 0, 0] = 30, 2
    scores = scores_of(hits, ("x", "y"), control=0.0)
    beyond = np.full((2, 2, 2, 3), np.nan)  # [item, sample, layer, head]
    beyond[0, :, 0, 0] = 0.9, 0.1
    control = np.full((2, 2, 2, 3), np.nan)
    control[0, 0, 0, 0] = 0.2  # after y the head scores too little for it to be measured
    for name, numbers in (("beyond promote", beyond), ("control promote", control)):
        scores.parts[name] = part_array(scores.provenance, ("x", "y"), numbers)
    key = "function/a/beyond promote"
    told = {"mean": (0.9 * 30 + 0.1 * 2) / 32, "every": 0.1, "some": 0.9, "y": 0.1}
    keys = {"mean": key, "every": f"{key}@always", "some": f"{key}@any", "y": f"{key}@y"}
    for how, share in told.items():
        parts = scores.over_samples(how).parts
        assert parts["beyond promote"][0, 0, 0, 0] == pytest.approx(share)
        assert np.isnan(parts["beyond promote"][1]).all()
        assert values({"function": scores}, keys[how])[0, 0] == pytest.approx(share)
    controls = [scores.over_samples(how).parts["control promote"][0, 0, 0, 0].item() for how in told]
    assert controls == pytest.approx([0.2, np.nan, 0.2, np.nan], nan_ok=True)


def test_a_map_without_any_score_does_not_agree():
    """Where only one of the two varies r counts as 0, where neither does there is nothing to say."""
    none, some = np.zeros((1, 2, 2, 2, 3)), RNG.integers(1, 40, (1, 2, 2, 2, 3))
    assert agreement(scores_of(none), scores_of(some)).overall == 0
    assert agreement(scores_of(none), scores_of(some)).fails
    assert np.isnan(agreement(scores_of(none), scores_of(none)).overall)
    assert correlation(np.array([1.0, np.nan, 3]), np.array([2.0, 5, 6])) == pytest.approx(1)


def test_labels_that_both_have():
    """Two from the weights, three in the running model, one of both; copy-like and unspecific ones are not solid."""
    quick, reference = np.zeros((1, 2, 2, 2, 3)), np.zeros((1, 2, 2, 2, 3))
    quick[0, 0, 0, 0, :2] = 20
    reference[0, 0, 0, 0, 1:] = 20
    reference[0, 1, 1, 1, 0] = 20
    counts = label_counts(scores_of(quick), scores_of(reference, beyond=0.9, control=0.1))
    assert (counts.quick, counts.reference, counts.shared, counts.solid) == (2, 3, 1, 3)
    assert (counts.recall, counts.precision) == (1 / 3, 1 / 2)
    assert label_counts(scores_of(quick), scores_of(reference, beyond=0.4)).solid == 0
    assert label_counts(scores_of(quick), scores_of(reference, control=0.2)).solid == 0


def test_labels_of_copying_relations_are_counted_apart():
    """β says nothing of them, so they are not beyond copying; shuffled targets speak against them as against others."""
    items = (replace(ITEMS[0], name="name_copying"), ITEMS[1])
    hits = np.zeros((1, 2, 2, 2, 3))
    hits[0, 0, 0, 0, :2] = 20
    hits[0, 1, 1, 1, 0] = 20
    found = scores_of(hits, beyond=0.9, control=0.0, items=items)
    for kind in ("promote", "suppress"):
        found.parts[f"beyond {kind}"].loc[{"item": "name_copying"}] = np.nan
    found.parts["control promote"].loc[{"item": "name_copying", "head": 1}] = 0.3
    counts = label_counts(found, found)
    assert (counts.reference, counts.solid, counts.copying) == (3, 1, 1)


def test_the_models_that_come_with_the_project_are_compared(tmp_path, monkeypatch, capsys):
    """The weights-only map holds on the default model and fails on the two others, as is published."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert main(["compare", "--json"]) == 0
    rows = {row["model"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["smollm2-135m-instruct"]["r"] > 0.7
    assert rows["gemma-3-270m"]["r"] < 0.2
    assert rows["qwen2.5-coder-1.5b-instruct"]["r"] < 0.5
    for row in rows.values():
        assert row["labels"][1] >= row["solid"] + row["copying"] > row["solid"] > 0
    assert main(["compare"]) == 0
    labels, correlations = capsys.readouterr().out.strip().split("\n\n")
    assert len(labels.splitlines()) == len(correlations.splitlines()) == 2 + len(rows)


def test_a_map_says_of_itself_whether_it_holds():
    """In its summary, and in a line for a terminal where it does not or where nobody knows; only judged maps do."""
    models, names = ("gemma-3-270m", "smollm2-135m-instruct"), ("function", "running")
    by_model = {model: {name: shipped_scores(name, model) for name in names} for model in models}
    command = "python -m analysis running 'a folder'"
    fields, line = method("function").judgement("a folder", by_model["gemma-3-270m"], METHODS)
    assert (fields["holds"], fields["judged_by"]) == (False, command)
    assert line == f"This map does not hold for this model: r = 0.00; see: {command}"
    fields, line = method("function").judgement("a folder", by_model["smollm2-135m-instruct"], METHODS)
    assert (fields["holds"], line) == (True, "")
    assert fields["r"] == pytest.approx(0.76, abs=0.005)
    fields, line = method("function").judgement("a folder", {}, METHODS)
    assert (fields["r"], fields["holds"]) == (None, None)
    assert line == f"Whether this holds in the running model: {command}"
    assert method("running").judgement("a folder", by_model["gemma-3-270m"], METHODS) == ({}, "")


def test_correlations_of_every_two_maps_are_told_for_each_relation(tmp_path, monkeypatch, capsys):
    """Weights, running model, with context: three columns; the first is the r that the labels stand beside."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert main(["compare", "smollm2-135m-instruct", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    pairs = {tuple(pair["methods"]): pair for pair in row["correlations"]}
    assert list(pairs) == [("function", "running"), ("function", "context"), ("running", "context")]
    first = pairs["function", "running"]
    assert (first["r"], first["relations"]) == (row["r"], row["relations"])
    for pair in pairs.values():
        assert np.mean(list(pair["relations"].values())) == pytest.approx(pair["r"])
    numbers = []
    for name in ("running", "context"):
        scores = shipped_scores(name).over_samples("mean")
        numbers.append(scores.score.sel(item="noun_pronoun").values.ravel())
    assert pairs["running", "context"]["relations"]["noun_pronoun"] == pytest.approx(np.corrcoef(numbers)[0, 1])
    assert main(["compare", "smollm2-135m-instruct", "--relations"]) == 0
    table = capsys.readouterr().out.strip().split("\n\n")[2].splitlines()
    titles = ("weights – running model", "weights – with context", "running model – with context")
    assert table[0] == f"| smollm2-135m-instruct | {' | '.join(titles)} |"
    assert len(table) == 2 + len(row["relations"])


def test_a_model_with_one_map_says_what_is_missing(tmp_path, monkeypatch, capsys):
    """An unknown model, too, gets an answer in words."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert main(["compare", "no-such-model"]) == 3
    assert "no map of no-such-model" in capsys.readouterr().err


def test_a_model_without_labels_has_no_shares():
    """What cannot be divided is left out of the table."""
    row = {"model": "m", "heads": 2, "labels": [0, 0], "solid": 0, "copying": 0, "shared": 0}
    row |= {"found": None, "right": None, "r": None, "correlations": []}
    assert compared_text([row]).splitlines()[2] == "| m | 2 | 0 | 0 + 0 | – | 0 | 0 | – |"
