import gc
import json
import weakref
from dataclasses import replace

import numpy as np
import pytest

from analysis.errors import ModelNotFound
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.shipped import shipped_scores
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.methods import relation_methods
from analysis.methods.salience.method import SalienceMethod
from analysis.methods.salience.tokens import salient_tokens
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.results.scores import Missing
from analysis.shared_settings import WeightsSettings
from dashboard.page import callbacks
from dashboard.page.hover import packed
from dashboard.pairs import own_pairs
from dashboard.view import open_view
from tests.computing import asked, computed, function_plan, function_scores, salience
from tests.dashboard.made import rows_of
from tests.synthetic import ODD, odd_scores
from tests.test_plan import RELATION


def test_shipped_map_equals_a_fresh_computation(default_scores):
    """The file in the project is what the command makes today, from the same relations, settings and weights."""
    ours = shipped_scores("function")
    fresh = default_scores
    assert ours.provenance.model == fresh.provenance.model
    assert ours.provenance.settings == fresh.provenance.settings
    assert ours.provenance.items == fresh.provenance.items
    assert ours.missing.equals(fresh.missing)
    # X is float32: another processor may decide a near tie otherwise, so a few of 10,260 counts may be one apart.
    apart = np.nan_to_num(np.abs(ours.hits.values - fresh.hits.values))
    assert apart.max() <= 1
    assert apart.sum() <= 5


def test_shipped_salience_equals_a_fresh_computation(default_checkpoint, store):
    """Of two layers: the same tokens, the same strengths, the same promoted and suppressed."""
    ours = shipped_scores("salience")
    plan = SalienceMethod().plan(default_checkpoint.card, WeightsSettings(layers=[0, 23]))
    fresh = computed("salience", plan, default_checkpoint, store)
    for layer in (0, 23):
        for head in range(default_checkpoint.card.heads):
            mine, theirs = (salient_tokens(scores, HeadId(layer, head)) for scores in (ours, fresh))
            assert [token.text for token in mine[:8]] == [token.text for token in theirs[:8]]
            assert [token.sigma for token in mine] == pytest.approx([token.sigma for token in theirs], abs=2e-3)
            promoted = [[entry.text for entry in tokens[0].promoted] for tokens in (mine, theirs)]
            assert promoted[0] == promoted[1]


def test_the_default_model_is_there_without_any_computation(store):
    """An empty store still has a first screen."""
    catalogue = Catalogue(store)
    assert [card.id for card in catalogue.models()] == ["gemma-3-270m", "qwen2.5-coder-1.5b-instruct", default_model.ID]
    card = catalogue.card(default_model.ID)
    assert catalogue.result(card, "function").item("country_capital").kept == 40
    assert catalogue.result(card, "causal") is not None
    assert salient_tokens(catalogue.result(card, "salience"), HeadId(23, 4))


def test_the_fullest_result_of_a_model_is_shown(tiny_folder, store):
    """A map of all layers is preferred to one of some; other models and fingerprints are not found."""
    checkpoint = Checkpoint.open(tiny_folder)
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,), layers=[1]), store)
    function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), store)
    catalogue = Catalogue(store)
    assert len(catalogue.models()) == 1 + 3  # three come with the project
    card = catalogue.card(checkpoint.card.id, checkpoint.card.fingerprint[:8])
    assert catalogue.result(card, "function").provenance.settings["layers"] == [0, 1, 2]
    for model, fingerprint in (("nobody", ""), (card.id, "0" * 8)):
        with pytest.raises(ModelNotFound):
            catalogue.card(model, fingerprint)


@pytest.fixture
def stopped(tiny_folder, store):
    """A job that has one of three layers."""
    checkpoint = Checkpoint.open(tiny_folder, "small")
    some = function_plan(checkpoint, (RELATION,), layers=[0])
    function_scores(checkpoint, some, store)
    store.delete(some.key)
    request = asked("small", relations=(RELATION,))
    job = Job.of(request).at(fingerprint=checkpoint.card.fingerprint, done=1, total=3)
    journal = Journal(store)
    journal.add(job, request)
    journal.save_card(job, checkpoint.card)
    return job


@pytest.mark.parametrize(("state", "reason"), [("failed", Missing.FAILED), ("running", Missing.RUNNING)])
def test_what_a_job_has_not_computed_says_why(stopped, store, state, reason):
    """The layer it has is shown; the others are failed or running, on the map, in the table and in the inspector."""
    job = stopped.at(state=state, message="the disk is full", hint="Make room")
    Journal(store).save(job)
    catalogue = Catalogue(store, Engine(store))
    missing = catalogue.result(catalogue.card("small"), "function").missing
    assert missing.max(("item", "kind", "sample", "head")).values.tolist() == [0, reason, reason]
    screen, query = {"width": 1240}, "?model=small&view=table"
    found = callbacks.describe(catalogue, query, screen, None)
    score = f"score.{RELATION.name}"
    assert {row[score] for row in rows_of(found["table"]) if row["layer"]} == {reason.words}
    assert reason.words in json.dumps(callbacks.inspect(catalogue, ["L1H0"], query, screen))
    legend = json.dumps(packed(open_view(catalogue, query), dark=False)["legend"])
    assert ("failed: the disk is full. Make room" in legend) == (state == "failed")
    assert reason.words in legend


def test_of_failed_jobs_the_newest_counts_and_without_its_pairs(stopped, store):
    """However many failed on a model, the list of results has one of each method; the pairs stay in the request."""
    journal, engine = Journal(store), Engine(store)
    card, request = journal.card(stopped), journal.request(stopped.id)
    journal.remove(stopped)
    for number in range(3):
        job = stopped.at(id=f"{number:016}", state="failed", message=f"reason {number}", created=f"2026-0{number + 1}")
        journal.add(job, request)
        journal.save_card(job, card)
    catalogue = Catalogue(store, engine)
    (scores,) = [scores for scores in catalogue._all() if (scores.missing == Missing.FAILED).any()]
    assert scores.records == {}
    assert own_pairs(catalogue, engine, scores.item(RELATION.name)) == RELATION.pairs
    assert catalogue.failure(card).startswith("reason 2")
    engine.delete(job.id)
    assert catalogue.generation == 2
    assert catalogue.failure(card).startswith("reason 1")


def test_results_that_are_gone_are_let_go(tiny_folder, store):
    """A result that was deleted, with what was made of it, is kept by nobody; of the others nothing is made again."""
    checkpoint = Checkpoint.open(tiny_folder, "small")
    plan = function_plan(checkpoint, (RELATION,))
    function_scores(checkpoint, plan, store)
    catalogue = Catalogue(store)
    shipped_card = catalogue.card(default_model.ID)
    other = catalogue.result(shipped_card, "function")
    renamed = replace(checkpoint.card, id="another name")
    held = [weakref.ref(catalogue.result(card, "function")) for card in (checkpoint.card, renamed)]
    assert None not in [scores() for scores in held]
    store.delete(plan.key)
    catalogue._look_again()
    assert catalogue.result(shipped_card, "function") is other
    gc.collect()
    assert [scores() for scores in held] == [None, None]


def test_the_newest_checkpoint_of_a_name_is_what_the_name_stands_for(store):
    """Two trainings under one name: the better result decides, then the newer; a fingerprint names either."""
    scores = odd_scores()
    for fingerprint, date in (("a" * 64, "2026-01-01T00:00:00Z"), ("b" * 64, "2026-02-01T00:00:00Z")):
        card = replace(scores.provenance.model, fingerprint=fingerprint)
        facts = replace(scores.provenance, model=card, date=date)
        store.put(f"result/{fingerprint}/function/0", replace(scores, provenance=facts).to_parquet())
    catalogue = Catalogue(store)
    assert catalogue.card(ODD).fingerprint == "b" * 64
    assert catalogue.card(ODD, "aaaa").fingerprint == "a" * 64


def test_one_heads_salient_tokens_hide_no_other_layer(tiny_folder, store):
    """A layer that was computed for one head is shown with all others, and is no result of its own."""
    checkpoint = Checkpoint.open(tiny_folder, "small")
    for head in (HeadId(1, 0), HeadId(2, 3)):
        salience(checkpoint, head, store)
    assert list(store.names("result/")) == []
    catalogue = Catalogue(store)
    scores = catalogue.result(checkpoint.card, "salience")
    assert salient_tokens(scores, HeadId(1, 2))
    assert salient_tokens(scores, HeadId(2, 2))
    assert salient_tokens(scores, HeadId(0, 0)) is None
    computed("salience", SalienceMethod().plan(checkpoint.card, WeightsSettings()), checkpoint, store)
    salience(checkpoint, HeadId(1, 1), store)
    whole = Catalogue(store).result(checkpoint.card, "salience")
    assert all(salient_tokens(whole, HeadId(layer, 0)) for layer in checkpoint.card.layers)
    assert (whole.missing == Missing.PRESENT).all()


def test_the_same_weights_under_another_name_have_the_same_results(store):
    """A copy of Gemma's file with one result of its own: the shipped running map is there, and with it the warning."""
    weights, running = (shipped_scores(name, "gemma-3-270m") for name in ("function", "running"))
    copy = replace(weights.provenance.model, id="copy.gguf")
    own = replace(weights, provenance=replace(weights.provenance, model=copy, date="2999-01-01T00:00:00Z"))
    before = [card.id for card in Catalogue(store).models()]
    store.put(f"result/{copy.fingerprint}/function/0", own.to_parquet())
    catalogue = Catalogue(store)
    assert [card.id for card in catalogue.models()] == sorted([*before, "copy.gguf"])
    found = catalogue.result(catalogue.card("copy.gguf"), "running")
    assert found.score.equals(running.score)
    assert found.provenance.model.id == "copy.gguf"
    assert found.provenance.settings["computed_as"] == "gemma-3-270m"
    assert catalogue.default_method(copy, among=relation_methods()).name == "running"
    assert "computed_as" not in catalogue.result(catalogue.card("gemma-3-270m"), "running").provenance.settings
    assert catalogue.result(catalogue.card("copy.gguf"), "running") is found
