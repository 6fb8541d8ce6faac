import json

import numpy as np
import pytest

from analysis.data.relations import builtin
from analysis.errors import ModelNotFound
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job, Request
from analysis.methods.function.plan import function_scores, layers_salience, plan
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.results.catalogue import Library
from analysis.results.scores import Missing
from analysis.results.shipped import shipped
from dashboard.catalogue_adapter import Catalogue
from dashboard.page import callbacks
from tests.test_plan import RELATION


def test_shipped_map_equals_a_fresh_computation(default_checkpoint, store):
    """The file in the project is what the command makes today, from the same relations, settings and weights."""
    (ours,) = shipped()
    fresh = function_scores(default_checkpoint, plan(default_checkpoint, tuple(builtin().values())), store)
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
    card, library = default_checkpoint.card, Library(store)
    fresh = layers_salience(default_checkpoint, [0, 23], store)
    for layer, heads in fresh.items():
        for head, operations in enumerate(heads):
            ours = library.salience(card, HeadId(layer, head))
            assert [o["text"] for o in ours[:8]] == [o["text"] for o in operations[:8]]
            assert [o["sigma"] for o in ours] == pytest.approx([o["sigma"] for o in operations], abs=2e-3)
            first = (ours[0]["promoted"], operations[0]["promoted"])
            assert len({tuple(entry["text"] for entry in entries) for entries in first}) == 1


def test_the_default_model_is_there_without_any_computation(store):
    """An empty store still has a first screen."""
    library = Library(store)
    assert [card.id for card in library.models()] == [default_model.ID]
    assert library.scores(default_model.ID).item("country_capital")["kept"] == 40


def test_the_fullest_result_of_a_model_is_shown(tiny_folder, store):
    """A map of all layers is preferred to one of some; other models and fingerprints are not found."""
    checkpoint = Checkpoint.open(tiny_folder)
    function_scores(checkpoint, plan(checkpoint, (RELATION,), layers=[1]), store)
    function_scores(checkpoint, plan(checkpoint, (RELATION,)), store)
    library = Library(store)
    card = checkpoint.card
    assert len(library.models()) == 2
    assert library.scores(card.id, card.fingerprint[:8]).provenance.settings["layers"] == [0, 1, 2]
    for model, fingerprint in (("nobody", ""), (card.id, "0" * 8)):
        with pytest.raises(ModelNotFound):
            library.scores(model, fingerprint)


@pytest.fixture
def stopped(tiny_folder, store):
    """A job that has one of three layers."""
    checkpoint = Checkpoint.open(tiny_folder, "small")
    some = plan(checkpoint, (RELATION,), layers=[0])
    kept = (function_scores(checkpoint, some, store).item(RELATION.name)["kept"],)
    store.delete(some.key)
    card = checkpoint.card
    made = Job(Request("small", relations=(RELATION,)), fingerprint=card.fingerprint, kept=kept, done=1, total=3)
    store.put(f"card/{card.fingerprint}/{made.id}", json.dumps(card.to_dict()).encode())
    return made


@pytest.mark.parametrize(("state", "reason"), [("failed", Missing.FAILED), ("running", Missing.RUNNING)])
def test_what_a_job_has_not_computed_says_why(stopped, store, state, reason):
    """The layer it has is shown; the others are failed or running, on the map, in the table and in the inspector."""
    job = stopped.at(state=state, message="the disk is full", hint="Make room")
    store.put(f"job/{job.id}", json.dumps(job.to_dict()).encode())
    library = Library(store, Engine(store))
    catalogue = Catalogue(library)
    assert library.scores("small").missing.max(("item", "kind", "sample", "head")).values.tolist() == [
        0,
        reason,
        reason,
    ]
    screen, query = {"width": 1240}, "?model=small&view=table"
    found = callbacks.describe(catalogue, query, screen, None)
    assert {row["item_0"] for row in found["rows"] if row["layer"]} == {reason.words}
    assert reason.words in json.dumps(callbacks.inspect(catalogue, ["L1H0"], query, screen))
    legend = json.dumps(found["legend"], default=lambda part: part.to_plotly_json())
    assert ("failed: the disk is full. Make room" in legend) == (state == "failed")
    assert reason.words in legend
