"""Causal maps as jobs on a real local Dask cluster: seed after seed, in pieces that survive what happens."""

import numpy as np
import psutil
import pytest

from analysis.jobs.request import read_record
from analysis.methods.causal.contrast import ContrastPlan
from analysis.methods.causal.plan import TaskPlan
from analysis.methods.causal.result import record_of
from analysis.methods.causal.settings import GateSettings
from analysis.models.checkpoint import Checkpoint
from analysis.results.scores import Scores
from analysis.results.store import Store
from tests import tiny_models
from tests.computing import asked, causal_map
from tests.engine.test_engine import wait
from tests.test_causal import built_contrast, built_model, built_task

SETTINGS = GateSettings(free_updates=20, push_updates=40, batch=8)
FIT = {"seeds": 2, "updates": [20, 40], "batch": 8}
REQUEST = asked("built", "causal", tasks=(built_task(),), **FIT)


@pytest.fixture
def built(models):
    folder = models / "built"
    folder.mkdir()
    return Checkpoint.open(tiny_models.save(built_model(), folder), "built")


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    """The same map, computed in this process without a job, once for all tests."""
    folder = tmp_path_factory.mktemp("direct")
    built = Checkpoint.open(tiny_models.save(built_model(), folder / "built"), "built")
    store = Store(folder / "store")
    found = causal_map(built, TaskPlan(built.card, REQUEST.chosen_tasks(), 2, SETTINGS), store)
    store.close()
    return found


def result(store):
    (key,) = store.names("result/")
    return Scores.from_parquet(store.get(key))


def test_a_causal_job_gives_the_same_map_as_the_command_line(engine, store, built, direct):
    """Scores and provenance of a job equal, bit for bit, those computed in this process."""
    job = wait(engine, engine.submit(REQUEST))
    assert (job.state, job.message, job.done) == ("done", "", job.total)
    found = result(store)
    np.testing.assert_array_equal(found.score.values, direct.score.values)
    assert found.provenance.items == direct.provenance.items
    assert found.records == direct.records


def test_a_running_fit_shows_its_finished_seeds_and_the_loss_of_the_others(engine, store, built):
    """While a job runs, its map holds the fitted seeds and the loss curve of the one under way."""
    job = engine.submit(REQUEST)
    first = wait(engine, job, lambda job: job.fingerprint and list(store.names("unit/")) and job.done >= 4)
    (scores,) = engine.partial(first)
    curves = record_of(scores, "next").curves
    assert curves.seeds
    assert curves.free[-1]
    wait(engine, job, lambda job: len(engine.partial(job)[0].score.dropna("sample").sample) >= 1)
    assert wait(engine, job).state == "done"


def test_a_killed_worker_loses_one_piece_of_a_fit_at_most(local_engine, store, built, direct):
    """When all workers are killed in mid-fit, the job counts each piece once and gives the same map."""
    job = local_engine.submit(REQUEST)
    wait(local_engine, job, lambda job: job.done >= 4)
    workers = [c for c in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(c.cmdline())]
    assert workers
    for worker in workers:
        worker.kill()
    job = wait(local_engine, job)
    assert job.state == "done"
    assert sum(job.workers.values()) == job.total  # each piece counted once
    np.testing.assert_array_equal(result(store).score.values, direct.score.values)


def test_a_cancelled_fit_goes_on_where_it_was(engine, store, built, direct):
    """A cancelled job that is asked for again computes only what is missing and gives the same map."""
    job = engine.submit(REQUEST)
    wait(engine, job, lambda job: job.done >= 4)
    engine.cancel(job.id)
    stopped = wait(engine, job)
    assert stopped.state == "cancelled"
    again = wait(engine, engine.submit(REQUEST))
    assert again.state == "done"
    assert sum(again.workers.values()) < again.total
    np.testing.assert_array_equal(result(store).score.values, direct.score.values)


def test_pairs_are_contrasted_as_a_job(engine, store, built, tmp_path):
    """The same gates as in this process."""
    request = asked("built", "causal", contrast=built_contrast(), **FIT)
    job = wait(engine, engine.submit(request))
    assert (job.state, job.message, job.done) == ("done", "", job.total)
    direct = Store(tmp_path / "direct")
    wanted = ContrastPlan(built.card, request.chosen_contrast(), 2, SETTINGS)
    expected = causal_map(built, wanted, direct)
    direct.close()
    np.testing.assert_array_equal(result(store).score.values, expected.score.values)


def test_a_result_that_is_gone_is_computed_again(engine, store, built):
    """Asking for the same again does not answer with a job that has nothing to show."""
    request = asked("built", "causal", tasks=(built_task(),), seeds=0)
    wait(engine, engine.submit(request))
    assert engine.submit(request).state == "done"
    (key,) = store.names("result/")
    store.delete(key)
    assert wait(engine, engine.submit(request)).state == "done"
    assert list(store.names("result/")) == [key]


def test_a_request_survives_the_store(built):
    """A request with own tasks, built-in tasks or pairs comes back from its plain form equal, with the same id."""
    contrast = asked("built", "causal", contrast=built_contrast())
    for request in (REQUEST, asked("built", "causal"), contrast):
        again = read_record(request.to_record())
        assert again == request
        assert again.id == request.id
