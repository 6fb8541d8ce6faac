"""The engine on a real local Dask cluster: one worker process, real units, a real store."""

import json
import sqlite3
import threading
import time

import numpy as np
import psutil
import pytest

from analysis.compute.hits.elimination import Elimination
from analysis.data.relations import builtin
from analysis.errors import QueueFull, SettingError, StoreError
from analysis.jobs import cluster
from analysis.jobs.engine import QUEUE_LIMIT, Engine, WorkerConfig
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.methods.function.method import FunctionMethod
from analysis.methods.salience.tokens import salient_tokens
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.results.catalogue import Catalogue
from analysis.results.scores import Missing
from analysis.results.store import Store
from tests.computing import asked, function_plan, function_scores
from tests.test_plan import RELATION

REQUEST = asked("small", relations=(RELATION,))
RELATION_OF_MANY = builtin()["verb_past"]


def wait(engine, job, until=lambda job: not job.active, seconds=120):
    """The job as soon as a condition holds."""
    for _ in range(seconds * 20):
        found = engine.job(job.id)
        if until(found):
            return found
        time.sleep(0.05)
    raise AssertionError(f"still {found}")


def test_a_job_gives_the_same_scores_as_the_command_line(engine, store, models, tmp_path):
    """Submitted, run in the worker's process, kept in the store, listed for the page."""
    job = wait(engine, engine.submit(REQUEST))
    assert (job.state, job.message) == ("done", "")
    catalogue = Catalogue(store, engine)
    card = catalogue.card("small")
    scores = catalogue.result(card, "function")
    other = Store(tmp_path / "other")
    checkpoint = Checkpoint.open(models / "small", "small")
    direct = function_scores(checkpoint, function_plan(checkpoint, (RELATION,)), other)
    other.close()
    assert np.array_equal(scores.hits.values, direct.hits.values)
    assert scores.provenance.items == direct.provenance.items
    assert salient_tokens(catalogue.result(card, "salience"), HeadId(0, 0))
    assert sum(job.workers.values()) == 6 * len(card.layers) + 2  # weights, carriers, salient tokens; two runs


def test_asking_twice_is_one_job_and_one_computation(engine):
    """At the same moment from two threads; and again when it is done."""
    found = []
    threads = [threading.Thread(target=lambda: found.append(engine.submit(REQUEST).id)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    job = wait(engine, engine.job(found[0]))
    assert len(engine.jobs()) == 1
    assert sum(job.workers.values()) == 20  # three layers: weights, four carriers, salient tokens; random tokens, text
    again = engine.submit(REQUEST)
    assert again.finished == job.finished


def test_finished_units_are_not_computed_again(engine, store):
    """A job whose layers are stored opens the model and is done: the stored numbers, even wrong ones, are used."""
    first = wait(engine, engine.submit(REQUEST))
    card = Catalogue(store).card("small")
    for layer in card.layers:
        name = FunctionMethod().plan(card, REQUEST).layer_name(layer)
        store.put(name, np.full_like(np.frombuffer(store.get(name), "<f8"), 7).tobytes())
    for name in list(store.names("result/")):
        store.delete(name)
    assert wait(engine, engine.submit(REQUEST)).state == first.state == "done"
    scores = Catalogue(store).result(card, "function")
    assert np.nanmax(scores.hits.values) == 7 == np.nanmin(scores.hits.values)


def test_a_job_and_the_command_line_share_their_layers(engine, store, models, monkeypatch):
    """What the command line has computed no worker computes again, and the other way round."""
    checkpoint = Checkpoint.open(models / "small", "small")
    wanted = function_plan(checkpoint, (RELATION,))
    function_scores(checkpoint, wanted, store, "cpu")
    store.delete(wanted.key)
    job = wait(engine, engine.submit(asked("small", "function", relations=(RELATION,))))
    assert (job.state, job.done, job.workers) == ("done", 3, {})
    monkeypatch.setattr(Elimination, "survivors", lambda *arguments: pytest.fail("computed again"))
    assert function_scores(checkpoint, wanted, store, "cpu").hits.shape[-2:] == (3, 4)


def test_failures_carry_a_hint_and_can_be_tried_again(engine, models):
    """An unknown model fails with words; when it is there the same request works."""
    request = asked("late", relations=(RELATION,))
    job = wait(engine, engine.submit(request))
    assert job.state == "failed"
    assert "late" in job.message
    assert job.hint
    (models / "small").rename(models / "late")
    assert wait(engine, engine.submit(request)).state == "done"


def test_cancel_while_waiting_and_while_running(store, models):
    """A waiting job never starts; a running one stops within one unit and keeps what it has."""
    engine = Engine(store, WorkerConfig(device="cpu", models=models))  # its thread is not started yet
    waiting = engine.submit(REQUEST)
    assert engine.cancel(waiting.id).state == "cancelled"
    with pytest.raises(SettingError):
        engine.cancel("nothing")
    job = engine.submit(asked("smollm2-135m-instruct", "function", relations=(builtin()["copying"],)))
    engine.start()
    wait(engine, job, lambda job: job.done >= 2)
    engine.cancel(job.id)
    stopped = wait(engine, job)
    engine.stop()
    assert stopped.state == "cancelled"
    assert 2 <= stopped.done < 30
    kept = len(list(store.names("unit/")))
    assert stopped.done <= kept <= stopped.done + 1


@pytest.mark.parametrize("stage", ["opening the model", "salient tokens"])
def test_cancel_in_the_other_stages(store, models, stage):
    """While the model is opened, and while salient tokens are sought."""
    engine = Engine(store, WorkerConfig(device="cpu", models=models))
    wanted = asked("smollm2-135m-instruct", "salience")
    job = engine.submit(wanted)
    engine.start()
    wait(engine, job, lambda job: job.stage.casefold().startswith(stage))
    engine.cancel(job.id)
    stopped = wait(engine, job)
    engine.stop()
    assert stopped.state == "cancelled"


def test_a_running_job_shows_what_it_has(store, models):
    """The map fills in layer by layer; the others say that they are running."""
    engine = Engine(store, WorkerConfig(device="cpu", models=models))
    job = engine.submit(asked("smollm2-135m-instruct", "function", relations=(RELATION_OF_MANY,)))
    engine.start()
    wait(engine, job, lambda job: job.done >= 3)
    (partial,) = engine.partial(engine.job(job.id))
    library = Catalogue(store, engine)
    running = next(scores for scores in library._all() if (scores.missing == Missing.RUNNING).any())
    engine.cancel(job.id)
    wait(engine, job)
    engine.stop()
    assert (partial.missing == Missing.PRESENT).any()
    assert (running.missing == Missing.NOT_COMPUTED).sum() == 0


def test_dask_listens_on_this_machine_only(local_engine):
    """Scheduler and worker, whatever ports they take."""
    wait(local_engine, local_engine.submit(REQUEST))
    this = psutil.Process()
    processes = [this, *this.children(recursive=True)]
    found = [c.laddr.ip for p in processes for c in p.net_connections() if c.status == psutil.CONN_LISTEN]
    assert found
    assert set(found) == {"127.0.0.1"}


def test_the_queue_has_a_limit(store):
    """One more gets a clear answer."""
    engine = Engine(store)
    for i in range(QUEUE_LIMIT):
        engine.submit(asked(f"model-{i}"))
    with pytest.raises(QueueFull) as caught:
        engine.submit(asked("one-more"))
    assert caught.value.hint


def test_a_new_engine_goes_on_with_old_jobs(store, models):
    """A job that was running when the process ended is run to its end by the next one."""
    old = Job.of(REQUEST).at(state="running", stage="function map")
    Journal(store).add(old, REQUEST)
    engine = Engine(store, WorkerConfig(device="cpu", models=models))
    engine.start()
    assert wait(engine, old).state == "done"
    engine.stop()


def test_jobs_of_another_version_are_passed_over(store):
    """A record that cannot be read, or asks for a method that is not there, hides nothing else."""
    store.put("job/abc", b'{"strange": 1}')
    newer = Job.of(REQUEST).to_plain() | {"of": "tomorrow"}
    store.put("job/def", json.dumps(newer).encode())
    engine = Engine(store)
    job = engine.submit(REQUEST)
    assert [found.id for found in engine.jobs()] == [job.id]
    assert Job.from_plain(json.loads(json.dumps(job.to_plain()))) == job


@pytest.mark.parametrize(
    "change",
    [
        {"created": None}, {"finished": 7}, {"state": "strange"}, {"left": float("nan")}, {"remarks": "text"},
        {"message": "\ud800"}, {"asked": {"function": 1}}, {"workers": {"one": "many"}}, {"id": "of another job"},
    ],
)  # fmt: skip
def test_a_record_that_is_no_job_is_passed_over(store, change):
    """A value of the wrong kind, damaged or planted, takes the list from nobody."""
    engine = Engine(store)
    job = engine.submit(REQUEST)
    store.put("job/abc", json.dumps(job.to_plain() | {"id": "abc"} | change).encode())
    assert engine.jobs() == [job]
    assert engine.job("abc") is None
    store.put("job/abc", json.dumps(job.to_plain() | {"id": "abc"}).encode())
    assert len(engine.jobs()) == 2


def test_a_job_whose_salient_tokens_are_gone_is_done_again(engine, store):
    """Done means that its results are there; and the card of another version is no result."""
    request = asked("small", "salience")
    job = wait(engine, engine.submit(request))
    card = next(name for name in store.names("card/"))
    for name in list(store.names("result/")):
        store.delete(name)
    assert engine.submit(request).active
    wait(engine, job)
    assert engine.submit(request).state == "done"
    store.put(card, b'{"strange": 1}')
    assert engine.submit(request).active


def test_a_job_cancelled_at_the_moment_it_begins_never_runs(store, models, monkeypatch):
    """The engine has seen it waiting; before it begins somebody cancels."""
    engine = Engine(store, WorkerConfig(device="cpu", models=models))
    seen = engine.submit(REQUEST)
    engine.cancel(seen.id)
    monkeypatch.setattr(engine, "_computed", lambda job: pytest.fail("it ran"))
    engine._run(seen)
    assert engine.job(seen.id).state == "cancelled"


def test_a_store_that_fails_for_a_moment_does_not_end_the_engine(engine, store, monkeypatch):
    """The engine looks for jobs while the list of entries cannot be read; later it runs what is asked for."""
    # That holds for errors of the disk as for those that nobody has thought of.
    failed, errors = threading.Event(), iter([TypeError("unexpected")])

    def sql(cache):
        def execute(statement, *arguments):
            if statement.startswith("SELECT key, store_time FROM Cache WHERE key >="):
                error = next(errors, sqlite3.OperationalError("disk I/O error"))
                failed.set()
                raise error
            return cache._con.execute(statement, *arguments)

        return execute

    with monkeypatch.context() as broken:
        broken.setattr(type(store._cache), "_sql", property(sql))
        for _ in range(2):
            failed.clear()
            engine._wake.set()
            assert failed.wait(10)
        with pytest.raises(StoreError):
            list(store.names())
    assert wait(engine, engine.submit(REQUEST)).state == "done"


def test_a_scheduler_that_does_not_answer_is_said(store, models, monkeypatch):
    """With its address and what to do."""
    from distributed import Client

    def gone(*arguments, **options):
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(Client, "__init__", gone)
    engine = Engine(store, WorkerConfig(scheduler="tcp://127.0.0.1:19", models=models))
    engine.start()
    job = wait(engine, engine.submit(REQUEST))
    engine.stop()
    assert "tcp://127.0.0.1:19" in job.message
    assert "Start it" in job.hint


def test_a_local_worker_that_dies_as_it_starts_is_started_again(local_engine, monkeypatch):
    """Dask gives up at once; the job does not."""
    import distributed

    real, tries = distributed.LocalCluster, []

    def made(**options):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("Nanny failed to start.")
        return real(**options)

    monkeypatch.setattr(distributed, "LocalCluster", made)
    assert wait(local_engine, local_engine.submit(REQUEST)).state == "done"
    assert len(tries) == 2


@pytest.mark.slow
def test_a_local_worker_that_does_not_come_back_is_replaced(store, models, monkeypatch):
    """The job goes on with a new one, from the layers it had."""
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    engine = Engine(store, WorkerConfig(device="cpu", models=models))
    job = engine.submit(asked("smollm2-135m-instruct", "function", relations=(builtin()["copying"],)))
    engine.start()
    wait(engine, job, lambda job: job.done >= 2)
    engine.cluster.local.sync(engine.cluster.local.workers[0].close)
    job = wait(engine, job)
    engine.stop()
    assert (job.state, job.done) == ("done", 30)
    assert len(job.workers) == 2
    assert sum(job.workers.values()) == 30  # no layer twice
