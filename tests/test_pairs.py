"""The pairs behind a score: against full rows, against the map, on the command line."""

import json

import pandas as pd
import pytest
import torch

from analysis.compute.hits import Query, ranks_of_head, rows, unembedding, weights_inputs
from analysis.compute.weights import Weights
from analysis.data.relations import builtin, parse
from analysis.errors import HeadError, RelationError, SettingError
from analysis.methods import method
from analysis.methods.head_pairs import HeadPairs
from analysis.methods.relation_pairs import HeadPairsStep, computed_pairs, relation_method, relation_methods
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.opened import OpenModel
from analysis.models.vocabulary import Vocabulary
from tests.computing import count_hits, function_plan, function_scores
from tests.hand_made import HandMade
from tests.test_cli import relation, run  # noqa: F401  # fixtures
from tests.test_function_map import random_pairs


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
            found = ranks_of_head(inputs, layer, head, way, 5)
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
                ranks = ranks_of_head(weights_inputs(model, query), layer, head, way, 5).target
                assert int((ranks <= k).sum()) == int(hits[0, way, head])


def test_the_default_models_pairs_make_up_its_score(default_checkpoint, default_scores, store):
    """Country → capital of L23H4: the hits are the map's, Spain's first token is Madrid, the second look is stored."""
    plan = function_plan(default_checkpoint, [builtin()["country_capital"]])
    step = HeadPairsStep.of(plan, HeadId(23, 4), "promote")
    found = computed_pairs(step, OpenModel(default_checkpoint, "cpu"), store)
    score = default_scores.hits.sel(item="country_capital", kind="promote", layer=23, head=4).item()
    assert found.hits == score
    assert len(found.pairs) == default_scores.item("country_capital").kept
    spain = next(pair for pair in found.pairs if pair.source == "Spain")
    assert (spain.target, spain.hit, spain.rank, spain.top[0]) == ("Madrid", True, 1, " Madrid")
    assert [pair.rank for pair in found.pairs] == sorted(pair.rank for pair in found.pairs)
    beyond = sum(pair.rank < pair.source_rank for pair in found.pairs if pair.hit) / found.hits
    part = default_scores.parts["beyond promote"].sel(item="country_capital", layer=23, head=4).item()
    assert beyond == pytest.approx(part)
    assert HeadPairs.from_json(store.get(step.key)) == found
    assert computed_pairs(step, None, store) == found  # from the store: no model is needed


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


def test_a_relation_without_a_usable_pair_is_told_as_empty(tiny_folder, store):
    """No pair is single tokens of the model: no rows, and a table without any."""
    checkpoint = Checkpoint.open(tiny_folder)
    plan = function_plan(checkpoint, [builtin()["country_capital"]])
    step = HeadPairsStep.of(plan, HeadId(0, 0), "promote")
    found = computed_pairs(step, OpenModel(checkpoint, "cpu"), store)
    assert (found.pairs, found.hits) == ((), 0)
    assert "0 of 0 pairs" in found.to_text()
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
    assert relation_method("") is relation_methods()[0] is method("function")


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


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
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
    found = ranks_of_head(weights_inputs(weights, Query.of([(pairs, 1)])), 23, 3, 1, 5)
    assert sum(read) == weights.vocabulary
    assert len(found.target) == len(pairs)
    assert torch.equal(found.target, found.source)
