"""What others send: the server answers, and stays."""

import asyncio
import base64
import gzip
import io
import json
import os
import re
import resource
import shutil
import struct
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import schemathesis
from argon2 import PasswordHasher
from dash._utils import split_callback_id
from fastapi import HTTPException
from fastapi import Request as Sender
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from analysis.data.relations import parse
from analysis.data.tasks import read_task
from analysis.errors import ModelError, SettingError
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.answers import Answers
from analysis.jobs.engine import QUEUE_LIMIT, Engine, WorkerConfig
from analysis.jobs.journal import Journal
from analysis.jobs.request import NetworkRequest, request_type
from analysis.methods import METHODS
from analysis.models import builtin as default_model
from analysis.models import pair_count
from analysis.models.sources import listed_folder, listed_models, open_listed
from analysis.results.own_sets import set_id
from analysis.results.store import Store
from analysis.settings import UNKNOWN
from dashboard.access import Access, main, read_auth_file
from dashboard.page import ids
from dashboard.query import MAX_QUERY
from dashboard.state import ViewState
from dashboard.web import bodies as bodies_module
from dashboard.web import logins as logins_module
from dashboard.web.api import CLIENTS, SUBMISSIONS, TRIES, _limit
from dashboard.web.application import create_app
from dashboard.web.bodies import (
    MAX_BODY,
    MAX_CALL,
    MAX_CALL_VALUES,
    MAX_NAMES,
    MAX_VALUES,
    UPLOAD,
    Bodies,
    TooManyBodies,
)
from dashboard.web.dash_requests import MAX_DEPTH
from dashboard.web.guard import Guard
from dashboard.web.live import JobWatch
from dashboard.web.logins import FREE, WAITING, WAITING_AGAIN, Logins, TooManyLogins
from tests.dashboard.test_own_sets import put, with_own
from tests.engine.conftest import models  # noqa: F401  # a fixture

POSITIVE, NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE


def client_of(store, access=None, folder=None, **options):
    # At rest: submissions are kept, nothing runs. Its workers are elsewhere, so that any model may be theirs.
    engine = Engine(store, WorkerConfig("tcp://127.0.0.1:1", models=folder))
    server = create_app(Catalogue(store, engine), engine, access or Access(local=True), folder)
    return TestClient(server, base_url="http://localhost", raise_server_exceptions=False, **options)


@pytest.fixture
def client(store):
    return client_of(store)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """The store of the shared server."""
    store = Store(tmp_path_factory.mktemp("store"))
    yield store
    store.close()


@pytest.fixture(scope="module")
def shared(shared_store):
    """For properties: one server for all examples."""
    return client_of(shared_store)


PROPERTY = settings(max_examples=1000, suppress_health_check=list(HealthCheck))


@settings(PROPERTY, max_examples=250)
@given(st.text(max_size=300))
def test_no_query_string_breaks_the_server(shared, query):
    """Any text as a query string gets an answer that is no server error."""
    assert shared.get("/export/reproduce.py", params=query.encode("utf-8", "replace").decode()).status_code < 500


@settings(PROPERTY, max_examples=250)
@given(st.text(max_size=60))
def test_no_head_name_breaks_the_server(shared, name):
    """Any text as the name of a head gets an answer that is no server error."""
    assert shared.get("/api/head", params={"head": name.encode("utf-8", "replace")}).status_code < 500


@pytest.fixture
def unlimited(shared, monkeypatch):
    """The shared server without its limit per minute, so that every upload is read."""
    monkeypatch.setattr("dashboard.web.api.SUBMISSIONS", 10**9)
    monkeypatch.setattr("dashboard.web.api.TRIES", 10**9)
    return shared


@pytest.fixture
def unlimited_store(client, monkeypatch):
    """A server without its limit per minute, with a store of its own."""
    monkeypatch.setattr("dashboard.web.api.SUBMISSIONS", 10**9)
    monkeypatch.setattr("dashboard.web.api.TRIES", 10**9)
    monkeypatch.setattr("dashboard.web.api.QUESTIONS", 10**9)
    return client


@pytest.fixture
def full_server(unlimited_store, store):
    """The same with a set of somebody's own relations."""
    assert put(store, with_own("mine")) == OWN_SET
    return unlimited_store


JSON = {"Content-Type": "application/json"}
DIGITS = "<digits>"  # stands for an integer of so many digits that Python itself refuses to write it


def body_of(fields):
    """A request's body, with NaN, halves of characters and very long integers as JSON can have them."""
    return json.dumps(fields).replace(json.dumps(DIGITS), "9" * 5_000).encode()


def understood(answer):
    """The fields of an answer that is a success or a refusal in one of the two forms that the API has."""
    assert 200 <= answer.status_code < 300 or 400 <= answer.status_code < 500, answer.text
    told = json.loads(answer.content, parse_constant=pytest.fail)  # NaN and Infinity are no JSON
    if answer.status_code >= 400:
        assert set(told) in ({"error", "message", "hint"}, {"error", "field", "message", "hint"}, {"detail"})
    return told


plain_words = st.sampled_from(["hot", "cold", "", " ", '"', ",", "é", "=1+1", "<b>", "\0", "\u2028", "a" * 101, "NaN"])
any_words = plain_words | st.text(max_size=8) | st.just("\ud800")
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | any_words | st.just(DIGITS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_words, inner, max_size=3),
    max_leaves=8,
)


def json_text(value):
    return body_of(value).decode()


def csv_text(rows):
    return "\n".join(",".join(row) for row in rows)


def jsonl_text(rows):
    return "\n".join(json_text(row) for row in rows)


ENOUGH = [(f"source{i}", f"target{i}") for i in range(40)]  # fewer pairs are refused by their number


def tables(word):
    """Rows that are mostly pairs; half of the tables have enough of them to be of use."""
    rows = st.lists(st.tuples(word, word) | st.lists(word, max_size=3), min_size=1, max_size=12)
    return rows | st.lists(st.tuples(word, word), max_size=2).map(lambda few: [*few, *ENOUGH])


questions = st.fixed_dictionaries({"prompt": st.text(max_size=8).map("{} is".format), "target": st.text(max_size=8)})
files = st.one_of(
    st.tuples(st.just("a.csv"), st.text(max_size=400) | tables(plain_words | st.text(max_size=8)).map(csv_text)),
    st.tuples(st.just("a.json"), tables(any_words).map(json_text) | json_values.map(json_text) | st.text(max_size=400)),
    st.tuples(
        st.just("a.jsonl"), st.lists(questions | json_values, max_size=20).map(jsonl_text) | st.text(max_size=400)
    ),
)


def empty(store):
    """Forget all jobs: a full queue would refuse the next one."""
    for name in list(store.names()):
        store.delete(name)


def test_no_upload_breaks_the_server(unlimited, shared_store):
    """A thousand files reach their parser and are taken as they are or refused by name; nothing else is stored."""
    seen = Counter()

    @PROPERTY
    @given(files)
    def post(file):
        name, content = file
        body = {"model": "a/b", "methods": ["function", "causal"], "files": [{"name": name, "content": content}]}
        answer = unlimited.post("/api/jobs", content=body_of(body), headers=JSON)
        told = understood(answer)
        seen["sent"] += 1
        if answer.status_code == 202:
            seen["taken"] += 1
            assert sorted(shared_store.names()) == [f"job/{told['id']}", f"request/{told['id']}"]
            request = Journal(shared_store).request(told["id"])
            empty(shared_store)
            read = read_task if name == "a.jsonl" else lambda name, content: parse(content, name)
            chosen = (*request.chosen_relations(), *request.chosen_tasks())
            assert [own for own in chosen if own.name == "a"] == [read(name, content.encode())]
        else:
            assert answer.status_code == 422
            assert list(shared_store.names()) == []
            seen["refused by a parser"] += told.get("message", "").startswith(name)

    post()
    assert seen["sent"] >= 1000
    assert seen["taken"] + seen["refused by a parser"] > 0.9 * seen["sent"]
    assert seen["taken"] > 20


@pytest.mark.parametrize("name", ["../a.csv", "<b>.csv", "a.exe", "a.csv\0", "", "\ud800.csv", "a" * 80 + ".csv"])
def test_files_of_other_names_are_refused(unlimited, shared_store, name):
    """A name with a path, markup or another ending gets 422 before its content is read."""
    body = {"model": "a/b", "files": [{"name": name, "content": "hot,cold"}]}
    answer = unlimited.post("/api/jobs", content=body_of(body), headers=JSON)
    assert answer.status_code == 422
    assert understood(answer)["detail"][0]["loc"] == ["body", "files", 0, "name"]
    assert list(shared_store.names()) == []


FIELDS = sorted(request_type(NetworkRequest).model_fields)
INSIDE = {
    "files name": lambda value: {"files": [{"name": value, "content": "hot,cold"}]},
    "files content": lambda value: {"files": [{"name": "a.csv", "content": value}]},
    "files other": lambda value: {"files": [{"name": "a.csv", "content": "hot,cold", "other": value}]},
    "contrast name": lambda value: {"methods": ["causal"], "contrast": {"name": value, "content": ""}},
    "contrast content": lambda value: {"methods": ["causal"], "contrast": {"name": "a.jsonl", "content": value}},
    "other": lambda value: {"other": value},
    **{f"one of {field}": lambda value, field=field: {field: [value]} for field in ("methods", "relations", "tasks")},
    "first rate": lambda value: {"methods": ["causal"], "rates": [value, 0.1, 0.5, 0.1]},
    "first updates": lambda value: {"methods": ["causal"], "updates": [value, 5]},
}
WRONG = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "half a character": "\ud800",
    "a key of half a character": {"\udfff": 1},
    "5,000 digits": DIGITS,
    "nested": json.loads("[" * 300 + "]" * 300),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_values_that_json_has_and_python_lacks_are_refused_wherever_they_stand(unlimited, shared_store, wrong):
    """NaN, infinities, lone surrogates and very long integers get 422 in every field of a submission."""
    bodies = {field: {"model": "a/b", field: wrong} for field in FIELDS}
    bodies |= {place: {"model": "a/b", **made(wrong)} for place, made in INSIDE.items()}
    codes = {}
    for place, body in bodies.items():
        answer = unlimited.post("/api/jobs", content=body_of(body), headers=JSON)
        understood(answer)
        codes[place] = answer.status_code
    assert codes == dict.fromkeys(bodies, 422)
    assert list(shared_store.names()) == []


@settings(PROPERTY, max_examples=300)
@given(st.dictionaries(st.sampled_from(FIELDS) | any_words, json_values, max_size=5) | json_values)
def test_no_body_breaks_the_server(unlimited, shared_store, fields):
    """Any JSON is a job or a refusal in a known form."""
    told = understood(unlimited.post("/api/jobs", content=body_of(fields), headers=JSON))
    stored = [f"job/{told['id']}", f"request/{told['id']}"] if "id" in told else []
    assert sorted(shared_store.names()) == stored
    empty(shared_store)


@pytest.mark.parametrize("headers", [{}, JSON, {"Content-Type": "text/plain"}], ids=["none", "json", "text"])
@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"\x00" * 100, b'{"model": "a/b"} x'])
def test_bodies_that_are_no_json_are_refused(unlimited, body, headers):
    """Broken, binary, endless or unnamed bytes get 422, whatever they are said to be."""
    answer = unlimited.post("/api/jobs", content=body, headers=headers)
    assert answer.status_code == 422
    understood(answer)


def operations_of(client):
    """How many operations the API says that it has."""
    paths = client.get("/api/openapi.json").json()["paths"].values()
    return sum(method in {"get", "post", "patch", "put", "delete"} for path in paths for method in path)


SENT = {"host": "localhost"}
WRONG_REQUESTS = 50  # different wrong requests of every operation, at least
NEVER_REACHED = {"GET /prompt", "DELETE /models/{fingerprint}"}  # without a worker, and of results that ship
# What the server knows: many right requests ask for it and get an answer. Random words would get none.
OWN_SET = set_id([("mine", "1" * 16)])
KNOWN = {
    "model": [default_model.ID, "gemma-3-270m"],
    "fingerprint": [""],
    "method": [each.name for each in METHODS],
    "result": [""],
    "fit": [""],
    "own": ["", OWN_SET],
    "item": [["country_capital"], []],
    "kind": ["promote"],
    "sample": ["", "mean", "No"],
    "head": ["L23H4", "L2H0"],
    "relation": ["country_capital", "copying"],
    "q": ["capital", "L2H0"],
    "key": ["function/country_capital/promote"],
    "threshold": [["running=0.2"], []],
    "replaced": ["zero", ""],
    "text": ["The capital of France is"],
    "other": [default_model.ID, "gemma-3-270m"],
    "other_fingerprint": [""],
}


def with_known(case, choices, job):
    """The same request with some of its values replaced by those that the server knows."""
    in_path = {"job_id": [job], "set_id": [OWN_SET], "relation": ["mine"]}
    for values, there in ((case.query, KNOWN), (case.path_parameters, in_path)):
        for name in sorted(set(values or {}) & set(there)):
            if choices.draw(st.integers(0, 3)):
                values[name] = choices.draw(st.sampled_from(there[name]))


def checked_operations(client, examples, check, modes):
    """Every operation of the API with input that schemathesis makes: its different requests, by its name and mode."""
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", client.app, headers=SENT)
    job = client.post("/api/jobs", json={"model": "made/up", "methods": ["function"]}).json()["id"]
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == operations_of(client)
    different = {}
    for operation in sorted(operations, key=lambda one: one.method == "delete"):  # last, for the others find something
        for mode in modes:
            if mode == POSITIVE or has_input(operation):
                different[operation.label, mode] = asked(operation, mode, examples, check, job)
    return different


def asked(operation, mode, examples, check, job):
    """The different requests of an operation, each with its answer checked; wrong ones repeat themselves at first."""
    different = set()

    @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), choices=st.data())
    def ask(case, choices):
        assert case.meta.generation.mode == mode
        if mode == POSITIVE:
            with_known(case, choices, job)
        different.add(repr((case.path_parameters, case.query, case.body)))
        check(case, case.call(headers=SENT))

    ask()
    for _ in range(10):
        if mode == NEGATIVE and len(different) < WRONG_REQUESTS:
            ask()
    return different


def has_input(operation):
    """Whether there is anything that could be wrong."""
    return bool(operation.body) or any(True for _ in operation.iter_parameters())


def test_the_api_has_no_server_error(full_server):
    """schemathesis: no generated input leads to a server error; 503 is a full queue's answer."""
    codes = Counter()

    def check(case, response):
        assert response.status_code < 500 or response.status_code == 503
        codes[response.status_code // 100] += 1

    checked_operations(full_server, 12, check, [POSITIVE])
    assert codes[2] > 20
    assert codes[4] > 20


DECLARED = [
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


@pytest.mark.slow
def test_the_api_keeps_to_its_own_description(full_server, capsys):
    """schemathesis: every answer, also to wrong input, has a status, a content type and a body that is declared."""
    codes = Counter()

    def check(case, response):
        case.validate_response(response, checks=DECLARED)
        codes[case.operation.label, case.meta.generation.mode, response.status_code] += 1

    different = checked_operations(full_server, 200, check, [POSITIVE, NEGATIVE])
    with capsys.disabled():
        for label, mode in different:
            answers = {code: count for (*which, code), count in sorted(codes.items()) if which == [label, mode]}
            print(f"\n{label}, {mode.value}: {len(different[label, mode])} different requests, {answers}", end="")
    for (label, mode), requests in different.items():
        if mode == NEGATIVE:
            assert len(requests) >= WRONG_REQUESTS, label
            assert codes[label, mode, 422] >= WRONG_REQUESTS, label
    reached = {label for label, mode, code in codes if mode == POSITIVE and code < 300}
    assert {label for label, _ in different} - reached <= NEVER_REACHED


def test_what_the_guard_refuses_is_declared(store, auth_file):
    """Without a login, with a wrong one too many, under another name, from another site: each operation says so."""
    here, refused = client_of(store), client_of(store, Access.of("0.0.0.0", auth_file))
    other_site = {**login("anna"), "Origin": "http://evil.example"}
    known = {"400": (here, {"Host": "evil.example"}), "401": (refused, {}), "403": (refused, other_site)}
    for path, methods in here.get("/api/openapi.json").json()["paths"].items():
        for method, described in methods.items():
            for code, (client, headers) in known.items():
                address = re.sub(r"{\w+}", "a", f"/api{path}")
                if code == "403" and method == "get":
                    continue
                answer = client.request(method, address, headers={"Host": "localhost", **headers})
                assert (str(answer.status_code), set(answer.json())) == (code, {"detail"}), (method, path)
                assert "application/json" in described["responses"][code]["content"]
    codes = [refused.get("/api/health", headers={"Authorization": basic("anna", "guess")}) for _ in range(FREE + 1)]
    assert [answer.status_code for answer in codes] == [401] * FREE + [429]
    assert set(codes[-1].json()) == {"detail"}


MANY = b",".join(b'"%x": 1' % number for number in range(MAX_NAMES - 10))
LONG = b'"' + b"x" * 5_000_000 + b'": 1'


@pytest.mark.parametrize("form", [b"{%s}", b'{"files": [{%s}]}', b'{"contrast": {%s}}'])
@pytest.mark.parametrize("fields", [MANY, LONG], ids=["many", "long"])
def test_fields_that_nobody_knows_cost_a_few_errors(unlimited, form, fields):
    """As many as are read, or a name of five million characters: the answer is as short as that to a few."""
    answer = unlimited.post("/api/jobs", content=form.replace(b"%s", fields), headers=JSON)
    assert answer.status_code == 422
    assert len(answer.content) < 10_000
    assert [one["type"] for one in answer.json()["detail"]].count("extra_forbidden") in {1, UNKNOWN}


def test_a_change_of_a_set_takes_no_upload(unlimited):
    """A name and a switch need no megabytes: a large body is refused unread, one of many fields in a few words."""
    assert unlimited.patch("/api/sets/a", content=b"{" + MANY + b"}", headers=JSON).status_code == 413
    few = b",".join(b'"%x": 1' % number for number in range(MAX_CALL_VALUES - 10))
    answer = unlimited.patch("/api/sets/a", content=b"{" + few + b"}", headers=JSON)
    assert (answer.status_code, len(answer.json()["detail"])) == (422, UNKNOWN)


def test_bodies_of_very_many_names_are_not_read(unlimited):
    """Half a million of them would keep Python's lock, and with it everybody, for a third of a second."""
    body = b"{" + b",".join(b'"%x": 1' % number for number in range(MAX_VALUES - 10)) + b"}"
    assert len(body) < MAX_BODY
    answer = unlimited.post("/api/jobs", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (413, "TooLarge")


def test_submissions_that_are_no_json_count(client):
    """Whoever sends nonsense is told to wait before the next one is parsed."""
    codes = [client.post("/api/jobs", content=b"{", headers=JSON).status_code for _ in range(TRIES + 1)]
    assert codes == [422] * TRIES + [429]


TRAVERSALS = ["dash/..%2f..%2f..%2fetc/passwd", "none/x.js", "dash/x.js", "dash/%00.js", "dash/", "a" * 5000 + "/x.js"]


@pytest.mark.parametrize("path", TRAVERSALS, ids=lambda path: path[:20])
def test_files_that_dash_does_not_have_are_not_found(shared, path):
    """Paths that lead out, unknown packages and unknown files get 404."""
    assert shared.get(f"/_dash-component-suites/{path}").status_code == 404


def test_files_that_dash_has_are_found(shared):
    """Every script and style that the page names."""
    names = re.findall(r'(?:src|href)="(/_dash-component-suites/[^"]+)"', shared.get("/").text)
    assert len(names) > 5
    assert {shared.get(name).status_code for name in names} == {200}


def calls(shared):
    """The callbacks that the server has, as the page calls them."""
    for output, known in shared.app.state.dash.callback_map.items():
        if known.get("callback") is not None:
            yield {
                "output": output,
                "outputs": split_callback_id(output),
                "inputs": [dict(one) for one in known["inputs"]],
                "state": [dict(one) for one in known["state"]],
                "changedPropIds": [],
            }


NO_CALLS = [b"", b"{", b"[]", b"null", b"NaN", b"\xff", b"[" * 15_000, b'{"output": "nothing"}', b'{"output": [1]}']


@pytest.mark.parametrize("body", NO_CALLS, ids=lambda body: repr(body[:20]))
def test_what_is_no_call_of_the_page_is_refused(shared, body):
    """Broken and foreign bodies get 422."""
    assert shared.post("/_dash-update-component", content=body, headers=JSON).status_code == 422


def test_calls_with_other_inputs_outputs_or_values_are_refused(shared):
    """So are changed calls, NaN, halves of characters and very long integers in one."""
    for call in calls(shared):
        strange = [
            {**call, "inputs": []},
            {**call, "outputs": []},
            {**call, "changedPropIds": [1]},
            {**call, "state": 1},
        ]
        for wrong in WRONG.values():
            if not isinstance(wrong, list):
                strange.append({**call, "inputs": [{**call["inputs"][0], "value": wrong}, *call["inputs"][1:]]})
        for body in strange:
            answer = shared.post("/_dash-update-component", content=body_of(body), headers=JSON)
            assert answer.status_code == 422, (call["output"], body)


def test_values_nested_too_deeply_are_refused_in_a_call(shared):
    """A hundred levels are more than any page sends; a few hundred would be a server error of Dash's."""
    for call in calls(shared):
        for depth in (MAX_DEPTH, 300, 480, 900):
            call["inputs"][0]["value"] = json.loads("[" * depth + "]" * depth)
            assert shared.post("/_dash-update-component", content=body_of(call), headers=JSON).status_code == 422


@settings(PROPERTY, max_examples=150)
@given(st.data())
def test_no_value_of_a_control_breaks_the_page(shared, data):
    """Any JSON as the value of any input of any callback gets an answer that is no server error."""
    call = data.draw(st.sampled_from(list(calls(shared))))
    for one in (*call["inputs"], *call["state"]):
        if data.draw(st.booleans()):
            one["value"] = data.draw(json_values)
    call["changedPropIds"] = [f"{one['id']}.{one['property']}" for one in call["inputs"] if data.draw(st.booleans())]
    answer = shared.post("/_dash-update-component", content=body_of(call), headers=JSON)
    assert answer.status_code < 500, answer.text


def test_large_bodies_are_refused_before_they_are_read(client):
    """A body is refused by its announced length, or while it arrives."""
    assert client.post("/api/jobs", content=b"x" * (MAX_BODY + 1)).status_code == 413

    def endless():
        for _ in range(MAX_BODY // 65536 + 2):
            yield bytes(65536)

    answer = client.post("/api/jobs", content=endless())
    assert (answer.status_code, answer.json()["error"]) == (413, "TooLarge")


@pytest.mark.parametrize("path", ["/api/jobs", "/_dash-update-component"])
@pytest.mark.parametrize("value", [b"[]", b"1", b'""', b'{"a":{}}'])
def test_bodies_of_a_million_values_are_refused_before_they_are_parsed(client, monkeypatch, path, value):
    """Reading one would keep the event loop busy for half a second; the largest files that are taken have fewer."""
    monkeypatch.setattr(json, "loads", pytest.fail)
    body = b'{"model": "a/b", "files": [' + b",".join([value] * (MAX_VALUES + 1)) + b"]}"
    answer = client.post(path, content=body, headers=JSON)
    monkeypatch.undo()
    assert (answer.status_code, answer.json()["error"]) == (413, "TooLarge")


def test_what_pages_send_by_themselves_is_small(client, store):
    """Calls of the page have smaller limits than files; whoever may bring no file has the smaller ones everywhere."""
    readers = client_of(store, Access.of("0.0.0.0", None))
    long, many = b"x" * (MAX_CALL + 1), b"[" + b"1," * (MAX_CALL_VALUES + 1) + b"1]"
    page = "/_dash-update-component"
    for whom, path, content in ((client, page, long), (client, page, many), (readers, "/api/other", long)):
        answer = whom.post(path, content=content, headers=JSON)
        assert (answer.status_code, answer.json()["message"]) == (
            413,
            "at most 300 kB, 20,000 values and 20,000 names are taken",
        )
    for content in (long, many):
        assert client.post("/api/jobs", content=content, headers=JSON).status_code == 422


def test_the_jobs_that_a_page_sends_are_not_listed(client):
    """Neither one nor thousands: the server knows the jobs itself, and its answer stays small."""
    client.post("/api/jobs", json={"model": "org/mine"})
    job = client.get("/api/jobs").json()[0] | {"model": "org/other"}
    [call] = [call for call in calls(client) if ids.JOB_LIST in call["output"]]
    for sent in ([job], [{"id": "x"}] * 9_000):
        call["inputs"][0]["value"] = sent
        answer = client.post("/_dash-update-component", content=body_of(call), headers=JSON)
        listed = answer.json()["response"][ids.JOB_LIST]
        assert "org/mine" in json.dumps(listed)
        assert "org/other" not in answer.text
        assert len(json.dumps(listed)) < 3_000


def together(*lengths, finished=False):
    """What happens to bodies of these lengths that arrive one after the other and stay."""

    async def one(bodies, length, then):
        pieces = iter([{"type": "http.request", "body": b"x" * length, "more_body": not finished}])

        async def receive():
            message = next(pieces, None)
            await asyncio.sleep(0 if message else 60)
            return message

        async with bodies.one(receive, UPLOAD) as body:
            while (await body.receive())["more_body"]:
                pass
            await then.wait()

    async def all_of_them():
        bodies, then = Bodies(), asyncio.Event()
        tasks = []
        for length in lengths:
            tasks.append(asyncio.create_task(one(bodies, length, then)))
            await asyncio.sleep(0.01)
        room, ended = bodies._together, [task.exception() if task.done() else None for task in tasks]
        then.set()
        for task in tasks:
            if not finished:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (bodies._together, bodies._arriving, bodies.large._value) == (0, {}, bodies_module.LARGE_AT_A_TIME)
        return room, [type(error) for error in ended]

    return asyncio.run(all_of_them())


def test_all_bodies_together_have_a_bound(monkeypatch):
    """The oldest unfinished one makes room; where all have arrived the newest is refused; room is given back."""
    monkeypatch.setattr(bodies_module, "MAX_TOGETHER", 1_000)
    none = type(None)
    assert together(400, 400, 400) == (800, [TooManyBodies, none, none])
    assert together(400, 400, 400, finished=True) == (800, [none, none, TooManyBodies])


def test_only_some_large_bodies_are_handled_at_a_time(monkeypatch):
    """The others wait, small ones do not, and all are handled in the end."""
    monkeypatch.setattr(bodies_module, "LARGE", 100)
    running, most = Counter(), Counter()

    async def handled(bodies, length):
        async def receive():
            return {"type": "http.request", "body": b"x" * length, "more_body": False}

        async with bodies.one(receive, UPLOAD) as body:
            await body.receive()
            running[length] += 1
            most[length] = max(most[length], running[length])
            await asyncio.sleep(0.01)
            running[length] -= 1

    async def many():
        bodies = Bodies()
        await asyncio.gather(*(handled(bodies, length) for length in [10, 200] * 10))

    asyncio.run(many())
    assert most == {10: 10, 200: bodies_module.LARGE_AT_A_TIME}


def test_who_may_not_analyse_is_refused_before_a_body_is_read(store):
    """A submission of a reader is answered although nothing of it arrives."""
    answers = []

    async def receive():
        pytest.fail("the body is read")

    async def send(message):
        answers.append(message)

    async def talk(path, method):
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "client": ("10.0.0.1", 1)}
        scope["headers"] = [(b"host", b"localhost"), (b"content-length", b"100")]
        await Guard(None, Access.of("0.0.0.0", None), "")(scope, receive, send)

    for path, method in (("/api/jobs", "POST"), ("/api/jobs/1/retry", "POST"), ("/api/sets/1", "PATCH")):
        asyncio.run(talk(path, method))
        assert answers.pop(0)["status"] == 403
        assert b"read-only" in answers.pop(0)["body"]


def test_the_largest_files_that_are_taken_are_few_values(client):
    """Five files of 20,000 pairs each, as JSON in JSON: what is refused is the model's name and not their number."""
    files = []
    for number in range(5):
        pairs = [[f"s{number}x{i}", f"t{i}"] for i in range(20_000)]
        files.append({"name": f"own{number}.json", "content": json.dumps(pairs, separators=(",", ":"))})
    answer = client.post("/api/jobs", json={"model": "..", "files": files})
    assert [problem["field"] for problem in understood(answer)["detail"]] == ["model"]


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch):
    """A sender that announces more than it sends gets 408 when its time is over."""
    monkeypatch.setattr("dashboard.web.bodies.MAX_SECONDS", 0.2)
    first = {"type": "http.request", "body": b"{", "more_body": True}
    answers = []

    async def talk():
        messages = iter([first])

        async def receive():
            message = next(messages, None)
            await asyncio.sleep(0 if message else 60)
            return message

        async def send(message):
            answers.append(message)

        async def app(scope, receive, send):
            while (await receive())["more_body"]:
                pass

        scope = {"type": "http", "method": "POST", "path": "/api/jobs", "query_string": b""}
        scope["headers"] = [(b"host", b"localhost")]
        await Guard(app, Access(local=True), "")(scope, receive, send)

    asyncio.run(talk())
    assert answers[0]["status"] == 408


def test_ten_million_pairs_are_refused(client):
    """Ten million pairs exceed the limit of a body; 30,000 fit into one and are counted."""
    body = b'{"model": "a/b", "files": [{"name": "many.csv", "content": "' + b"a,b\\n" * 10**7 + b'"}]}'
    assert client.post("/api/jobs", content=body).status_code == 413
    pairs = "\n".join(f"a{i},b{i}" for i in range(30_000))
    answer = client.post("/api/jobs", json={"model": "a/b", "files": [{"name": "many.csv", "content": pairs}]})
    assert answer.status_code == 422
    assert "20,000" in answer.json()["hint"] or "20,000" in answer.json()["message"]


def test_a_compressed_body_is_not_unpacked(client):
    """A request that is in order but compressed is read as the bytes that it is, and refused: they are not JSON."""
    body = b'{"model": "a/b"}'
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    answer = client.post("/api/jobs", content=gzip.compress(body), headers=headers)
    assert answer.status_code in {400, 422}
    assert client.get("/api/jobs").json() == []
    plain = client.post("/api/jobs", content=body, headers={"Content-Type": "application/json"})
    assert plain.status_code == 202


def test_submissions_are_rate_limited(client):
    """The eleventh within a minute gets 429."""
    codes = [client.post("/api/jobs", json={"model": f"org/m{i}"}).status_code for i in range(SUBMISSIONS + 1)]
    assert codes == [202] * SUBMISSIONS + [429]
    job = client.get("/api/jobs").json()[0]["id"]
    assert client.post(f"/api/jobs/{job}/retry").status_code == 429


def test_a_full_queue_gives_a_clear_answer(unlimited_store):
    """One job too many gets 503 and a hint; the waiting jobs stay, and asking for one of them again is no new job."""
    client = unlimited_store
    codes = [client.post("/api/jobs", json={"model": f"org/m{i}"}).status_code for i in range(QUEUE_LIMIT)]
    assert codes == [202] * QUEUE_LIMIT
    answer = client.post("/api/jobs", json={"model": "org/more"})
    assert answer.status_code == 503
    assert (answer.json()["error"], answer.json()["hint"]) == ("QueueFull", "Try again when some are done.")
    assert client.post("/api/jobs", json={"model": "org/m0"}).status_code == 202
    assert len(client.get("/api/jobs").json()) == QUEUE_LIMIT


def test_the_rate_limit_forgets_quiet_clients_and_has_a_bound(monkeypatch):
    """After a minute a client may submit again, and the number of clients that are counted is bounded."""
    limits, clock = {}, [0.0]

    def sender(name):
        return Sender({"type": "http", "client": (name, 1), "headers": []})

    monkeypatch.setattr("dashboard.web.api.time.monotonic", lambda: clock[0])
    for _ in range(SUBMISSIONS):
        _limit(limits, sender("one"))
    with pytest.raises(HTTPException):
        _limit(limits, sender("one"))
    clock[0] = 61.0
    _limit(limits, sender("one"))
    for client in range(2 * CLIENTS):
        _limit(limits, sender(str(client)))
    assert len(limits) <= CLIENTS + 1
    clock[0] = 200.0
    _limit(limits, sender("two"))
    assert list(limits) == ["two"]


def test_health_does_not_depend_on_the_jobs(store, monkeypatch):
    """However many there are, and whether or not they can be read."""
    engine = Engine(store)
    client = TestClient(create_app(Catalogue(store, engine), engine, Access(local=True)), base_url="http://localhost")
    for name in ("times", "names", "get"):
        monkeypatch.setattr(store, name, pytest.fail)
    assert client.get("/api/health").json()["status"] == "ok"


@pytest.mark.parametrize("name", ["../secret", "/etc", "..", "a/../../b", "tiny", "small/../small", ".", "", "a\x00b"])
def test_names_do_not_lead_out_of_the_models_directory(models, tmp_path, name):  # noqa: F811
    """Dots, slashes and links open nothing outside; `tiny` is a link to a folder elsewhere."""
    assert listed_folder(name, models) is None
    assert listed_models(models) == ["small"]


def test_files_that_lead_out_of_the_models_directory_are_not_read(models, tmp_path):  # noqa: F811
    """A folder whose config is a link to a file outside is not listed and not opened."""
    (models / "small" / "config.json").rename(tmp_path / "config.json")
    (models / "small" / "config.json").symlink_to(tmp_path / "config.json")
    assert listed_folder("small", models) is None
    assert listed_models(models) == []


@pytest.fixture
def open_models(tiny_folder):
    """A models directory that anybody may read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        small = shutil.copytree(tiny_folder, Path(folder, "small"))
        small.chmod(0o755)
        yield Path(folder)


def test_one_bad_folder_hides_no_other(open_models):
    """Links in a circle, a broken link, a pipe and a folder that may not be read leave the list of the others."""
    (open_models / "circle").symlink_to(open_models / "circle")
    (open_models / "in-circle").mkdir()
    (open_models / "in-circle" / "config.json").symlink_to("config.json")
    (open_models / "broken").symlink_to(open_models / "nowhere")
    (open_models / "circle.gguf").symlink_to("circle.gguf")
    os.mkfifo(open_models / "pipe.gguf")
    (open_models / "locked").mkdir(mode=0)
    mine = os.geteuid()
    try:
        if mine == 0:
            os.seteuid(65534)  # to whom permissions mean something
        assert listed_models(open_models) == ["small"]
        assert listed_folder("locked", open_models) is None
        assert listed_folder("in-circle", open_models) is None
    finally:
        os.seteuid(mine)


def asked_about(folder, store):
    """The answer to a request to analyse a model of a folder, with forty pairs of one's own."""
    engine = Engine(store, WorkerConfig(models=folder.parent))
    server = create_app(Catalogue(store, engine), engine, Access(local=True), folder.parent)
    pairs = "\n".join(f"w{i},w{i + 50}" for i in range(40))
    body = {"model": folder.name, "methods": ["function"], "files": [{"name": "own.csv", "content": pairs}]}
    return TestClient(server, base_url="http://localhost").post("/api/jobs", json=body)


def test_the_web_server_outlives_a_tokenizer_that_never_ends(models, store, monkeypatch, caplog):  # noqa: F811
    """One that doubles a word fifty times is asked in a process of its own, which ends; the job will tell the rest."""
    monkeypatch.setattr(pair_count, "CLOCK", 2.0)
    folder = models / "small"
    content = json.loads((folder / "tokenizer.json").read_text())
    twice = {"type": "Replace", "pattern": {"String": "w"}, "content": "ww"}
    content["normalizer"] = {"type": "Sequence", "normalizers": [twice] * 50}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert asked_about(folder, store).status_code == 202
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
    assert "could not be asked" in caplog.text


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "tokenizer.json"])
def test_a_pipe_in_a_models_folder_is_refused_at_once(models, store, name):  # noqa: F811
    """Nothing in the web server waits for what comes out of it."""
    (models / "small" / name).unlink(missing_ok=True)
    os.mkfifo(models / "small" / name)
    answer = asked_about(models / "small", store)
    assert (answer.status_code, answer.json()["error"]) == (422, "DamagedFile")
    assert list(store.names()) == []


def test_paths_of_this_machine_are_no_models(models, tmp_path, monkeypatch):  # noqa: F811
    """A folder that exists in the working directory is not opened by its name."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in (str(tmp_path / "here"), "here", "./here"):
        with pytest.raises(ModelError):
            open_listed(name, None, tmp_path, models)


def test_a_header_that_lies_about_sizes_is_a_named_error(models):  # noqa: F811
    """A header whose tensors end beyond the end of the file is refused as damaged."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [10**9], "data_offsets": [0, 4 * 10**9]}}).encode()
    (models / "small" / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ModelError):
        open_listed("small", None, models, models)


def test_pickled_weights_are_refused(models):  # noqa: F811
    """A folder with pickled weights alone is refused, with a word about safetensors."""
    folder = models / "small"
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError) as caught:
        open_listed("small", None, models, models)
    assert "safetensors" in f"{caught.value} {caught.value.hint}"


# ---- Who may do what -----------------------------------------------------------------------------------------------


@pytest.fixture
def auth_file(tmp_path, capsys, monkeypatch):
    """An auth file with a viewer and an analyst, made with the command in the README."""
    path = tmp_path / "people"
    lines = []
    for name, role in (("vera", "viewer"), ("anna", "analyst")):
        monkeypatch.setattr("sys.stdin", __import__("io").StringIO(f"{name}-secret\n"))
        assert main([name, role]) == 0
        lines.append(capsys.readouterr().out)
    path.write_text("".join(lines))
    return path


def login(name):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{name}-secret".encode()).decode()}


def test_without_a_login_a_public_server_is_read_only(store):
    """Results are served, analyses get 403, and the page says that it is read-only."""
    client = client_of(store, Access.of("0.0.0.0", None))
    assert client.get("/api/health").json()["read_only"] is True
    assert client.get("/api/models").status_code == 200
    assert client.post("/api/jobs", json={"model": "a/b"}).status_code == 403
    assert "read-only" in client.get("/_dash-layout").text


def test_viewers_view_and_analysts_analyse(store, auth_file):
    """Without a right password nothing is served; viewers cannot submit or cancel jobs, analysts can."""
    client = client_of(store, Access.of("0.0.0.0", auth_file))
    assert client.get("/").status_code == 401
    assert client.get("/api/models", headers={"Authorization": "Basic !!!"}).status_code == 401
    wrong = {"Authorization": "Basic " + base64.b64encode(b"anna:wrong").decode()}
    assert client.get("/", headers=wrong).status_code == 401
    assert client.get("/", headers=login("vera")).status_code == 200
    assert client.post("/api/jobs", json={"model": "a/b"}, headers=login("vera")).status_code == 403
    job = client.post("/api/jobs", json={"model": "a/b"}, headers=login("anna"))
    assert job.status_code == 202
    assert client.delete(f"/api/jobs/{job.json()['id']}", headers=login("vera")).status_code == 403
    assert client.delete(f"/api/jobs/{job.json()['id']}", headers=login("anna")).json()["state"] == "cancelled"


def test_a_job_that_is_over_is_deleted_by_analysts(store, auth_file):
    """Viewers may not, a waiting job is refused, and a deleted one is gone."""
    client = client_of(store, Access.of("0.0.0.0", auth_file))
    anna, vera = login("anna"), login("vera")
    path = f"/api/jobs/{client.post('/api/jobs', json={'model': 'a/b'}, headers=anna).json()['id']}"
    assert client.delete(f"{path}?forget=true", headers=anna).status_code == 422
    client.delete(path, headers=anna)
    assert client.delete(f"{path}?forget=true", headers=vera).status_code == 403
    assert client.delete(f"{path}?forget=true", headers=anna).status_code == 200
    assert client.get(path, headers=anna).status_code == 404


def test_a_password_is_verified_once_a_request_and_off_the_event_loop(store, auth_file, monkeypatch):
    """Verifying is slow on purpose, so it happens once per request and in a thread of its own."""
    access, seen = Access.of("0.0.0.0", auth_file), []
    verified = access._verified
    monkeypatch.setattr(access, "_verified", lambda *login: seen.append(on_a_loop()) or verified(*login))
    client = client_of(store, access)
    wrong = {"Authorization": "Basic " + base64.b64encode(b"anna:wrong").decode()}
    assert client.get("/api/health", headers=wrong).status_code == 401
    assert client.get("/api/health", headers=login("vera")).status_code == 200
    assert seen == [False, False]


def on_a_loop():
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def test_the_auth_file_is_checked_line_by_line(tmp_path):
    """A line with a password in clear text is refused, and its number named."""
    path = tmp_path / "people"
    path.write_text("# people\nanna:analyst:secret\n")
    with pytest.raises(Exception, match="line 2"):
        read_auth_file(path)


BROKEN_SALT = "vera:viewer:$argon2id$v=19$m=65536,t=3,p=4$!!!!$c2VjcmV0c2VjcmV0"
BROKEN_DIGEST = "vera:viewer:$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0$c"


@pytest.mark.parametrize(
    "wrong", ["anna:viewer:{}", "vera:viewer:$argon2id$v=19$m=1$x", "vera:viewer:$argon2", BROKEN_SALT, BROKEN_DIGEST]
)
def test_names_stand_once_in_an_auth_file_and_hashes_can_be_read(tmp_path, wrong):
    """A second line of a name, and a hash that no password can be compared with, are refused with their number."""
    hashed = PasswordHasher().hash("secret")
    (tmp_path / "people").write_text(f"anna:analyst:{hashed}\n{wrong.format(hashed)}\n")
    with pytest.raises(SettingError, match="line 2"):
        read_auth_file(tmp_path / "people")


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def test_a_password_has_one_spelling_and_is_not_empty(tmp_path, capsys, monkeypatch):
    """é as one character or as two is the same password; an empty one is neither made nor let in."""
    monkeypatch.setattr("sys.stdin", io.StringIO("caf\N{LATIN SMALL LETTER E WITH ACUTE}\n"))
    assert main(["anna", "analyst"]) == 0
    hashed = PasswordHasher().hash("")
    (tmp_path / "people").write_text(capsys.readouterr().out + f"vera:viewer:{hashed}\n")
    access = Access.of("0.0.0.0", tmp_path / "people")
    assert access.role(basic("anna", "cafe\N{COMBINING ACUTE ACCENT}")) == "analyst"
    assert access.role(basic("anna", "cafe")) is None
    assert access.role(basic("vera", "")) is None
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert main(["emma", "viewer"]) == 2


def test_guesses_take_longer_and_longer_and_others_wait_for_none(auth_file):
    """Twice as long after each wrong login of an address, up to a minute; those who are known do not wait."""
    clock, access = [0.0], Access.of("0.0.0.0", auth_file)
    logins = Logins(access, lambda: clock[0])

    async def waits():
        found = []
        for _ in range(FREE + 8):
            assert await logins.role(basic("anna", "wrong"), "10.0.0.1") is None
            try:
                await logins.role(basic("anna", "wrong"), "10.0.0.1")
            except TooManyLogins as error:
                found.append(error.seconds)
                clock[0] += error.seconds
        assert await logins.role(login("vera")["Authorization"], "10.0.0.2") == "viewer"
        assert await logins.role(basic("anna", "wrong"), "10.0.0.1") is None
        assert await logins.role(login("vera")["Authorization"], "10.0.0.1") == "viewer"  # known
        with pytest.raises(TooManyLogins):
            await logins.role(login("anna")["Authorization"], "10.0.0.1")
        return found

    found = asyncio.run(waits())
    assert found == sorted(found)
    assert found[-1] == 60
    assert len(found) >= 6


def test_a_flood_of_guesses_leaves_room(auth_file):
    """Of a hundred at once from as many addresses only some are verified, and the others get an answer at once."""
    logins = Logins(Access.of("0.0.0.0", auth_file))

    async def flood():
        guesses = [logins.role(basic("anna", f"wrong {i}"), f"10.0.0.{i}") for i in range(100)]
        return await asyncio.gather(*guesses, return_exceptions=True)

    answers = asyncio.run(flood())
    assert answers.count(None) == WAITING
    assert sum(isinstance(answer, TooManyLogins) for answer in answers) == 100 - WAITING


def test_a_network_is_one_sender_and_wrong_logins_are_forgotten(auth_file):
    """All addresses of an IPv6 network are counted together; a quarter of an hour later they start from none."""
    clock = [0.0]
    logins = Logins(Access.of("0.0.0.0", auth_file), lambda: clock[0])

    async def guess(number):
        return await logins.role(basic("anna", "wrong"), f"2001:db8::{number:x}")

    async def guesses():
        for number in range(FREE):
            await guess(number)
        for number in (100, 101):
            with pytest.raises(TooManyLogins):
                await guess(number)
        clock[0] = logins_module.FORGOTTEN + 1
        for number in range(FREE):
            await guess(number)

    asyncio.run(guesses())


def test_who_guessed_wrong_leaves_room_for_others(auth_file):
    """Two logins of a sender are verified at a time; fewer senders who failed before may wait than others."""
    logins = Logins(Access.of("0.0.0.0", auth_file))

    async def count(addresses):
        found = await asyncio.gather(
            *(logins.role(basic("anna", "wrong"), address) for address in addresses), return_exceptions=True
        )
        return found.count(None)

    several = [f"10.0.0.{number}" for number in range(WAITING - 1)]
    assert asyncio.run(count(["10.1.1.1"] * 10)) == 2
    assert asyncio.run(count(several)) == len(several)
    assert asyncio.run(count(several)) == WAITING_AGAIN


class ListingHasher(PasswordHasher):
    """Lists the passwords that it compares, in the order in which it begins."""

    def __init__(self):
        super().__init__()
        self.begun = []

    def verify(self, hash, password):  # noqa: A002  # as argon2 calls it
        self.begun.append(password)
        return super().verify(hash, password)


def begun_with(auth_file, senders):
    """The passwords in the order in which their hashes begin; of (sender, password) that all come at the same moment.

    Senders from 10.0 guessed wrong before.
    """
    access, hasher = Access.of("0.0.0.0", auth_file), ListingHasher()
    access._hasher = hasher
    logins = Logins(access)

    async def all_at_once():
        for address, _ in senders:
            if address.startswith("10.0."):
                assert await logins.role(basic("vera", "wrong"), address) is None
        hasher.begun.clear()
        tries = (logins.role(basic("vera", password), address) for address, password in senders)
        return await asyncio.gather(*tries, return_exceptions=True)

    answers = asyncio.run(all_at_once())
    assert len(hasher.begun) == sum(not isinstance(answer, TooManyLogins) for answer in answers)
    return hasher.begun


def test_somebody_new_waits_for_no_guess(auth_file):
    """Beside that of a right login one hash is being computed, however many senders wait who guessed wrong before."""
    guesses = [(f"10.0.0.{number}", "wrong") for number in range(2 * WAITING)]
    begun = begun_with(auth_file, [*guesses, ("10.1.1.1", "vera-secret")])
    assert len(begun) == WAITING_AGAIN + 1
    assert begun.index("vera-secret") <= 1


def test_who_mistyped_a_password_waits_for_nobody_new(auth_file):
    """The other way round: however many addresses that nobody knows send logins, of which some are verified."""
    new = [(f"10.1.1.{number}", "wrong") for number in range(2 * WAITING)]
    begun = begun_with(auth_file, [*new, ("10.0.0.1", "vera-secret")])
    assert len(begun) == WAITING + 1
    assert begun.index("vera-secret") <= 1


@pytest.mark.parametrize("name", ["Via", "Forwarded", "X-Forwarded-For", "X-Real-IP"])
def test_a_local_server_answers_no_proxy(store, auth_file, name):
    """Whoever comes through one would be an analyst; with a login or a public address it is no question."""
    headers = {name: "192.0.2.1"}
    answer = client_of(store).get("/api/health", headers=headers)
    assert (answer.status_code, "--public-url" in answer.text) == (403, True)
    with_login = client_of(store, Access.of("127.0.0.1", auth_file))
    assert with_login.get("/api/health", headers={**headers, **login("vera")}).status_code == 200
    public = client_of(store, Access.of("127.0.0.1", None, "https://localhost"))
    assert public.get("/api/health", headers=headers).status_code == 200


def test_a_local_server_does_not_speak_as_proxies_do_by_default(client):
    """HTTP/1.0 is what nginx speaks to what is behind it, with no word of whom it is for."""
    answers = []

    async def send(message):
        answers.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(Guard(None, Access(local=True), "")({**scope, "http_version": "1.0"}, None, send))
    assert answers[0]["status"] == 403


@pytest.mark.parametrize("host", ["127.0.0.2", "127.0.0.1", "localhost", "::1"])
def test_a_server_answers_to_the_address_that_it_listens_on(store, host):
    """Any address of this machine, by its own name; and not to a foreign one."""
    client = client_of(store, Access.of(host, None))
    name = f"[{host}]" if ":" in host else host
    assert client.get("/api/health", headers={"Host": f"{name}:8050"}).json()["read_only"] is False
    assert client.get("/api/health", headers={"Host": "evil.example:8050"}).status_code == 400


@pytest.mark.parametrize(
    "url", ["atlas.example", "ftp://a.b", "https://", "https://a.b/path", "https://a:x", "https://u@a"]
)
def test_a_public_address_that_is_none_is_refused(url):
    """Without a scheme, with a path or a name before the host."""
    with pytest.raises(SettingError, match="public-url"):
        Access.of("127.0.0.1", None, url)


def test_a_public_address_makes_a_local_server_one_for_others(store):
    """Behind a proxy everybody reaches it: without a login it is read-only; the page may connect to that address."""
    client = client_of(store, Access.of("127.0.0.1", None, "https://Atlas.example"))
    answer = client.get("/api/health", headers={"Host": "atlas.example"})
    assert answer.json()["read_only"] is True
    policy = answer.headers["content-security-policy"]
    assert "connect-src 'self' ws://atlas.example wss://atlas.example;" in policy


def test_requests_of_other_sites_change_nothing(client):
    """Requests with another origin, another site by the browser's word, or another host name are refused."""
    body = {"json": {"model": "a/b"}}
    assert client.post("/api/jobs", headers={"Origin": "http://evil.example"}, **body).status_code == 403
    assert client.post("/api/jobs", headers={"Sec-Fetch-Site": "cross-site"}, **body).status_code == 403
    assert client.get("/api/jobs", headers={"Host": "evil.example"}).status_code == 400
    assert client.post("/api/jobs", headers={"Origin": "http://localhost"}, **body).status_code == 202


@pytest.mark.parametrize("path", ["/api/pairs?head=L23H7&relation=country_capital", "/api/prompt?text=Hello"])
def test_other_sites_compute_nothing(client, path):
    """A picture or link of another site, or of another port of this machine, makes a browser here ask for nothing."""
    for site in ("cross-site", "same-site"):
        assert client.get(path, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert client.get(path, headers={"Origin": "http://evil.example"}).status_code == 403
    for headers in ({}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
        assert client.get(path, headers=headers).status_code == 503  # it would compute, and the engine does not run


@pytest.mark.parametrize("form", ["/api/prompt?text={}", "/api/pairs?head=L2{}H7&relation=country_capital"])
def test_questions_are_rate_limited(client, monkeypatch, form):
    """So many a minute whose answers are not known; a known one is answered all the same."""
    monkeypatch.setattr("dashboard.web.api.QUESTIONS", 3)
    codes = [client.get(form.format(number)).status_code for number in range(4)]
    assert codes == [503, 503, 503, 429]
    known = "/api/pairs?model=gemma-3-270m&method=running&head=L12H2&relation=country_capital"
    assert client.get(known).status_code == 200


def test_answers_to_questions_have_a_bound(store):
    """The oldest make room for new ones, and what jobs have computed stays."""
    answers = Answers(store, most=250)
    store.put("unit/of/a/job", b"x" * 1_000)
    for number in range(4):
        answers.keep(f"unit/f/prompt/{number}", b"x" * 100)
    there = [name for name in store.names() if name.startswith("unit/")]
    assert there == ["unit/of/a/job", "unit/f/prompt/2", "unit/f/prompt/3"]
    answers.keep("unit/f/prompt/large", b"x" * 1_000)
    assert store.contains("unit/f/prompt/large")
    assert not store.contains("unit/f/prompt/3")


def test_pages_of_other_sites_do_not_hear_of_the_jobs(store, auth_file):
    """The WebSocket is refused to another origin and without a login; a viewer may listen."""
    with client_of(store).websocket_connect("ws://localhost/live/jobs") as socket:
        assert socket.receive_json() == []
    client = client_of(store, Access.of("0.0.0.0", auth_file))
    for headers in ({}, {**login("vera"), "Origin": "http://evil.example"}):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/live/jobs", headers=headers):
            pass
    with client.websocket_connect("/live/jobs", headers=login("vera")) as socket:
        assert socket.receive_json() == []


@pytest.mark.parametrize("path", ["/_dash-ws-callback", "/live/other", "/"])
def test_there_is_no_other_socket(client, path):
    """Dash's own, which answers nonsense with tracebacks, is closed before it is accepted."""
    address, headers = f"ws://localhost{path}", {"Origin": "http://localhost"}
    with pytest.raises(WebSocketDisconnect) as closed, client.websocket_connect(address, headers=headers):
        pass
    assert closed.value.code == 4403


def test_many_pages_look_at_the_jobs_once(store, monkeypatch):
    """However many pages listen and show their list, the jobs are read from the store once and not once per page."""
    engine, looks = Engine(store), []
    monkeypatch.setattr(engine, "jobs", lambda: looks.append(1) or [])
    watch = JobWatch(engine)
    assert {watch.jobs().text for _ in range(50)} == {"[]"}
    assert len(looks) <= 2
    before = len(looks)
    assert {watch.last() for _ in range(50)} == {()}
    assert len(looks) == before
    watch.now()
    assert len(looks) == before + 1


def test_passwords_and_tokens_are_in_no_answer_and_no_log(store, auth_file, caplog, monkeypatch):
    """No answer and no log line holds a password, its hash or the hub's token."""
    monkeypatch.setenv("HF_TOKEN", "hf_very_secret")
    caplog.set_level("DEBUG")
    client = client_of(store, Access.of("0.0.0.0", auth_file))
    paths = (
        "/",
        "/_dash-layout",
        "/_dash-dependencies",
        "/api/health",
        "/api/models",
        "/api/jobs",
        "/api/openapi.json",
    )
    texts = [client.get(path, headers=login("anna")).text for path in paths]
    texts += [client.get("/", headers={"Authorization": "Basic YW5uYTp3cm9uZy1zZWNyZXQ="}).text, caplog.text]
    for text in texts:
        assert not any(secret in text for secret in ("-secret", "argon2", "hf_very_secret"))


def test_every_answer_has_the_security_headers(client):
    """Page, API, export and refusal all carry the content security policy and nosniff."""
    for path in ("/", "/api/health", "/export/view.csv", "/api/jobs/none"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe-eval" not in client.get("/").headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "by"),
    [
        ("/?embed=1", "*"),
        ("/?view=table&embed=1", "*"),
        ("/", "'self'"),
        ("/?embed=0", "'self'"),
        ("/?embed=1&embed=0", "'self'"),
        ("/api/docs?embed=1", "'self'"),
        ("/?embed=1&pad=" + "x" * (MAX_QUERY - 12), "*"),
        ("/?embed=1&pad=" + "x" * (MAX_QUERY - 11), "'self'"),
        ("/?pad=" + "x" * (MAX_QUERY - 11) + "&embed=1", "'self'"),
    ],
)
def test_only_an_embedded_page_may_stand_in_another_site(client, path, by):
    """Only an address with `embed=1`, which cannot start an analysis, may be framed by another site."""
    assert client.get(path).headers["content-security-policy"].endswith(f"frame-ancestors {by}")


@settings(PROPERTY, max_examples=200)
@given(
    st.integers(MAX_QUERY - 20, MAX_QUERY + 20), st.sampled_from(["embed=1&a={}", "a={}&embed=1", "a={}&embed=1&b=2"])
)
def test_page_and_frame_agree_whether_it_is_embedded(length, form):
    """An address is read the same with its question mark, as by the page, and without it, as by the guard."""
    query = form.format("x" * (length - len(form.format(""))))
    with_mark = ViewState.from_query("?" + query).state.embed
    assert with_mark == ViewState.from_query(query).state.embed
    assert not with_mark or length <= MAX_QUERY


def test_pandas_reads_scores_by_their_address(client):
    """CSV, JSON and Parquet hold the rows that the query's filters leave, and wrong names get 404."""
    import io

    import pandas as pd

    text = client.get("/api/scores.csv?item=country_capital&kind=promote&least=0.5").text
    frame = pd.read_csv(io.StringIO(text))
    assert set(zip(frame["layer"], frame["head"], strict=True)) == {(23, 4), (23, 5)}
    rows = client.get("/api/scores?item=country_capital&layer=23&head=4").json()
    assert [row["kind"] for row in rows] == ["promote", "suppress"]
    table = pd.read_parquet(io.BytesIO(client.get("/api/scores.parquet?layer=3").content))
    assert set(table["layer"]) == {3}
    assert client.get("/api/docs/openapi.json").json()["openapi"].startswith("3.0")  # what its page can show
    assert client.get("/api/head?head=L23H4").json()["relations"]
    assert client.get("/api/head?head=L99H9").status_code == 404
    assert client.get("/api/scores?model=nobody").status_code == 404
