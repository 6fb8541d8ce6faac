"""Disks that are full, read-only or damaged: a clear message, nothing else lost, recovery when the cause is gone."""

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from analysis.engine import Engine, Place
from analysis.errors import StoreError
from analysis.store import Store
from dashboard.library import Library
from tests.browser.harness import ROOT
from tests.engine.conftest import engine, models  # noqa: F401  # fixtures
from tests.engine.test_engine import REQUEST, wait


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


def filled(folder):
    """A file that takes all the room there is."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
    return ballast


def test_a_full_disk_refuses_a_job_and_recovers(small_disk, models):  # noqa: F811
    """A request that cannot be kept is refused with a hint; with room again the same request works."""
    store = Store(small_disk / "store")
    working = Engine(store, Place(device="cpu", models=models))
    working.start()
    ballast = filled(small_disk)
    with pytest.raises(StoreError) as refused:
        working.submit(REQUEST)
    ballast.unlink()
    assert "free space" in refused.value.hint
    assert working.jobs() == []
    assert wait(working, working.submit(REQUEST)).state == "done"
    working.stop()
    store.close()


def test_a_disk_that_fills_up_fails_the_job_and_recovers(small_disk, models, monkeypatch):  # noqa: F811
    """A job whose results cannot be kept fails with the hint as soon as that can be told; then it works again."""
    store = Store(small_disk / "store")
    working = Engine(store, Place(device="cpu", models=models))
    ballast, failing = [], threading.Event()
    put = store.put

    def full_from_the_first_unit_on(key, value):
        if key.startswith("unit/") and not ballast:
            ballast.append(filled(small_disk))
        try:
            put(key, value)
        except StoreError:
            failing.set()
            raise

    monkeypatch.setattr(store, "put", full_from_the_first_unit_on)
    working.start()
    job = working.submit(REQUEST)
    assert failing.wait(60)
    ballast[0].unlink()
    failed = wait(working, job)
    assert failed.state == "failed"
    assert "free space" in failed.hint
    assert wait(working, working.submit(REQUEST)).state == "done"
    working.stop()
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


def test_damaged_and_foreign_entries_cost_only_themselves(engine, store):  # noqa: F811
    """A flipped byte in a unit and a result of another version: computed again, all others stay."""
    wait(engine, engine.submit(REQUEST))
    unit, *others = list(store.names("unit/"))
    (result,) = store.names("result/")
    store._cache[unit] = b"damaged"
    store.put(result, b"written by another version")
    kept = {name: store.get(name) for name in others}
    assert Library(store).models()
    for name in list(store.names("job/")):
        store.delete(name)
    assert wait(engine, engine.submit(REQUEST)).state == "done"
    assert {name: store.get(name) for name in others} == kept
    assert Library(store).scores("small")
