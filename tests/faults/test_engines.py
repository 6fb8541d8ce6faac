"""Steps that hang, servers that share a store, stores that vanish: the queue goes on and the results are the same."""

import asyncio
import ctypes
import errno
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from distributed import Security
from distributed.comm import connect as distributed_connect

from analysis import methods
from analysis.errors import DamagedFile, SettingError, WorkerBusy
from analysis.jobs import journal as journal_module
from analysis.jobs.engine import Engine, WorkerConfig
from analysis.jobs.executor import compute
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.jobs.lease import Leases
from analysis.jobs.request import make_request
from analysis.jobs.step_clock import StepClock
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.results.scores import Scores
from analysis.results.store import Store
from tests.engine.test_engine import wait
from tests.faults.paused import FOR_EVER, NAME, PausedMethod, PausedPlan

SLOW = 0.3  # seconds of a step that can be met


@pytest.fixture(scope="module", autouse=True)
def paused():
    """The slow method, for the tests of this module."""
    method = PausedMethod()
    methods.register(method)
    yield method
    methods.METHODS.remove(method)


@pytest.fixture(scope="module")
def folder(tiny_folder, tmp_path_factory):
    """A models directory with a tiny model of three layers."""
    made = tmp_path_factory.mktemp("models")
    shutil.copytree(tiny_folder, made / "small")
    return made


@pytest.fixture(scope="module")
def working(folder, tmp_path_factory):
    """An engine with a worker process of its own, for all tests of this module."""
    store = Store(tmp_path_factory.mktemp("working") / "store")
    engine = Engine(store, WorkerConfig(device="cpu", models=folder))
    engine.start()
    yield engine
    engine.stop()
    store.close()


def request(shift, pause=0.0, written=""):
    """A job of its own for each shift."""
    values = {"model": "small", "methods": [NAME], "shift": shift, "pause": pause, "written": str(written)}
    return make_request(values)


@pytest.fixture
def undisturbed(folder, tmp_path, paused):
    """The hash of the result of a shift, computed in this process with nothing else going on."""

    def of(shift):
        store = Store(tmp_path / f"undisturbed {shift}")
        model = OpenModel(Checkpoint.open(folder / "small", "small"), "cpu")
        scores, _ = compute(paused, paused.plan(model.checkpoint.card, request(shift)), model, store)
        store.close()
        assert np.array_equal(scores.score.squeeze(), (np.add.outer(range(3), range(4)) + shift) % 2 == 0)
        return scores.content_hash()

    return of


def result(engine, shift):
    """The hash of the result of a shift."""
    plan = PausedPlan(Checkpoint.open(engine._config.models / "small", "small").card, shift)
    return Scores.from_parquet(engine._store.get(plan.key)).content_hash()


def test_a_hung_step_is_ended_by_cancelling_and_the_next_job_runs(working, undisturbed):
    """A worker that answers nothing any more is replaced, the job is cancelled and the next one starts: within 10 s."""
    hung = working.submit(request(1, FOR_EVER))
    wait(working, hung, lambda job: job.total == 3)
    (nanny,) = working.cluster.local.workers.values()
    before = nanny.pid
    working.cancel(hung.id)
    cancelled = time.monotonic()
    after = working.submit(request(2))
    wait(working, after, lambda job: job.state != "queued")
    assert time.monotonic() - cancelled <= 10
    assert wait(working, hung).state == "cancelled"
    assert wait(working, after).state == "done"
    assert nanny.pid != before
    assert result(working, 2) == undisturbed(2)


def test_a_step_has_a_limit(working, monkeypatch, undisturbed):
    """A job whose step takes longer fails with words, and the next one runs."""
    hung = working.submit(request(3, FOR_EVER))
    wait(working, hung, lambda job: job.total == 3)
    with monkeypatch.context() as hasty:
        hasty.setattr(working, "_config", replace(working._config, step_limit=1.0))
        failed = wait(working, hung)
    assert (failed.state, failed.message) == ("failed", "a step took over 1 s")
    assert "--step-limit" in failed.hint
    assert wait(working, working.submit(request(4))).state == "done"
    assert result(working, 4) == undisturbed(4)


def test_trying_again_right_after_cancelling_is_not_lost(working, undisturbed):
    """A job that is still being stopped waits again instead, and is done."""
    job = working.submit(request(5, SLOW))
    wait(working, job, lambda job: job.done >= 1)
    working.cancel(job.id)
    assert working.retry(job.id).state == "queued"
    assert wait(working, job).state == "done"
    assert result(working, 5) == undisturbed(5)


def test_work_that_is_still_on_its_way_to_a_worker_is_found(working, monkeypatch):
    """Cancelling a job at the moment at which its steps are given away frees the worker that gets them."""
    wait(working, working.submit(request(8)))
    client = working.cluster._client
    answers, processing = iter([{}]), client.processing
    monkeypatch.setattr(client, "processing", lambda: next(answers, None) or processing())
    future = working.cluster.submit(time.sleep, 1.0, key=f"sleep-{time.time_ns()}")
    assert working.cluster._workers_with([future]) == list(working.cluster.local.scheduler.workers)
    working.cluster.result(future)


@dataclass(frozen=True)
class Question:
    """A step that somebody waits for: it sleeps, with Python's lock or without."""

    key: str
    seconds: float
    locked: bool = False
    words: str = ""

    def run(self, model, progress):
        if self.locked:
            ctypes.PyDLL(None).sleep(int(self.seconds))
        time.sleep(self.seconds)
        yield self.key, b"answered"


@pytest.mark.parametrize("locked", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_hung_question_holds_nobody_up(working, folder, undisturbed, locked):
    """When its time is over its worker is replaced: the job and the question behind it are done."""
    card = Checkpoint.open(folder / "small", "small").card
    assert working.ask(card, Question(f"unit/first {locked}", 0)) == b"answered"
    (nanny,) = working.cluster.local.workers.values()
    before, shift = nanny.pid, 50 + locked
    with ThreadPoolExecutor() as pool:
        hung = pool.submit(working.ask, card, Question("unit/hung", FOR_EVER, locked), 2.0)
        time.sleep(0.5)
        job = working.submit(request(shift))
        with pytest.raises(WorkerBusy, match=None if locked else "longer than 2 seconds"):
            hung.result(timeout=60)
    assert working.ask(card, Question(f"unit/next {locked}", 0)) == b"answered"
    assert wait(working, job).state == "done"
    assert nanny.pid != before
    assert result(working, shift) == undisturbed(shift)


def test_a_question_behind_a_jobs_step_does_not_end_it(working, folder):
    """Whoever does not want to wait for the step is told what is being done, and the worker stays."""
    card = Checkpoint.open(folder / "small", "small").card
    job = working.submit(request(53, 2.0))
    wait(working, job, lambda job: job.total == 3)
    time.sleep(0.5)
    (nanny,) = working.cluster.local.workers.values()
    before = nanny.pid
    with pytest.raises(WorkerBusy, match="busy with small"):
        working.ask(card, Question("unit/waiting", 0), 0.5)
    assert wait(working, job).state == "done"
    assert nanny.pid == before


async def told(address, security):
    """What a scheduler or worker tells somebody who calls it."""
    arguments = security.get_connection_args("client")
    async with asyncio.timeout(20):
        line = await distributed_connect(address, timeout=2, **arguments)
        await line.write({"op": "identity", "reply": True})
        answer = await line.read()
        await line.close()
    return answer


def test_other_users_of_the_machine_cannot_use_the_worker(working):
    """The local scheduler and its worker answer nobody who has not the key of this process."""
    wait(working, working.submit(request(6)))
    local = working.cluster.local
    for address in (local.scheduler_address, *local.scheduler.workers):
        assert address.startswith("tls://127.0.0.1:")
        assert asyncio.run(told(address, local.security))["type"] in {"Scheduler", "Worker"}
        for stranger in (Security(), Security.temporary()):
            for scheme in ("tls://", "tcp://"):
                with pytest.raises((OSError, ValueError, TypeError, RuntimeError)):
                    asyncio.run(told(scheme + address.removeprefix("tls://"), stranger))


def test_a_store_deleted_in_mid_job_has_the_result_in_the_end(folder, tmp_path, working, monkeypatch, undisturbed):
    """The job computes again what was lost, and a new process finds job, request and result."""
    store = Store(tmp_path / "store")
    engine = Engine(store, WorkerConfig(device="cpu", models=folder))
    monkeypatch.setattr(engine, "cluster", working.cluster)  # the worker that is there
    engine.start()
    job = engine.submit(request(7, SLOW))
    wait(engine, job, lambda job: job.done >= 1)
    shutil.rmtree(tmp_path / "store")
    ended = _ended(engine, job)
    again = Engine(Store(tmp_path / "store"), WorkerConfig(models=folder))
    assert ended.state == again.job(job.id).state == "done"
    assert again._journal.request(job.id) == request(7, SLOW)
    assert result(again, 7) == undisturbed(7)
    engine._stopping.set()
    engine._wake.set()
    engine._thread.join()
    store.close()


def _ended(engine, job):
    """The job at its end, although it is gone for a moment."""
    return wait(engine, job, lambda job: job is not None and not job.active)


def test_jobs_that_waited_in_a_store_that_was_deleted_are_said_to_be_lost(tmp_path):
    """They stand in the list as failed, with what to do, until they are submitted again."""
    engine = Engine(Store(tmp_path / "store"))
    waiting, cancelled = engine.submit(request(80)), engine.submit(request(81))
    engine.cancel(cancelled.id)
    shutil.rmtree(tmp_path / "store")
    (lost,) = engine.jobs()
    assert (lost.id, lost.state, lost.hint) == (waiting.id, "failed", "Submit it again.")
    assert "deleted" in lost.message
    assert engine.submit(request(80)).active
    (again,) = engine.jobs()
    assert again.active


def noting(compute, jobs):
    """The same, which first notes the job."""
    return lambda job: jobs.append(job.id) or compute(job)


def test_two_servers_on_one_store_do_each_job_once(folder, tmp_path, working, monkeypatch, undisturbed):
    """Each step runs once, a cancel through the other server arrives, and all results are right."""
    written, worked_on = tmp_path / "steps", []
    engines = []
    for _ in range(2):
        engine = Engine(Store(tmp_path / "store"), WorkerConfig(device="cpu", models=folder))
        monkeypatch.setattr(engine, "cluster", working.cluster)
        monkeypatch.setattr(engine, "_computed", noting(engine._computed, worked_on))
        engine.start()
        engines.append(engine)
    jobs = [engines[i % 2].submit(request(10 + i, 0.1, written)) for i in range(4)]
    for i, job in enumerate(jobs):
        assert wait(engines[0], job).state == "done"
        assert sum(engines[1].job(job.id).workers.values()) == 3
        assert result(engines[1], 10 + i) == undisturbed(10 + i)
    lines = written.read_text().split()
    assert len(lines) == len(set(lines)) == 12
    assert sorted(worked_on) == sorted(job.id for job in jobs)  # the workers would do a step once for both
    slow = engines[0].submit(request(20, 1.0))
    wait(engines[0], slow, lambda job: job.total == 3)
    Engine(Store(tmp_path / "store")).cancel(slow.id)  # works on nothing itself
    cancelled = wait(engines[0], slow)
    assert (cancelled.state, cancelled.done < 3) == ("cancelled", True)
    for engine in engines:
        engine._stopping.set()
        engine._wake.set()
        engine._thread.join()


def test_an_order_that_comes_too_late_means_nothing(store, monkeypatch):
    """A cancel that meets the end of its job leaves no order behind, and the job can be asked for again."""
    engine = Engine(store)
    job, give = engine.submit(request(90)), engine._journal.give_order

    def late(job_id, order):
        engine._journal.save(engine.job(job_id).at(state="failed", message="no", finished="2026-01-01"))
        give(job_id, order)

    with monkeypatch.context() as race:
        race.setattr(engine._journal, "give_order", late)
        assert engine.cancel(job.id).state == "failed"
    assert engine._journal.order(job.id) is None
    assert engine.retry(job.id).state == "queued"
    (queued,) = engine.jobs()
    assert queued.active


def test_an_order_of_an_older_version_does_not_block_a_job(store):
    """One that was left behind for a job that is over is not heeded, nor followed by its next run."""
    engine = Engine(store)
    job = engine.submit(request(91))
    engine._journal.save(job.at(state="failed", message="no", finished="2026-01-01"))
    engine._journal.give_order(job.id, "cancel")
    assert engine.retry(job.id).state == "queued"
    assert engine.job(job.id).active
    assert engine._journal.order(job.id) is None


def test_a_job_that_another_server_finished_is_not_said_to_be_lost(tmp_path):
    """Of the jobs that were submitted here, those alone that still waited when the store was deleted are."""
    mine, other = Engine(Store(tmp_path / "store")), Engine(Store(tmp_path / "store"))
    done, waiting = mine.submit(request(92)), mine.submit(request(93))
    other._finish(other.job(done.id), "done", "", "")
    assert {job.state for job in mine.jobs()} == {"done", "queued"}
    shutil.rmtree(tmp_path / "store")
    (lost,) = mine.jobs()
    assert (lost.id, lost.state) == (waiting.id, "failed")


def test_each_worker_has_a_time_limit_of_its_own():
    """Results of one worker do not keep a step that hangs at another alive; time without a worker does not count."""
    now = [0.0]
    clock = StepClock(lambda: now[0])

    def after(seconds, busy, has_worker=True):
        now[0] += seconds
        return clock.is_over(100, lambda: has_worker, lambda: busy)

    for _ in range(9):
        clock.begin()
        assert not after(11, ["a", "b"])
        clock.gave("a")
    clock.begin()
    assert after(13, ["a", "b"])  # b has been at its step since the first look
    assert not after(1, []), "nobody is at anything"
    assert not after(6, ["a", "c"]), "what c does began with the first look at it"
    assert not after(200, ["c"], has_worker=False)
    clock.begin()
    assert after(101, ["c"])


def test_a_lease_is_one_persons_until_it_is_left(tmp_path):
    """Nobody else gets it meanwhile, also not through another folder object; afterwards the next one does."""
    mine, other = Leases(tmp_path), Leases(tmp_path)
    lease = mine.take("job")
    assert other.take("job") is None
    with lease, other.take("another") as free:
        assert free is not None
    with other.take("job") as next_one:
        assert next_one is not None
        assert mine.take("job") is None
    assert list(tmp_path.iterdir()) == []


def test_a_lease_can_be_left_on_a_disk_that_became_read_only(tmp_path, monkeypatch):
    """Its file stays, which hinders nobody: the next one takes it."""

    def refused(path, missing_ok=False):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    leases = Leases(tmp_path)
    with monkeypatch.context() as read_only, leases.take("job"):
        read_only.setattr(Path, "unlink", refused)
    assert len(list(tmp_path.iterdir())) == 1
    with leases.take("job"):
        assert Leases(tmp_path).take("job") is None
    assert list(tmp_path.iterdir()) == []


def test_a_lease_of_a_deleted_store_leaves_the_next_ones_file(tmp_path):
    """Whoever had a job when the folder went takes nothing from the one who has it now."""
    mine, other = Leases(tmp_path / "leases"), Leases(tmp_path / "leases")
    with mine.take("job"):
        shutil.rmtree(tmp_path / "leases")
        theirs = other.take("job")
    with theirs:
        assert mine.take("job") is None
    assert list((tmp_path / "leases").iterdir()) == []


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors", "vocab.json"])
def test_only_regular_files_are_opened(tiny_folder, tmp_path, name):
    """A pipe or a device where a file of a model should be is a named error, and nothing waits for it."""
    for kind, make in {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero")}.items():
        folder = tmp_path / kind
        shutil.copytree(tiny_folder, folder)
        (folder / name).unlink(missing_ok=True)
        make(folder / name)
        with pytest.raises(DamagedFile, match=f"{name} of {kind} is not a regular file"):
            Checkpoint.open(folder)


def test_old_jobs_are_forgotten_and_their_results_stay(store, monkeypatch):
    """Of the jobs that are over only some are kept: those that failed go before those that are done."""
    monkeypatch.setattr(journal_module, "KEPT", 3)
    journal, engine = Journal(store), Engine(store)
    states = ["done", "failed", "cancelled", "done", "failed"]
    for i, state in enumerate(states):
        journal.add(Job.of(request(30 + i)).at(state=state, finished=f"2026-01-0{i + 1}"), request(30 + i))
    waiting = engine.submit(request(40))
    assert [job.state for job in engine.jobs()] == ["done", "done", "failed", "queued"]
    assert len(list(store.names("request/"))) == 4
    assert engine.job(waiting.id).active


def test_a_job_that_is_over_can_be_deleted(store):
    """A waiting one cannot; a deleted one is gone with its request, and can be asked for again."""
    engine = Engine(store)
    job = engine.submit(request(50))
    with pytest.raises(SettingError, match="is queued"):
        engine.delete(job.id)
    engine.cancel(job.id)
    engine.delete(job.id)
    assert engine.jobs() == list(store.names()) == []
    with pytest.raises(SettingError, match="no job"):
        engine.delete(job.id)
    assert engine.submit(request(50)).active


def test_jobs_are_read_once(store, monkeypatch):
    """A look at many jobs reads those alone that were written since the last one, also by another server."""
    journal, other = Journal(store), Journal(Store(store.folder))
    jobs = [Job.of(request(60 + i)) for i in range(5)]
    for i, job in enumerate(jobs):
        journal.add(job, request(60 + i))
    assert len(journal.jobs()) == 5
    read, get = [], store.get
    monkeypatch.setattr(store, "get", lambda key: read.append(key) or get(key))
    other.save(jobs[2].at(done=1))
    assert sorted(job.done for job in journal.jobs()) == [0, 0, 0, 0, 1]
    assert read == [f"job/{jobs[2].id}"]


def test_a_request_is_parsed_once(store, monkeypatch):
    """It may hold 20,000 pairs, and every look at a job's partial results wants it."""
    journal = Journal(store)
    job, wanted = Job.of(request(70)), request(70)
    journal.add(job, wanted)
    parsed, read = [], journal_module.read_record
    monkeypatch.setattr(journal_module, "read_record", lambda content: parsed.append(1) or read(content))
    assert [journal.request(job.id) for _ in range(3)] == [wanted] * 3
    assert parsed == [1]
