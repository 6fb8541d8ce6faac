"""Disks that are full, read-only or damaged: a clear message, nothing else lost, recovery when the cause is gone."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from analysis.errors import StoreError
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine, WorkerConfig
from analysis.results.scores import Scores
from analysis.results.store import Store
from tests.browser.harness import ROOT
from tests.computing import asked
from tests.engine.conftest import engine, models, scheduler  # noqa: F401  # fixtures
from tests.engine.test_engine import REQUEST, wait
from tests.faults.test_kills import REQUEST as LONG
from tests.faults.test_kills import result, undisturbed  # noqa: F401  # a fixture


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("a small file system needs the right to mount one")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def full(folder):
    """Without a byte of room, for a while."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        for size in (65536, 512, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
    yield
    ballast.unlink()


def test_a_full_disk_is_said_and_recovers(small_disk, models):  # noqa: F811
    """A request is refused with a hint; with room again the same request works."""
    store = Store(small_disk / "store")
    working = Engine(store, WorkerConfig(device="cpu", models=models))
    working.start()
    with full(small_disk), pytest.raises(StoreError) as caught:
        working.submit(asked("org/no-room"))
    assert "space" in caught.value.hint
    assert wait(working, working.submit(REQUEST)).state == "done"
    working.stop()
    store.close()


@pytest.mark.slow
def test_a_disk_that_fills_up_in_mid_job_costs_no_finished_layer(small_disk, undisturbed):  # noqa: F811
    """The job fails with a hint while the disk is full, and for good; tried again it goes on from what it had."""
    store = Store(small_disk / "store")
    working = Engine(store, WorkerConfig(device="cpu"))
    working.start()
    job = working.submit(LONG)
    wait(working, job, lambda job: job.done >= 3)
    with full(small_disk):
        told = wait(working, job)  # although it cannot be written
        assert (told.state, told.model) == ("failed", job.model)
        assert "space" in told.hint
        assert told in working.jobs()
    for _ in range(100):
        if Engine(store).job(job.id).state == "failed":  # as soon as there is room to write it
            break
        time.sleep(0.1)
    job = working.job(job.id)
    before = {name: store.get(name) for name in store.names("unit/")}
    assert job.state == "failed"
    assert "space" in job.hint
    layers = len(before) - 1  # and the pairs
    assert 3 <= layers < 30
    again = wait(working, working.submit(LONG))
    working.stop()
    assert again.state == "done"
    assert sum(again.workers.values()) == 30 - layers
    assert {name: store.get(name) for name in before} == before
    assert result(store) == undisturbed
    store.close()


def test_a_read_only_cache_is_said_at_the_start(small_disk):
    """app.py ends with a message and the store's exit code."""
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = subprocess.run(
        [sys.executable, str(ROOT / "app.py"), "--port", "0"],
        env={**os.environ, "HEAD_ATLAS_CACHE": str(small_disk / "cache")},
        capture_output=True, text=True, timeout=60, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 7
    assert "HEAD_ATLAS_CACHE" in done.stderr
    assert "Traceback" not in done.stderr


def hashes(store):
    """The hash of each result."""
    return {name: Scores.from_parquet(store.get(name)).content_hash() for name in store.names("result/")}


def test_damaged_and_foreign_entries_cost_only_themselves(engine, store):  # noqa: F811
    """A flipped byte in a unit and a result of another version: computed again, all others stay."""
    wait(engine, engine.submit(REQUEST))
    unit, *others = list(store.names("unit/"))
    first = hashes(store)
    (foreign,) = (name for name in store.names("result/") if "/function/" in name)
    store._cache[unit] = b"damaged"
    store.put(foreign, b"written by another version")
    kept = {name: store.get(name) for name in others}
    assert Catalogue(store).models()
    for name in list(store.names("job/")):
        store.delete(name)
    assert wait(engine, engine.submit(REQUEST)).state == "done"
    assert {name: store.get(name) for name in others} == kept
    assert hashes(store) == first
    assert Catalogue(store).card("small")
