"""The pairs behind a score: against full rows, against the map, on the command line."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.compute.hits import HeadRelation, Query, ranks_of_heads, rows, unembedding, weights_inputs
from analysis.compute.weights import Weights
from analysis.data.relations import FLOOR, builtin, parse
from analysis.errors import HeadError, RelationError, SettingError
from analysis.evidence.shipped import shipped_scores
from analysis.gallery import ENTRIES
from analysis.methods import method, relation_method, relation_methods
from analysis.methods.running.settings import RunningSettings
from analysis.models import builtin as builtin_model
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import silent
from analysis.relations import pairs_file
from analysis.relations.head_pairs import HeadPairs
from analysis.relations.pairs import (
    HeadPairsStep,
    computed_pairs,
    settings_of,
)
from analysis.relations.pairs_file import are_shipped, from_parquet, shipped_pairs, to_parquet
from analysis.relations.scores import TAU
from analysis.relations.told_pairs import told_pairs
from analysis.results.intervals import wilson
from analysis.results.parquet import read_table
from tests.computing import computed, count_hits, function_plan, function_scores
from tests.hand_made import HandMade
from tests.test_cli import relation, run  # noqa: F401  # fixtures
from tests.test_function_map import random_pairs
from tests.test_running import file_of


def naive_ranks(model, pairs, layer, head, way):
    """Whole rows in float64, one pair at a time: rank of the target, rank of the source, the five first tokens."""
    share = model.card.heads // model.card.kv_heads
    w_vo = model.w_v[layer, head // share].double() @ model.w_o[layer, head].double()
    x = (model.e if layer == 0 else model.later).double()
    found = []
    for source, target in pairs:
        row = (x[source] @ w_vo @ model.u.double().T) * (1 - 2 * way)
        larger = [int((row > row[token]).sum()) + 1 for token in (target, source)]
        found.append((*larger, row.argsort(descending=True)[:5].tolist()))
    return found


@pytest.mark.parametrize("way", [0, 1])
def test_ranks_equal_a_naive_loop(way, monkeypatch):
    """Targets, sources and first tokens of every head, over several tiles and blocks of rows."""
    monkeypatch.setattr(unembedding, "TILE", 70)
    monkeypatch.setattr(rows, "_AT_ONCE", 7)
    model = HandMade.random(2, vocabulary=200)
    pairs = random_pairs(2, 40, 200)
    inputs = weights_inputs(model, Query.of([(pairs, 10)]))
    for layer in model.card.layers:
        for head in range(model.card.heads):
            (found,) = ranks_of_heads(inputs, [HeadRelation(layer, head, 0, way)], 5)
            told = list(zip(found.target.tolist(), found.source.tolist(), found.top.tolist(), strict=True))
            assert told == naive_ranks(model, pairs, layer, head, way)


@pytest.mark.parametrize("tied", [1.0, 1 + 2e-7])
def test_hits_equal_the_counters_even_with_ties(tied):
    """A pair is a hit when its rank is at most k: as many as the map counts, near ties and a head of zeros included."""
    model = HandMade.random(9, vocabulary=200)
    model.u[100:] = model.u[:100] * tied
    model.w_o[1, 1] = 0
    pairs, k = random_pairs(9, 80, 200), 12
    query = Query.of([(pairs, k)])
    for layer, hits in count_hits(model, query, model.card.layers):
        for head in range(model.card.heads):
            for way in (0, 1):
                (found,) = ranks_of_heads(weights_inputs(model, query), [HeadRelation(layer, head, 0, way)], 5)
                ranks = found.target
                assert int((ranks <= k).sum()) == int(hits[0, way, head])


def test_the_default_models_pairs_make_up_its_score(default_checkpoint, default_scores):
    """Country → capital of L23H4: the hits are the map's, Spain's first token is Madrid; the same comes shipped."""
    plan = function_plan(default_checkpoint, [builtin()["country_capital"]])
    step = HeadPairsStep.of(plan, HeadId(23, 4), "promote")
    [(key, content)] = step.run(OpenModel(default_checkpoint, "cpu"), silent)
    found = HeadPairs.from_json(content)
    score = default_scores.hits.sel(item="country_capital", kind="promote", layer=23, head=4).item()
    assert found.hits == score
    assert len(found.pairs) == default_scores.item("country_capital").kept
    spain = next(pair for pair in found.pairs if pair.source == "Spain")
    assert (spain.target, spain.hit, spain.rank, spain.top[0]) == ("Madrid", True, 1, " Madrid")
    assert [pair.rank for pair in found.pairs] == sorted(pair.rank for pair in found.pairs)
    beyond = sum(pair.rank < pair.source_rank for pair in found.pairs if pair.hit) / found.hits
    part = default_scores.parts["beyond promote"].sel(item="country_capital", layer=23, head=4).item()
    assert beyond == pytest.approx(part)
    shipped = shipped_pairs(key)
    assert [pair for pair in shipped.pairs if pair.hit] == [pair for pair in found.pairs if pair.hit]
    for mine, theirs in zip(found.pairs, shipped.pairs, strict=True):  # far down, rounding may move a rank by a few
        assert mine.rank == pytest.approx(theirs.rank, rel=1e-3)


def test_every_pair_of_a_tiny_model_is_told_for_both_kinds(tiny_folder, store):
    """The sum of hits equals the map's for each head and kind."""
    checkpoint = Checkpoint.open(tiny_folder)
    own = parse("\n".join(f"w{i},w{i + 50}" for i in range(40)).encode(), "own.csv")
    plan = function_plan(checkpoint, [own])
    scores = function_scores(checkpoint, plan, store)
    model = OpenModel(checkpoint, "cpu")
    for kind in ("promote", "suppress"):
        for layer in checkpoint.card.layers:
            for head in range(checkpoint.card.heads):
                found = computed_pairs(HeadPairsStep.of(plan, HeadId(layer, head), kind), model, store)
                assert found.hits == scores.hits.sel(item="own", kind=kind, layer=layer, head=head).item()
                assert len(found.pairs) == 40


def test_a_question_about_another_head_does_not_run_the_model_again(tiny_folder):
    """What was read after each of the last carriers answers for every head; a job's own things stay where they were."""
    checkpoint = Checkpoint.open(tiny_folder)
    own = parse("\n".join(f"w{i},w{i + 50}" for i in range(40)).encode(), "own.csv")
    settings = RunningSettings(relations=[], files=[file_of(own)], carriers=["w1", "w2"])
    plan = method("running").plan(checkpoint.card, settings)
    model = OpenModel(checkpoint, "cpu")
    job = model.keep("job", lambda: object())
    runs = []

    def ask(head, sample):
        step = HeadPairsStep.of(plan, head, "promote", sample)
        return list(step.run(model, lambda stage, done, total: runs.append(stage)))

    last = len(checkpoint.card.layers) - 1
    ask(HeadId(last, 1), "w1")
    once = runs.count("running the model")
    ask(HeadId(0, 3), "w1")
    assert runs.count("running the model") == once > 0
    ask(HeadId(last, 3), "w2")
    assert runs.count("running the model") == 2 * once
    ask(HeadId(1, 2), "w1")
    assert runs.count("running the model") == 2 * once
    assert model.keep("job", lambda: None) is job


def test_the_first_question_runs_the_model_as_far_as_its_head(tiny_folder):
    """A question about a later layer then runs all layers, once; the answers are those of a model that ran them all."""
    checkpoint = Checkpoint.open(tiny_folder)
    own = parse("\n".join(f"w{i},w{i + 50}" for i in range(40)).encode(), "own.csv")
    plan = method("running").plan(checkpoint.card, RunningSettings(relations=[], files=[file_of(own)]))
    model, layers = OpenModel(checkpoint, "cpu"), len(checkpoint.card.layers)

    def ask(head):
        runs = []
        step = HeadPairsStep.of(plan, head, "promote")
        found = list(step.run(model, lambda stage, done, total: runs.append(stage)))
        assert found == list(step.run(everything, silent))
        return runs.count("running the model")

    everything = OpenModel(checkpoint, "cpu")
    list(HeadPairsStep.of(plan, HeadId(layers - 1, 0), "promote").run(everything, silent))
    found = [ask(HeadId(1, 0)), ask(HeadId(0, 2)), ask(HeadId(2, 1)), ask(HeadId(layers - 1, 1)), ask(HeadId(2, 0))]
    assert found == [2, 0, layers, 0, 0]


def test_only_parts_of_the_vocabulary_with_a_near_tie_are_read_again():
    """One entry ties with the target's: deciding in float64 reads its tile, and none of the others."""
    model = HandMade.random(3, vocabulary=2 * unembedding.TILE + 100)
    tied = 50
    query = Query.of([([(1, tied)], 1)])
    inputs = weights_inputs(model, query)
    asked = [HeadRelation(0, 0, 0, 0)]
    q = (model.e[1].double() @ model.w_v[0, 0].double() @ model.w_o[0, 0].double()).float()
    model.u[tied] = 10 * q / q.norm()  # the largest entry of the row
    twin = unembedding.TILE + 7
    model.u[twin] = model.u[tied]
    read = []
    plain = model.unembed_span
    model.unembed_span = lambda start, stop: read.append(start) or plain(start, stop)
    (found,) = ranks_of_heads(replace(inputs, targets=model.u[[tied]]), asked, 5)
    assert found.target.tolist() == [1]
    assert sorted(found.top[0, :2].tolist()) == [tied, twin]
    assert read == [0, unembedding.TILE, 2 * unembedding.TILE, unembedding.TILE]


# What ships -----------------------------------------------------------------------------------------------------------


def test_pairs_of_all_scores_are_those_of_each(tiny_folder, store, monkeypatch):
    """Computed in one go, written and read again, they are those that each score's own question gives."""
    checkpoint = Checkpoint.open(tiny_folder)
    relations = {}
    for name, step in (("near", 3), ("far", 50)):
        text = "\n".join(f"w{i},w{i + step}" for i in range(40))
        relations[name] = replace(parse(text.encode(), f"{name}.csv"), category="linguistic")
    monkeypatch.setattr("analysis.data.relations.builtin", lambda: relations)
    monkeypatch.setattr("analysis.relations.told_pairs._AT_ONCE", 7)
    plan = function_plan(checkpoint, relations.values(), ks=(60, 60))
    scores = function_scores(checkpoint, plan, store)
    model = OpenModel(checkpoint, "cpu")
    answers = dict(told_pairs(method("function"), scores, model, silent, TAU))
    content = to_parquet(answers.items())
    for name, kind in product(relations, ("promote", "suppress")):
        for layer, head in product(checkpoint.card.layers, range(checkpoint.card.heads)):
            one = replace(plan, relations=(relations[name],))
            step = HeadPairsStep.of(one, HeadId(layer, head), kind)
            is_told = scores.score.sel(item=name, kind=kind, layer=layer, head=head).item() >= TAU
            assert from_parquet(content, step.key) == (computed_pairs(step, model, store) if is_told else None)
    assert 0 < len(answers) < scores.score.size
    everything = told_pairs(method("function"), scores, model, silent)
    assert len(list(everything)) == (scores.score >= FLOOR).sum().item()


def test_pairs_are_told_of_every_sample_if_one_reaches_the_least_score(tiny_folder, store, monkeypatch):
    """A page shows labels by the mean, every, some or one carrier: with too few hits after one, its pairs are there."""
    checkpoint = Checkpoint.open(tiny_folder)
    near = "\n".join(f"w{i},w{i + 3}" for i in range(40))
    relations = {"near": replace(parse(near.encode(), "near.csv"), category="linguistic")}
    monkeypatch.setattr("analysis.data.relations.builtin", lambda: relations)
    running = method("running")
    plan = running.plan(checkpoint.card, RunningSettings(relations=["near"], carriers=["w1", "w2"], k=100))
    scores = computed("running", plan, checkpoint, store)
    least = float(scores.score.max("sample").median())
    told = dict(told_pairs(running, scores, OpenModel(checkpoint, "cpu"), silent, least))
    places = {(pairs.sample, pairs.head, pairs.kind) for pairs in told.values()}
    for sample, kind in product(("w1", "w2"), scores.kinds):
        for layer, head in product(checkpoint.card.layers, range(checkpoint.card.heads)):
            reaches = (scores.score.sel(item="near", kind=kind, layer=layer, head=head) >= least).any()
            assert ((sample, f"L{layer}H{head}", kind) in places) == bool(reaches)
    assert any(pairs.hits / len(pairs.pairs) < least for pairs in told.values())


@pytest.mark.parametrize("name", ["function", "running"])
@pytest.mark.parametrize("model", [builtin_model.ID, *(entry.id for entry in ENTRIES)])
def test_the_pairs_of_every_score_worth_a_look_come_with_the_project(name, model):
    """Of whatever score of the shipped map is large enough with some carrier, after each: all pairs, the map's hits."""
    least = {entry.id: entry.pairs_from for entry in ENTRIES}.get(model, FLOOR)
    scores = shipped_scores(name, model)
    settings = method(name).settings(**settings_of(method(name), scores.provenance))
    plan = method(name).plan(scores.provenance.model, settings)
    reached = np.argwhere((scores.score.max("sample") >= least).values)
    assert len(reached)
    for count, (item, kind, layer, head) in enumerate(reached):
        about = scores.provenance.items[item]
        one = replace(plan, relations=(builtin()[about.name],))
        where = HeadId(scores.provenance.model.layers[layer], int(head))
        for number, sample in enumerate(plan.samples):
            step = HeadPairsStep.of(one, where, scores.kinds[kind], sample)
            assert are_shipped(step.key), (about.name, where, sample)
            if count % (1 + len(reached) // 12) == 0:
                found = shipped_pairs(step.key)
                assert found.hits == scores.hits.values[item, kind, number, layer, head]
                assert (len(found.pairs), len(found.pairs[0].top)) == (about.kept, 5)


def test_one_answer_is_read_without_the_rest_of_its_file(monkeypatch):
    """The answers of its relation are unpacked when the first is asked for, and not again for each."""
    read = []
    plain = pairs_file._PairsFile._table

    def counted(file, group):
        read.append(group)
        return plain(file, group)

    places = {}
    for key, place in pairs_file._shipped_keys().items():
        if place.file.startswith(builtin_model.ID):
            places.setdefault(place.group, []).append(key)
    pairs_file._shipped_file.cache_clear()
    monkeypatch.setattr(pairs_file._PairsFile, "_table", counted)
    group, keys = max(places.items(), key=lambda item: len(item[1]))
    assert all(shipped_pairs(key) is not None for key in keys[:20] * 2)
    assert len(keys) > 20
    assert read == [group]
    assert len(places) > 20


def test_files_of_an_older_version_are_read():
    """Words and numbers as lists of Parquet's own, in one row group, without a list of words."""
    content = (Path(__file__).parent / "legacy" / "pairs.parquet").read_bytes()
    [row] = read_table(content).to_pylist()
    found = from_parquet(content, row["key"])
    assert (found.relation, found.head, found.hits, len(found.pairs)) == ("country_capital", "L23H4", 26, 40)
    spain = next(pair for pair in found.pairs if pair.source == "Spain")
    assert (spain.target, spain.rank, spain.source_rank, spain.top[0]) == ("Madrid", 1, 5, " Madrid")
    assert from_parquet(to_parquet([(row["key"], found)]), row["key"]) == found


def test_a_relation_without_a_usable_pair_is_told_as_empty(tiny_folder, store):
    """No pair is single tokens of the model: no rows, and a table without any."""
    checkpoint = Checkpoint.open(tiny_folder)
    plan = function_plan(checkpoint, [builtin()["country_capital"]])
    step = HeadPairsStep.of(plan, HeadId(0, 0), "promote")
    found = computed_pairs(step, OpenModel(checkpoint, "cpu"), store)
    assert (found.pairs, found.hits) == ((), 0)
    assert "0 of 0 pairs" in found.to_text("weights")
    assert found.to_frame().columns.tolist()[:2] == ["source", "target"]


def test_what_is_not_there_is_refused_with_the_choices(tiny_folder):
    """Unknown heads, kinds, samples and methods, and more than one relation at a time."""
    checkpoint = Checkpoint.open(tiny_folder)
    plan = function_plan(checkpoint, [builtin()["country_capital"]])
    with pytest.raises(HeadError):
        HeadPairsStep.of(plan, HeadId(99, 0), "promote")
    with pytest.raises(SettingError, match="kind"):
        HeadPairsStep.of(plan, HeadId(0, 0), "facilitation")
    with pytest.raises(SettingError, match="sample"):
        HeadPairsStep.of(plan, HeadId(0, 0), "promote", "another")
    with pytest.raises(RelationError, match="one relation"):
        HeadPairsStep.of(function_plan(checkpoint, builtin().values()), HeadId(0, 0), "promote")
    with pytest.raises(SettingError, match="no pairs behind"):
        relation_method("salience")
    with pytest.raises(SettingError, match="no pairs behind"):
        relation_method("")
    assert relation_method("function") is relation_methods()[0] is method("function")


def test_a_step_is_named_by_all_that_it_depends_on(tiny_folder):
    """Another head, kind, k or first MLP is another entry of the store; the same is the same."""
    checkpoint = Checkpoint.open(tiny_folder)
    capital = [builtin()["country_capital"]]
    plan = function_plan(checkpoint, capital)
    steps = [
        HeadPairsStep.of(plan, HeadId(0, 0), "promote"),
        HeadPairsStep.of(plan, HeadId(0, 1), "promote"),
        HeadPairsStep.of(plan, HeadId(0, 0), "suppress"),
        HeadPairsStep.of(function_plan(checkpoint, capital, ks=(1, 7)), HeadId(0, 0), "promote"),
        HeadPairsStep.of(function_plan(checkpoint, capital, first_mlp=False), HeadId(0, 0), "promote"),
    ]
    assert len({step.key for step in steps}) == len(steps)
    assert HeadPairsStep.of(plan, HeadId(0, 0), "promote").key == steps[0].key


# The command line ---------------------------------------------------------------------------------------------------


def test_pairs_are_printed_as_a_table_as_json_and_as_a_file(run, tiny_folder, relation, tmp_path):  # noqa: F811
    """One's own relation from a file; all three tell the same pairs, the best rank first."""
    code, text, _ = run("pairs", tiny_folder, "L1H2", relation)
    assert code == 0
    assert "L1H2 promotes mine" in text
    assert len(text.splitlines()) == 3 + 40
    out = tmp_path / "pairs.csv"
    code, told, _ = run("pairs", tiny_folder, "1.2", relation, "--suppress", "--json", "--out", out)
    assert code == 0
    data = json.loads(told)
    assert (data["kind"], data["head"], data["kept"], len(data["pairs"])) == ("suppress", "L1H2", 40, 40)
    frame = pd.read_csv(out)
    assert frame["rank"].tolist() == [pair["rank"] for pair in data["pairs"]] == sorted(frame["rank"])
    assert frame["hit"].sum() == data["hits"]
    assert frame.columns.tolist()[:5] == ["source", "target", "hit", "rank", "source_rank"]
    assert frame.columns.tolist()[5:] == [f"top_{place}" for place in range(1, 6)]
    code, told, _ = run("pairs", tiny_folder, "1.2", relation, "--suppress", "--k", 200, "--json")
    assert json.loads(told)["hits"] == (frame["rank"] <= 200).sum()


def test_the_pairs_of_a_label_are_printed_without_weights(run):  # noqa: F811
    """Of a model of the gallery, in a cache that has nothing."""
    code, text, _ = run("pairs", "gemma-3-270m", "L12H2", "country_capital", "--method", "running")
    assert code == 0
    assert text.startswith("L12H2 promotes country → capital")
    told = json.loads(run("pairs", "gemma-3-270m", "L12H2", "country_capital", "--json")[1])
    scores = shipped_scores("running", "gemma-3-270m")
    beyond = scores.part("beyond promote", "country_capital", told["sample"])[12, 2]
    assert (told["low"], told["high"]) == wilson(told["hits"], told["kept"])
    assert told["beyond"] == pytest.approx(beyond)
    assert f"(k = 25, 95 % {told['low']:.2f}–{told['high']:.2f}, β = {beyond:.2f})" in text
    copying = json.loads(run("pairs", "gemma-3-270m", "L12H3", "copying", "--json")[1])
    assert (copying["hits"] > 0, copying["beyond"]) == (True, None)


def test_the_pairs_are_those_of_the_map_that_holds(run):  # noqa: F811
    """Gemma's weights-only map does not, so the running model's is read, and said; the default model's does."""
    code, text, _ = run("pairs", "gemma-3-270m", "L12H2", "country_capital")
    assert code == 0
    assert text == run("pairs", "gemma-3-270m", "L12H2", "country_capital", "--method", "running")[1]
    assert text.splitlines()[0].endswith("· running model · No")
    code, text, _ = run("pairs", "smollm2-135m-instruct", "L23H4", "country_capital")
    assert code == 0
    assert text.splitlines()[0].endswith("· weights")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("L1H2",), 2, "a head and a relation"),
        ((), 2, "a head and a relation"),
        (("L1H2", "nothing"), 4, "there is no relation"),
        (("L1H2", "knowledge"), 4, "one relation"),
        (("L1H99", "copying"), 5, "head"),
        (("L1H2", "copying", "--sample", "x"), 2, "there is no sample"),
        (("L1H2", "copying", "--k", "0"), 2, "k"),
    ],
)
def test_wrong_questions_are_answered_in_words(run, tiny_folder, arguments, code, words):  # noqa: F811
    """Each with its exit code."""
    found, _, err = run("pairs", tiny_folder, *arguments)
    assert found == code
    assert words in err


def test_one_head_takes_a_moment(default_checkpoint):
    """All pairs of the largest relation on the default model: no pass over more than the head's own rows."""
    pairs = Vocabulary.open(default_checkpoint.folder).keep(builtin()["copying"])
    weights = Weights(default_checkpoint)
    read = []
    plain = weights.unembed_span
    weights.unembed_span = lambda start, stop: read.append(stop - start) or plain(start, stop)
    (found,) = ranks_of_heads(weights_inputs(weights, Query.of([(pairs, 1)])), [HeadRelation(23, 3, 0, 1)], 5)
    assert sum(read) == weights.vocabulary
    assert len(found.target) == len(pairs)
    assert torch.equal(found.target, found.source)
