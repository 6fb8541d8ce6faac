import shutil

import pytest

from analysis.jobs.engine import Engine, Place


@pytest.fixture
def models(tiny_folder, tmp_path):
    """A models directory with a tiny Llama in it."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "tiny").symlink_to(tiny_folder)  # a link that leads out
    shutil.copytree(tiny_folder, folder / "small")
    return folder


@pytest.fixture
def engine(store, models):
    """An engine with its local worker process."""
    made = Engine(store, Place(device="cpu", models=models))
    made.start()
    yield made
    made.stop()
