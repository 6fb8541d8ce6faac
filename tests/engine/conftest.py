import logging
import shutil

import pytest
from distributed import LocalCluster

from analysis.jobs.cluster import RESOURCE
from analysis.jobs.engine import Engine, WorkerConfig


@pytest.fixture
def models(tiny_folder, tmp_path):
    """A models directory with a tiny Llama in it."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "tiny").symlink_to(tiny_folder)  # a link that leads out
    shutil.copytree(tiny_folder, folder / "small")
    return folder


@pytest.fixture(scope="module")
def scheduler():
    """A Dask cluster with one worker process, started once for the tests of a module."""
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, memory_limit=0, resources={RESOURCE: 1}, host="127.0.0.1",
        dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, silence_logs=logging.ERROR,
    ) as cluster:  # fmt: skip
        yield cluster.scheduler_address


@pytest.fixture
def engine(store, models, scheduler):
    """An engine on that cluster."""
    made = Engine(store, WorkerConfig(scheduler, "cpu", models))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def local_engine(store, models):
    """An engine with a worker process of its own, which a test may kill."""
    made = Engine(store, WorkerConfig(device="cpu", models=models))
    made.start()
    yield made
    made.stop()
