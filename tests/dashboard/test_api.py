"""The HTTP API of causal maps: asking for one, refusals with their line, results as data."""

import io
import json
from dataclasses import replace

import pandas as pd
import pytest

from analysis import methods
from analysis.evidence.shipped import shipped_scores
from analysis.jobs.job import Job
from analysis.jobs.request import NetworkRequest, request_type
from analysis.methods.causal.method import CausalMethod
from analysis.methods.causal.settings import GateSettings
from dashboard.jobs import job_state
from tests import synthetic
from tests.computing import asked
from tests.faults.test_hostile import client_of

ITEMS = "\n".join(json.dumps({"prompt": f"{n} and", "target": f" {n + 1}"}) for n in range(10))
SIDES = [{"prompt": f"a {n}", "target": " b"} for n in range(8)]
PAIRS = "\n".join(json.dumps({"forget": side, "retain": side}) for side in SIDES)


@pytest.fixture
def client(store):
    synthetic.fill(store)
    return client_of(store)


def ask(client, **more):
    return client.post("/api/jobs", json={"model": "a/b", "methods": ["causal"], **more})


def test_a_causal_map_is_asked_for_with_tasks_seeds_and_updates(client):
    """Equal settings are one job, another number of seeds is another job, and matched pairs are taken too."""
    first = ask(client, tasks=["math"], seeds=2, updates=[10, 20], batch=4)
    assert first.status_code == 202
    assert ask(client, tasks=["math"], seeds=2, updates=[10, 20], batch=4).json()["id"] == first.json()["id"]
    assert ask(client, tasks=["math"], seeds=3, updates=[10, 20], batch=4).json()["id"] != first.json()["id"]
    assert ask(client, contrast={"name": "pairs.jsonl", "content": PAIRS}).status_code == 202


def test_how_gates_are_fitted_can_be_chosen_and_each_choice_is_another_job(client):
    """Rates, push and clip, and the paper's settings with one number of one's own."""
    submission = request_type(NetworkRequest)
    wanted = submission(model="a/b", methods=["causal"], published=True, batch=8, rates=[1, 0.5, 0.2, 0.1], clip=2.0)
    settings = wanted.gates()
    assert settings == replace(GateSettings.published(), batch=8, free_rate=(1.0, 0.5), push_rate=(0.2, 0.1), clip=2.0)
    choices = ({}, {"rates": [0.1, 0.01, 0.5, 0.1]}, {"push": 0.2}, {"clip": 2.0}, {"published": True})
    answers = [ask(client, **choice) for choice in choices]
    assert [answer.status_code for answer in answers] == [202] * len(choices)
    assert len({answer.json()["id"] for answer in answers}) == len(choices)


def test_a_task_of_ones_own_is_uploaded_and_one_broken_line_is_named(client):
    """A JSONL file becomes a task of the job; one wrong line refuses the file with its number and reason."""
    assert ask(client, files=[{"name": "own.jsonl", "content": ITEMS}]).status_code == 202
    broken = ask(client, files=[{"name": "own.jsonl", "content": ITEMS + '\n{"prompt": "no target"}'}])
    assert broken.status_code == 422
    assert "own.jsonl, line 11: the target is missing" in broken.json()["message"]


def test_what_makes_no_sense_is_refused(client):
    """Unknown tasks, impossible numbers and files for another method get 422."""
    assert ask(client, tasks=["dancing"]).status_code == 422
    assert ask(client, tasks=[]).status_code == 422
    assert ask(client, seeds=-1).status_code == 422
    assert ask(client, seeds=0, contrast={"name": "pairs.jsonl", "content": PAIRS}).status_code == 422
    assert ask(client, updates=[0, 5]).status_code == 422
    assert ask(client, tasks=["math"], files=[{"name": "math.jsonl", "content": ITEMS}]).status_code == 422
    assert ask(client, contrast={"name": "pairs.jsonl", "content": "{}"}).status_code == 422
    assert ask(client, rates=[1, 0.1, 0.5]).status_code == 422
    assert ask(client, clip=0).status_code == 422
    own = {"files": [{"name": "own.jsonl", "content": ITEMS}]}
    refused = ask(client, methods=["function"], **own)
    assert (refused.status_code, refused.json()["message"]) == (422, "own.jsonl cannot be used for function")
    unused = ask(client, methods=["function"], contrast={"name": "pairs.jsonl", "content": PAIRS})
    assert (unused.status_code, unused.json()["message"]) == (422, "pairs.jsonl cannot be used for function")
    assert ask(client, methods=["function"], seeds=3).status_code == 202  # a setting of another method changes nothing


def test_causal_scores_are_data_too(client):
    """Scores are filtered by task, role and layer; a head lists every seed; an unknown task gets the known ones."""
    address = f"/api/scores.csv?model={synthetic.ODD}&method=causal&item=math&kind=facilitation&layer=1"
    frame = pd.read_csv(io.StringIO(client.get(address).text))
    assert set(frame["sample"]) == {f"seed {seed}" for seed in range(5)}
    assert set(frame["kind"]) == {"facilitation"}
    head = client.get(f"/api/head?model={synthetic.ODD}&head=L1H2").json()["causal"][0]
    assert head["task"] == "math"
    assert len(head["facilitation"]) == 5
    unknown = client.get(f"/api/scores?model={synthetic.ODD}&method=causal&item=dancing")
    assert unknown.status_code == 422
    assert "There are: math, syntax" in unknown.json()["hint"]
    assert client.get("/api/scores?model=nobody&method=causal").status_code == 404
    nonsense = client.get(f"/api/scores?model={synthetic.ODD}&method=dancing")
    assert (nonsense.status_code, nonsense.json()["hint"]) == (422, "There are: function, salience, causal.")
    assert client.get(f"/api/scores?model={synthetic.ODD}&kind=facilitation").status_code == 422


def test_scores_and_heads_are_told_over_carriers_or_after_one(client):
    """The least or the largest of a score's carriers, or one's; samples of another kind are named one at a time."""
    every_row = "/api/scores?method=running&item=country_capital&kind=promote&layer=23&head=4"
    after = {row["sample"]: row["score"] for row in client.get(every_row).json()}
    for how, score in {
        "every": min(after.values()),
        "This is a document about": after["This is a document about"],
    }.items():
        [row] = client.get(f"{every_row}&sample={how}").json()
        assert (row["sample"], row["score"]) == (how, score)
    assert min(after.values()) < max(after.values())
    told = client.get("/api/head?head=L23H4&sample=some").json()["running"]["relations"]
    [capital] = [relation for relation in told if relation["name"] == "country_capital"]
    assert capital["promote"]["score"] == max(after.values())
    for address in (every_row, "/api/head?head=L23H4"):
        unknown = client.get(f"{address}&sample=Once")
        assert (unknown.status_code, "every, some, No, The story of" in unknown.json()["hint"]) == (422, True)
    of_seeds = client.get(f"/api/scores?model={synthetic.ODD}&method=causal&sample=every")
    assert (of_seeds.status_code, "seed 0" in of_seeds.json()["hint"]) == (422, True)
    one_seed = client.get(f"/api/scores?model={synthetic.ODD}&method=causal&sample=seed 3").json()
    assert {row["sample"] for row in one_seed} == {"seed 3"}


def test_one_of_several_results_is_asked_for_by_its_name(store):
    """The name of a job's link gives that result, under today's parameter and under the older one."""
    synthetic.fill(store)
    card = synthetic.odd_scores().provenance.model
    short = synthetic.causal_scores_of(card, 2)
    facts = replace(short.provenance, settings={**short.provenance.settings, "free_updates": 7})
    store.put("result/short/causal/0", replace(short, provenance=facts).to_parquet())
    client, address = client_of(store), f"/api/scores?model={card.id}&method=causal&item=math"
    name = CausalMethod().choice(facts)
    chosen = client.get(f"{address}&result={name}").json()
    assert {row["seeds"] for row in chosen} == {2}
    assert client.get(f"{address}&fit={name}").json() == chosen
    assert {row["seeds"] for row in client.get(address).json()} == {5}


def test_a_head_is_told_by_every_map(client):
    """Relations, mates, salient tokens and gates, whichever the model has."""
    found = client.get("/api/head?head=L23H4").json()
    names = {"model", "head", "heads", "relations", "salient", "group_mates", "causal", "ablation", "behaviour"}
    names |= {"summary", "findings", "alike", "remarks"}
    assert names | {method.name for method in methods.relation_methods()} == set(found)
    assert (found["head"], found["heads"]) == ("L23H4", 270)
    assert found["salient"]


def test_a_report_has_what_the_command_prints_and_the_records_behind_it(client):
    """The curve of a relation as numbers; a missing result is refused with the command that computes it."""
    found = client.get("/api/report", params={"model": "gemma-3-270m", "method": "ablation"}).json()
    scores = shipped_scores("ablation", "gemma-3-270m")
    method = methods.method("ablation")
    assert found["text"] == method.report_text(scores)
    assert found["report"] == json.loads(json.dumps(method.report(scores)))
    curve = found["records"]["country_capital"]["curve"]
    assert "random" in json.dumps(curve)
    made = scores.provenance
    assert [(one["method"], one["version"], one["date"]) for one in found["results"]] == [
        ("ablation", made.version, made.date)
    ]
    absent = client.get("/api/report", params={"model": "gemma-3-270m", "method": "causal"})
    assert absent.status_code == 404
    assert absent.json()["hint"] == "Compute it: python -m analysis gates gemma-3-270m"
    assert client.get("/api/report", params={"method": "dancing"}).status_code == 422
    assert client.get("/api/report", params={"model": synthetic.ODD, "method": "causal"}).status_code == 200  # no NaN


def test_correlations_are_those_that_compare_prints(client):
    """Of one model or of all, for each relation, with context where there is that map."""
    rows = client.get("/api/correlations").json()["models"]
    assert {row["model"] for row in rows} >= {"smollm2-135m-instruct", "gemma-3-270m", "qwen2.5-coder-1.5b-instruct"}
    (row,) = client.get("/api/correlations", params={"model": "gemma-3-270m"}).json()["models"]
    assert row in rows
    by_methods = {tuple(pair["methods"]): pair for pair in row["correlations"]}
    assert by_methods["running", "context"]["r"] == pytest.approx(0.93, abs=0.005)
    assert "country_capital" in by_methods["running", "context"]["relations"]
    assert [one["method"] for one in row["results"]] == ["function", "running", "context"]
    assert client.get("/api/correlations", params={"model": "nobody"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "used"),
    [
        ("search?q=Paris", methods.names()),
        ("agreement", methods.names()),
        ("matches?other=gemma-3-270m", methods.names()),
        ("quantity?key=running/copying/promote", ["running"]),
        ("quantity?key=agreement/function/causal/math", ["function", "causal"]),
    ],
)
def test_answers_name_the_results_they_are_made_of(client, path, used):
    """Method, version, the hash of the settings, and the date."""
    answer = client.get(f"/api/{path}").json()
    assert [one["method"] for one in answer["results"]] == used
    for one in answer["results"]:
        made = shipped_scores(one["method"]).provenance
        assert (one["version"], one["date"]) == (made.version, made.date)
        assert one["settings"] == made.in_short()["settings"]
        assert one["settings"] != replace(made, settings={"k": 1}).in_short()["settings"]


def test_agreement_takes_thresholds(client):
    """By method; a higher one leaves fewer labels, and the answer says which held."""

    def first(**asked):
        listed = client.get("/api/agreement", params=asked).json()["agreements"]
        return next(
            one for one in listed if (one["what"], one["whether"], one["item"]) == ("running", "causal", "math")
        )

    def labelled(found):
        return found["counts"]["labelled and causal"] + found["counts"]["labelled but irrelevant"]

    usual, strict = first(), first(threshold=["running=0.4", "causal=0.9"])
    assert (usual["thresholds"], strict["thresholds"]) == (
        {"running": 0.15, "causal": 0.5},
        {"running": 0.4, "causal": 0.9},
    )
    scores = shipped_scores("running").over_samples("mean").score
    assert labelled(strict) == int((scores.max(["item", "kind"]) > 0.4).sum()) < labelled(usual)
    for wrong in ("running", "dancing=1", "running=nan", "salience=1", "=", "running=x"):
        answer = client.get("/api/agreement", params={"threshold": wrong})
        assert answer.status_code == 422
        assert "running" in answer.json()["hint"]


def test_pages_and_scripts_are_told_the_same_of_a_job(client):
    """The list of the API is what the WebSocket sends, with the address of the map and what was asked for."""
    ask(client, tasks=["math"], seeds=2, updates=[10, 20], batch=4)
    (listed,) = client.get("/api/jobs").json()
    with client.websocket_connect("ws://localhost/live/jobs") as socket:
        assert socket.receive_json() == [listed]
    assert listed["asked"] == ["Math (10+20 updates with batch size 4, 2 seeds)"]
    job = Job.of(asked("a/b", "causal")).at(fingerprint="0123456789ab")
    assert job_state(job).link == f"/?model=a/b@01234567&view=causal&fit={job.asked['causal'].choice}"
    assert job_state(Job.of(asked("a/b")).at(fingerprint="0123456789ab")).link == "/?model=a/b@01234567"


def test_scores_without_a_method_are_of_what_the_model_has(client, store):
    """Of a model with gates alone these; of one with both, the gates where a task is asked for that only they have."""
    card = replace(synthetic.odd_scores().provenance.model, id="gates-only", fingerprint="0" * 64)
    store.put("result/only/causal/0", synthetic.causal_scores_of(card).to_parquet())
    answer = client.get("/api/scores?model=gates-only&layer=1&head=0")
    assert (answer.status_code, {row["method"] for row in answer.json()}) == (200, {"causal"})
    both = client.get(f"/api/scores?model={synthetic.ODD}&item=math&layer=1&head=0")
    assert {row["method"] for row in both.json()} == {"causal"}
    first = client.get(f"/api/scores?model={synthetic.ODD}&layer=1&head=0")
    assert {row["method"] for row in first.json()} == {"function"}


def test_the_files_of_a_request_are_counted_by_setting(client):
    """Five relations are enough for one request, whichever setting they stand in."""
    content = "\n".join(f"a{number},b{number}" for number in range(20))
    files = [{"name": f"own{number}.csv", "content": content} for number in range(6)]
    refused = client.post("/api/jobs", json={"model": "a/b", "methods": ["function"], "files": files})
    assert (refused.status_code, "at most 5 files" in refused.text) == (422, True)
    request = request_type()(model="a/b", files=files, contrast={"name": "pairs.jsonl", "content": PAIRS})
    assert {name: len(brought) for name, brought in request.brought().items()} == {"files": 6, "contrast": 1}
    assert [relation.name for relation in request.own_relations()] == [f"own{number}" for number in range(6)]
