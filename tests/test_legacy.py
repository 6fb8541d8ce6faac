"""What the first version of Head Atlas left behind: its files, results and jobs are read as if written today.

The files in tests/legacy/ were written by that version.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.data.relations import parse
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from analysis.jobs.journal import Journal
from analysis.methods import method
from analysis.methods.causal.result import record_of
from analysis.methods.salience.plan import SaliencePlan
from analysis.methods.salience.tokens import layer_bytes, layer_table, salient_tokens
from analysis.models.card import HeadId
from analysis.results.inventory import forget_stray_jobs
from analysis.results.scores import OLDER, Scores

FOLDER = Path(__file__).parent / "legacy"


def older_jobs(name, store):
    """Put the jobs of a file into a store; gives their names."""
    jobs = json.loads((FOLDER / name).read_text())
    for job_id, values in jobs.items():
        store.put(f"job/{job_id}", json.dumps(values).encode())
    return list(jobs)


def test_an_older_causal_map_has_its_parts_and_records():
    """What stood as JSON in the provenance becomes arrays and typed records; the scores are the same."""
    content = (FOLDER / "causal.parquet").read_bytes()
    raw = {item["name"]: item for item in Scores.from_parquet(content).records[OLDER]}
    scores = method("causal").read(content)
    assert scores.score.shape == (2, 3, 2, 3, 4)
    for task, values in raw.items():
        np.testing.assert_array_equal(scores.part("effect", task), values["effect"])
        for statistic in ("mean", "least", "most", "share"):
            np.testing.assert_array_equal(scores.part("gradient", task, statistic), values["preview"][statistic])
        record = record_of(scores, task)
        assert record.untouched.accuracy == values["accuracy"]
        assert [kind.kind for kind in record.untouched.kinds] == [kind["kind"] for kind in values["kinds"]]
        assert record.prompts == values["preview"]["prompts"]
        assert record.agreement == values["agreement"]
        assert [list(curve) for curve in record.curves.open] == values["curves"]["open"]
        assert list(record.settled["shut"]) == values["settled"]["shut"]
    again = method("causal").read(scores.to_parquet())
    assert again.records == scores.records
    assert again.parts["effect"].equals(scores.parts["effect"])


def test_an_older_result_in_the_store_is_shown(store):
    """The catalogue reads it as if it had been written today."""
    store.put("result/" + "ab" * 32 + "/causal/0", (FOLDER / "causal.parquet").read_bytes())
    catalogue = Catalogue(store)
    scores = catalogue.result(catalogue.card("older"), "causal")
    assert record_of(scores, "math").curves.seeds == (0, 1)
    assert scores.part("effect", "syntax") is not None


def test_an_older_job_keeps_its_name_and_can_be_tried_again(store):
    """One's own relation and task are files of the request, with the same content; the settings are the same."""
    (job_id,) = older_jobs("job.json", store)
    engine = Engine(store)
    (job,) = engine.jobs()
    assert (job.id, job.state, job.message, job.hint) == (job_id, "failed", "it broke", "Try again.")
    request = Journal(store).request(job_id)
    assert request.methods == ["function", "causal"]
    shift = parse("\n".join(f"w{i},w{i + 100}" for i in range(40)).encode(), "shift.csv")
    assert {relation.name: relation.hash for relation in request.chosen_relations()}["shift"] == shift.hash
    own = json.loads((FOLDER / "job.json").read_text())[job_id]["request"]["causal"]["own"][0]
    tasks = {task.name: task for task in request.chosen_tasks()}
    assert [item.prompt for item in tasks["own"].train] == [item["prompt"] for item in own["train"]]
    gates = request.gates()
    assert (gates.free_updates, gates.push_updates, gates.batch, request.chosen_seeds()) == (20, 40, 8, 2)
    again = engine.retry(job_id)
    assert (again.id, again.state) == (job_id, "queued")


def test_an_older_request_for_a_contrast_is_read(store):
    """Its pairs are the same."""
    (job_id,) = older_jobs("contrast_job.json", store)
    contrast = Journal(store).request(job_id).chosen_contrast()
    assert [item.prompt for item in contrast.forget] == [f"p{i}" for i in range(8)]


def test_older_jobs_are_rewritten_when_the_engine_starts(store):
    """Once; from then on a look at the jobs parses no upload."""
    (job_id,) = older_jobs("job.json", store)
    before = Journal(store).request(job_id)
    Journal(store).upgrade()
    assert sorted(store.names()) == [f"job/{job_id}", f"request/{job_id}"]
    assert "request" not in json.loads(store.get(f"job/{job_id}"))
    assert Journal(store).request(job_id) == before
    assert Journal(store).job(job_id).message == "it broke"


@pytest.mark.parametrize("content", [b"[]", b'{"asked": []}', b"not JSON", b'"text"', b'{"request": 7}'])
def test_foreign_records_of_jobs_are_passed_over(store, content):
    """By the list of jobs, by the start of the engine and by the cache's pruning."""
    store.put("job/abc", content)
    engine = Engine(store)
    engine._journal.upgrade()
    assert engine.jobs() == []
    assert Journal(store).request("abc") is None
    assert forget_stray_jobs(store) == 0


def test_older_salient_tokens_become_columns():
    """Each layer's tokens were JSON in a record; now they are columns of the same file, and it keeps them."""
    content = (FOLDER / "salience.parquet").read_bytes()
    texts = Scores.from_parquet(content).records["salience"]
    scores = method("salience").read(content)
    again = method("salience").read(scores.to_parquet())
    card = scores.provenance.model
    for result in (scores, again):
        assert "salience" not in result.records
        for layer in card.layers:
            for head in range(card.heads):
                tokens = salient_tokens(result, HeadId(layer, head))
                told = None if tokens is None else [token.model_dump(mode="json") for token in tokens]
                assert told == (json.loads(texts[str(layer)])[head] if str(layer) in texts else None)
    assert salient_tokens(again, HeadId(card.layers[-1], 0)) is None
    assert again.score.equals(scores.score)


def test_older_layers_of_salient_tokens_in_the_store_are_read(store):
    """Of the pieces of a job that was stopped some are JSON, others are not: both make one result."""
    texts = Scores.from_parquet((FOLDER / "salience.parquet").read_bytes())
    card = texts.provenance.model
    plan = SaliencePlan(card, True, card.layers)
    first, second = sorted(texts.records["salience"].items())
    store.put(plan.layer_name(int(first[0])), first[1].encode())
    store.put(plan.layer_name(int(second[0])), layer_bytes(layer_table(json.loads(second[1]))))
    scores = plan.assembled(store, "")
    for layer, text in (first, second):
        tokens = salient_tokens(scores, HeadId(int(layer), 1))
        assert [token.model_dump(mode="json") for token in tokens] == json.loads(text)[1]
