import json
from dataclasses import replace

import pytest

from analysis.compute.hits import counter, deciding, unembedding
from analysis.compute.hits.elimination import Elimination
from analysis.compute.weights import Weights
from analysis.data.relations import parse
from analysis.errors import DeviceError, HeadError, RelationError, SettingError
from analysis.jobs.request import make_request
from analysis.methods.function import plan as plans
from analysis.methods.function.method import FunctionMethod
from analysis.methods.function.settings import FunctionSettings
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.relations.scores import categories
from analysis.relations.settings import default_ks
from analysis.results.inventory import forget_model, forget_stray_jobs, stored_models
from analysis.results.scores import Missing
from tests.computing import function_plan, function_scores, salience

RELATION = parse("\n".join(f"w{i},w{i + 100}" for i in range(50)).encode(), "shift.csv")
FEW = parse("\n".join(f"w{i},w{i + 1}" for i in range(29)).encode(), "few.csv")


@pytest.fixture
def checkpoint(tiny_folder):
    return Checkpoint.open(tiny_folder)


@pytest.fixture
def computed(monkeypatch):
    """The layers that were really computed."""
    layers = []
    original = Elimination.survivors

    def spy(self, layer, position):
        layers.append(layer)
        return original(self, layer, position)

    monkeypatch.setattr(Elimination, "survivors", spy)
    return layers


def test_published_values_of_k():
    """1 and 10; from a vocabulary of 100,000 on, 3 and 25."""
    assert default_ks(99_999) == (1, 10)
    assert default_ks(100_000) == (3, 25)


def test_the_second_time_comes_from_the_store(checkpoint, store, computed):
    """The same plan is computed once; another k, relation or MLP setting is another plan."""
    wanted = function_plan(checkpoint, (RELATION,))
    first = function_scores(checkpoint, wanted, store)
    assert computed == [0, 1, 2]
    again = function_scores(checkpoint, wanted, store)
    assert computed == [0, 1, 2]
    assert again.score.equals(first.score)
    assert again.provenance == first.provenance
    others = [
        function_plan(checkpoint, (RELATION,), (1, 11)),
        function_plan(checkpoint, (RELATION,), first_mlp=False),
        function_plan(checkpoint, (RELATION, FEW)),
        function_plan(checkpoint, (RELATION,), layers=[1]),
    ]
    assert len({wanted.key, *(other.key for other in others)}) == 5


def test_a_stopped_run_goes_on_where_it_was(checkpoint, store, computed, monkeypatch):
    """Layers that were finished before the stop are not computed again."""
    monkeypatch.setattr(counter, "GROUP_BYTES", 1)
    wanted = function_plan(checkpoint, (RELATION,))

    def stop(stage, done, total):
        if stage == "looking through layers" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        function_scores(checkpoint, wanted, store, progress=stop)
    assert computed == [0, 1, 2]
    resumed = function_scores(checkpoint, wanted, store)
    assert computed == [0, 1, 2, 2]
    forget_model(store, checkpoint.card.fingerprint)
    assert function_scores(checkpoint, wanted, store).score.equals(resumed.score)


@pytest.mark.parametrize("how", ["damaged", "of another version"])
def test_a_result_that_cannot_be_read_is_put_together_again(checkpoint, store, computed, how):
    """Damage in the store costs time, not truth; layers that are whole are not computed again."""
    wanted = function_plan(checkpoint, (RELATION,))
    first = function_scores(checkpoint, wanted, store)
    if how == "damaged":
        store._cache.set(wanted.key, b"damaged")
        store._cache.set(wanted.layer_name(1), b"damaged too")
    else:
        store.put(wanted.key, b"something else")
    assert function_scores(checkpoint, wanted, store).score.equals(first.score)
    assert computed == ([0, 1, 2, 1] if how == "damaged" else [0, 1, 2])


def test_layers_that_are_known_are_not_computed_again(checkpoint, store, computed):
    """Two of three layers first, then all: the third is what is left to do."""
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,), layers=[0, 2]), store)
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store)
    assert computed == [0, 2, 1]


def test_relations_with_too_few_pairs_are_not_applicable(checkpoint, store, computed):
    """29 kept pairs say too little; with no relation left nothing is computed at all. One's own is refused instead."""
    with pytest.raises(RelationError, match="29 of 29 pairs .* and 30 are needed") as refused:
        function_scores(checkpoint, function_plan(checkpoint, (FEW, replace(FEW, name="other"))), store)
    assert len(str(refused.value).splitlines()) == 2
    builtin = replace(FEW, category="linguistic")
    scores = function_scores(checkpoint, function_plan(checkpoint, (builtin,)), store)
    assert (scores.missing == Missing.NOT_APPLICABLE).all()
    assert categories(scores) == []
    assert computed == []


def test_only_some_layers(checkpoint, store):
    """Layers that were not asked for are *not computed*."""
    scores = function_scores(checkpoint, function_plan(checkpoint, (RELATION,), layers=[2, 0]), store)
    assert scores.missing.values[0, 0, 0].tolist() == [[0] * 4, [Missing.NOT_COMPUTED] * 4, [0] * 4]


def test_what_makes_no_sense_is_refused(checkpoint, store):
    """A layer the model lacks, a k of nothing, a device that is not there."""
    with pytest.raises(HeadError, match="no layer 7"):
        FunctionMethod().plan(checkpoint.card, FunctionSettings(layers=[7]))
    for k in (0, -1):
        with pytest.raises(SettingError, match=f"k: {k} is too small"):
            make_request({"model": "any", "k": k})
    with pytest.raises(SettingError, match="k = 300"):
        FunctionMethod().plan(checkpoint.card, FunctionSettings(k=300))
    for device in ("cuda:7", "nonsense", "meta"):
        with pytest.raises(DeviceError):
            function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store, device)


def test_models_are_remembered_and_forgotten(checkpoint, store):
    """The store lists a model once it has a result, and forgets all of it at once."""
    assert stored_models(store) == []
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store)
    assert stored_models(store) == [checkpoint.card]
    assert forget_model(store, checkpoint.card.fingerprint) == 6  # the card, the result, its pairs and its three layers
    assert list(store.names()) == []


def test_jobs_go_with_their_model(checkpoint, store):
    """Those that are over; one that waits or runs stays, and so do all of other models."""
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store)
    mine = checkpoint.card.fingerprint
    for name, state, model in (("a", "done", mine), ("b", "running", mine), ("c", "failed", "other")):
        store.put(f"job/{name}", json.dumps({"state": state, "fingerprint": model}).encode())
        store.put(f"card/{model}/{name}", b"{}")
    store.put("job/d", b'{"state": "queued"}')
    store.put("job/e", b'{"state": "failed"}')
    assert forget_stray_jobs(store) == 3  # c with its card, and e
    assert forget_model(store, mine) == 9  # what a result is made of, two cards, one job
    assert set(store.names()) == {"job/b", "job/d"}


def test_provenance_names_all_that_a_result_depends_on(checkpoint, store):
    """Model, method, k, MLP, relation with hash and kept pairs, device, libraries and date."""
    provenance = function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store, "cpu").provenance
    assert provenance.model == checkpoint.card
    assert (provenance.method, provenance.version, provenance.device) == ("function", "2", "cpu")
    assert provenance.settings["k_standard"] == 10
    assert provenance.settings["first_mlp"] is True
    (item,) = provenance.items
    assert (item.name, item.hash, item.pairs, item.kept) == ("shift", RELATION.hash, 50, 50)
    assert {"torch", "transformers"} <= set(provenance.libraries)
    assert provenance.date.endswith("Z")


def test_thirty_pairs_are_enough(checkpoint, store):
    """The limit itself is applicable."""
    thirty = parse("\n".join(f"w{i},w{i + 1}" for i in range(30)).encode(), "thirty.csv")
    assert function_scores(checkpoint, function_plan(checkpoint, (thirty,)), store).items() == ["thirty"]


def test_keys_name_everything_a_result_depends_on(checkpoint, monkeypatch):
    """Other pairs under the same name, another version of the method or another model: another key."""
    other = parse("\n".join(f"w{i},w{i + 99}" for i in range(50)).encode(), "shift.csv")
    keys = [function_plan(checkpoint, (RELATION,)).key, function_plan(checkpoint, (other,)).key]
    monkeypatch.setattr(plans.FunctionPlan, "version", "next")
    keys.append(function_plan(checkpoint, (RELATION,)).key)
    assert len(set(keys)) == 3
    wanted = function_plan(checkpoint, (RELATION,))
    assert len({wanted.layer_name(0), wanted.layer_name(1), wanted.key}) == 3


def test_copying_is_another_question_than_mapping():
    """The kind of k is part of a relation's hash."""
    assert replace(RELATION, k="copying").hash != RELATION.hash


def test_a_result_is_found_under_another_name(tiny_folder, store, computed):
    """The same checkpoint under another name has the same result, shown under that name."""
    one, two = Checkpoint.open(tiny_folder, "one"), Checkpoint.open(tiny_folder, "two")
    function_scores(one, function_plan(one, (RELATION,)), store)
    again = function_scores(two, function_plan(two, (RELATION,)), store)
    assert again.provenance.model.id == "two"
    assert computed == [0, 1, 2]


def test_salience_is_kept_by_setting(checkpoint, store):
    """With and without the first MLP are two results."""
    on, off = (salience(checkpoint, HeadId(1, 1), store, flag) for flag in (True, False))
    assert on != off
    assert salience(checkpoint, HeadId(1, 1), store, True) == on


def test_the_unembedding_is_read_once_for_a_group_of_layers(checkpoint, store, monkeypatch):
    """All three layers meet the vocabulary together: once for their hits, once for what these are compared with."""
    rows = []
    original = Weights.unembed_span

    def spy(self, start, stop):
        rows.append((start, stop))
        return original(self, start, stop)

    monkeypatch.setattr(Weights, "unembed_span", spy)
    monkeypatch.setattr(unembedding, "TILE", 100)
    monkeypatch.setattr(deciding, "resolve", lambda *a: pytest.fail("no near ties are expected here"))
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store)
    tiles = [(0, 100), (100, 200), (200, 300)]
    assert rows == [(0, 300), *tiles, *tiles]  # first the sample
