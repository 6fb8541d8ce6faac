import os

# One thread per process: threads that wait for each other cost as much processor time as threads that work, and the
# tests run several processes at once. Set before torch is loaded; servers and workers inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import dask
import pytest
import torch
from distributed.utils import get_mp_context
from hypothesis import settings
from transformers.utils import logging

from analysis.data.relations import builtin
from analysis.evidence.shipped import shipped
from analysis.methods import method
from analysis.models import builtin as default_model
from analysis.models.checkpoint import Checkpoint
from analysis.results.scores import Scores
from analysis.results.store import Store, cache_folder
from tests import tiny_models
from tests.computing import computed, function_plan, function_scores

# Workers are forked from one process that has loaded what they need, which takes some seconds of processor time.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
get_mp_context().set_forkserver_preload(
    [
        "distributed",
        "accelerate",
        "transformers.models.llama.modeling_llama",
        "analysis.jobs.worker",
        "analysis.compute.hits.counter",
        "analysis.compute.layered.model",
    ]
)

settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")

logging.disable_progress_bar()
torch.set_grad_enabled(False)


@pytest.fixture(scope="session")
def default_checkpoint() -> Checkpoint:
    """The real trained model that comes with the project; converted once per machine."""
    return Checkpoint.open(default_model.folder(cache_folder()), default_model.ID, note=default_model.NOTE)


@pytest.fixture(scope="session")
def default_scores(default_checkpoint, tmp_path_factory) -> Scores:
    """Its function map of all relations, computed once for all tests."""
    store = Store(tmp_path_factory.mktemp("default-scores"))
    plan = function_plan(default_checkpoint, builtin().values())
    scores = function_scores(default_checkpoint, plan, store)
    store.close()
    return scores


@pytest.fixture(scope="session")
def running_scores(default_checkpoint, tmp_path_factory) -> Scores:
    """Its function map in the running model: the one that ships, or two relations after two carriers."""
    there = [one.scores for one in shipped() if one.scores.provenance.method == "running"]
    for scores in there:
        if scores.provenance.model.id == default_model.ID:
            return scores
    store, one = Store(tmp_path_factory.mktemp("running-scores")), method("running")
    settings = one.settings(relations=["country_capital", "adjective_comparative"], carriers=["No", "The story of"])
    scores = computed("running", one.plan(default_checkpoint.card, settings), default_checkpoint, store)
    store.close()
    return scores


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """A tiny grouped-query Llama on disk; tests that change it copy it first."""
    return tiny_models.save(tiny_models.FAMILIES["llama"].make(), tmp_path_factory.mktemp("tiny-llama"))
