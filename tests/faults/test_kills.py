"""Processes that die: nothing is lost, nothing is counted twice."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from analysis.data.relations import builtin
from analysis.jobs.engine import Engine, WorkerConfig
from analysis.results.merging import only
from analysis.results.scores import Scores
from analysis.results.store import Store, cache_folder
from tests.computing import asked
from tests.engine.test_engine import wait
from tests.faults.conftest import Server

RELATIONS = ["country_capital", "verb_past", "name_copying"]
WANTED = {"model": "smollm2-135m-instruct", "methods": ["function"], "relations": RELATIONS}
CHOSEN = [builtin()[name] for name in RELATIONS]
REQUEST = asked(WANTED["model"], "function", relations=CHOSEN)


@pytest.fixture(scope="module")
def undisturbed(default_scores):
    """The hash of these relations' result, computed in one go by the command line's way, with all others."""
    return only(default_scores, RELATIONS).content_hash()


def result(store):
    """The hash of the one result of a store."""
    (name,) = store.names("result/")
    return Scores.from_parquet(store.get(name)).content_hash()


def result_of(server):
    """The same of a server's store."""
    store = Store(server.cache / "store")
    found = result(store)
    store.close()
    return found


def test_a_killed_worker_loses_nothing(store, undisturbed):
    """kill -9 in mid-job: another worker takes over, every layer is counted once, the result is the same."""
    engine = Engine(store, WorkerConfig(device="cpu"))
    engine.start()
    job = engine.submit(REQUEST)
    wait(engine, job, lambda job: job.done >= 3)
    (pid,) = engine.cluster._client.run(os.getpid).values()
    os.kill(pid, signal.SIGKILL)
    job = wait(engine, job)
    engine.stop()
    assert job.state == "done"
    assert job.done == job.total == 30
    assert sum(job.workers.values()) == 30
    assert result(store) == undisturbed


def test_a_killed_server_goes_on_from_the_stored_units(server, undisturbed):
    """kill -9 of the web process: finished layers keep their time of storing, and the result is the same."""
    job = server.ask("/api/jobs", WANTED)
    server.wait(job, lambda job: job["done"] >= 5)
    server.kill()
    before = server.units()
    server.start()
    done = server.wait(job)
    assert done["state"] == "done"
    after = server.units()
    assert len(before) >= 5
    assert len(after) == 30 + 1  # and the pairs
    assert {name: after[name] for name in before} == before
    assert result_of(server) == undisturbed


def has_a_lease(server):
    """Whether a server is at work on some job."""
    files = psutil.Process(server.process.pid).open_files()
    return any(Path(file.path).parent.name == "leases" for file in files)


@pytest.mark.slow
def test_another_server_finishes_what_a_killed_one_began(server, converted, undisturbed):
    """kill -9 of the one of two servers on a cache that is at work: the other goes on, and the result is the same."""
    other = Server(converted).start()
    try:
        job = server.ask("/api/jobs", WANTED)
        server.wait(job, lambda job: job["done"] >= 3)
        (working,) = [one for one in (server, other) if has_a_lease(one)]
        (left,) = [one for one in (server, other) if one is not working]
        working.kill()
        before = left.units()
        assert 3 <= len(before) < 31
        done = left.wait(job)
        assert (done["state"], done["done"]) == ("done", 30)
        after = left.units()
        assert {name: after[name] for name in before} == before
        assert result_of(left) == undisturbed
    finally:
        other.stop()


@pytest.mark.slow
def test_a_stopped_server_ends_its_worker_and_itself(server, undisturbed):
    """A service manager's SIGTERM in mid-job: a clean end, no process left, and the job waits for the next start."""
    job = server.ask("/api/jobs", WANTED)
    server.wait(job, lambda job: job["done"] >= 1)
    workers = psutil.Process(server.process.pid).children(recursive=True)
    server.stop()
    assert server.process.returncode == 0
    assert psutil.wait_procs(workers, timeout=10)[1] == []
    server.start()
    assert server.wait(job)["state"] == "done"
    assert result_of(server) == undisturbed


@pytest.mark.slow
def test_twenty_kills_at_random_points(server, converted, undisturbed):
    """Worker and server at random moments: no stored layer is lost or made again, the result is as if undisturbed."""
    chance = random.Random(0)
    job, met = server.ask("/api/jobs", WANTED), 0
    for _ in range(20):
        time.sleep(chance.uniform(0.3, 4))
        before = server.units()
        met += len(before) < 30
        if chance.random() < 0.5:
            server.kill()
            server.start()
        else:
            workers = subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True)
            for pid in workers.stdout.split():
                os.kill(int(pid), signal.SIGKILL)
        after = server.units()
        assert {name: after[name] for name in before} == before
        state = server.ask(f"/api/jobs/{job['id']}")["state"]
        assert state in {"queued", "running", "done"}
        if state == "done":
            store = Store(converted / "store")  # begin again, so that every kill meets work
            for name in [*store.names("unit/"), *store.names("result/"), *store.names("job/")]:
                store.delete(name)
            store.close()
            job = server.ask("/api/jobs", WANTED)
    assert server.wait(job)["state"] == "done"
    server.stop()
    assert met >= 10
    assert result_of(server) == undisturbed


@pytest.mark.slow
def test_a_cluster_shares_the_layers_and_outlives_a_worker(store, tmp_path, undisturbed):
    """A scheduler and two workers as processes: both compute, one is killed, the result is the same."""
    bin_ = Path(sys.executable).parent
    environment = {**os.environ, "HEAD_ATLAS_CACHE": str(cache_folder()), "OMP_NUM_THREADS": "1"}
    file = tmp_path / "scheduler.json"
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [f"{bin_}/dask", "scheduler", *local, "--port", "0", "--scheduler-file", str(file)], **quiet
    )
    workers = []
    try:
        while not file.exists():
            time.sleep(0.1)
        worker = [f"{bin_}/dask", "worker", "--scheduler-file", str(file), *local, "--nthreads", "1", "--no-nanny"]
        workers = [subprocess.Popen([*worker, "--resources", "GPU=1"], **quiet) for _ in range(2)]
        import json

        time.sleep(3)
        engine = Engine(store, WorkerConfig(scheduler=json.loads(file.read_text())["address"], device="cpu"))
        engine.start()
        job = engine.submit(REQUEST)
        both = wait(engine, job, lambda job: len(job.workers) == 2 or not job.active)
        assert len(both.workers) == 2
        workers[0].kill()
        job = wait(engine, job)
        engine.stop()
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
    assert job.state == "done"
    assert sum(job.workers.values()) == 30
    assert min(job.workers.values()) >= 1
    assert result(store) == undisturbed


@pytest.mark.slow
def test_a_killed_scheduler_is_waited_for(store, tmp_path, undisturbed):
    """kill -9 of the scheduler in mid-job: the job says so, and goes on by itself when a scheduler is there again."""
    bin_ = Path(sys.executable).parent
    environment = {**os.environ, "HEAD_ATLAS_CACHE": str(cache_folder()), "OMP_NUM_THREADS": "1"}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    worker = [f"{bin_}/dask", "worker", address, *local, "--nthreads", "1", "--resources", "GPU=1"]
    scheduler = [f"{bin_}/dask", "scheduler", *local, "--port", address.rpartition(":")[2]]
    processes = [subprocess.Popen(scheduler, **quiet), subprocess.Popen(worker, **quiet)]
    engine = Engine(store, WorkerConfig(scheduler=address, device="cpu"))
    try:
        engine.start()
        job = engine.submit(REQUEST)
        wait(engine, job, lambda job: job.done >= 3)
        processes[0].kill()
        waiting = wait(engine, job, lambda job: "does not answer" in job.stage)
        assert (waiting.state, address in waiting.stage) == ("queued", True)
        processes += [subprocess.Popen(scheduler, **quiet), subprocess.Popen(worker, **quiet)]
        job = wait(engine, job)
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        engine.stop()
    assert (job.state, job.done) == ("done", 30)
    assert result(store) == undisturbed
