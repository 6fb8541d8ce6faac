"""What others send: the server answers, and stays."""

import asyncio
import base64
import json
import struct

import pytest
import schemathesis
from fastapi import HTTPException
from fastapi import Request as Sender
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from analysis.errors import ModelError
from analysis.jobs.engine import QUEUE_LIMIT, Engine, Place
from analysis.models.sources import listed_folder, listed_models, open_listed
from analysis.results.catalogue import Library
from analysis.results.store import Store
from dashboard.access import Access, main, read_auth_file
from dashboard.web.api import CLIENTS, SUBMISSIONS, _limit
from dashboard.web.application import create_app
from dashboard.web.guard import MAX_BODY, Guard
from dashboard.web.live import Watch
from tests.engine.conftest import models  # noqa: F401  # a fixture


def client_of(store, access=None, folder=None, **options):
    engine = Engine(store, Place(models=folder))  # at rest: submissions are kept, nothing runs
    server = create_app(Library(store, engine), engine, access or Access(local=True), folder)
    return TestClient(server, base_url="http://localhost", raise_server_exceptions=False, **options)


@pytest.fixture
def client(store):
    return client_of(store)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """For properties: one server for all examples."""
    return client_of(Store(tmp_path_factory.mktemp("store")))


PROPERTY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


@PROPERTY
@given(st.text(max_size=300))
def test_no_query_string_breaks_the_server(shared, query):
    """Any text behind the question mark."""
    assert shared.get("/export/reproduce.py", params=query.encode("utf-8", "replace").decode()).status_code < 500


@PROPERTY
@given(st.text(max_size=60))
def test_no_head_name_breaks_the_server(shared, name):
    """Any text as a head."""
    assert shared.get("/api/head", params={"head": name.encode("utf-8", "replace")}).status_code < 500


@pytest.fixture
def unlimited(shared, monkeypatch):
    """Without the limit a minute, so that every upload is read."""
    monkeypatch.setattr("dashboard.web.api.SUBMISSIONS", 10**9)
    return shared


@pytest.fixture
def unlimited_store(client, monkeypatch):
    """The same with a store of its own."""
    monkeypatch.setattr("dashboard.web.api.SUBMISSIONS", 10**9)
    return client


@PROPERTY
@given(st.text(max_size=400), st.sampled_from(["a.csv", "a.json", "a.jsonl", "../a.csv", "<b>.csv", "a.exe"]))
def test_no_upload_breaks_the_server(unlimited, content, name):
    """Any text as a relation file; most are refused with their line."""
    body = {"model": "a/b", "files": [{"name": name, "content": content}]}
    answer = unlimited.post("/api/jobs", content=json.dumps(body))
    assert answer.status_code in {202, 422, 503}


def test_the_api_keeps_to_its_own_description(store, monkeypatch):
    """schemathesis: every operation with generated input, no server error; 503 is a full queue's answer."""
    monkeypatch.setattr("dashboard.web.api.SUBMISSIONS", 10**9)
    client = client_of(store)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", client.app, headers={"host": "localhost"})
    count = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def check(case):
            response = case.call(headers={"host": "localhost"})
            assert response.status_code < 500 or response.status_code == 503

        check()
        count += 1
    assert count >= 9


def test_large_bodies_are_refused_before_they_are_read(client):
    """By their announced length, and while they arrive."""
    assert client.post("/api/jobs", content=b"x" * (MAX_BODY + 1)).status_code == 413

    def endless():
        for _ in range(MAX_BODY // 65536 + 2):
            yield bytes(65536)

    assert client.post("/api/jobs", content=endless()).status_code in {400, 413}


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch):
    """A sender that announces more than it sends is answered after a while, and then forgotten."""
    monkeypatch.setattr("dashboard.web.guard.MAX_SECONDS", 0.2)
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
    """In the limits of a body there is no room for them; what fits is counted."""
    body = b'{"model": "a/b", "files": [{"name": "many.csv", "content": "' + b"a,b\\n" * 10**7 + b'"}]}'
    assert client.post("/api/jobs", content=body).status_code == 413
    pairs = "\n".join(f"a{i},b{i}" for i in range(30_000))
    answer = client.post("/api/jobs", json={"model": "a/b", "files": [{"name": "many.csv", "content": pairs}]})
    assert answer.status_code == 422
    assert "20,000" in answer.json()["hint"] or "20,000" in answer.json()["message"]


def test_a_compressed_body_is_not_unpacked(client):
    """A zip bomb stays a few bytes that are no JSON."""
    import gzip

    bomb = gzip.compress(bytes(50_000_000))
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert client.post("/api/jobs", content=bomb, headers=headers).status_code in {400, 422}


def test_submissions_are_rate_limited(client):
    """The eleventh within a minute gets 429."""
    codes = [client.post("/api/jobs", json={"model": f"org/m{i}"}).status_code for i in range(SUBMISSIONS + 1)]
    assert codes == [202] * SUBMISSIONS + [429]
    job = client.get("/api/jobs").json()[0]["id"]
    assert client.post(f"/api/jobs/{job}/retry").status_code == 429


def test_a_full_queue_gives_a_clear_answer(unlimited_store):
    """503 with what to do; the jobs that wait are as they were."""
    client = unlimited_store
    codes = [client.post("/api/jobs", json={"model": f"org/m{i}"}).status_code for i in range(QUEUE_LIMIT)]
    assert codes == [202] * QUEUE_LIMIT
    answer = client.post("/api/jobs", json={"model": "org/more"})
    assert answer.status_code == 503
    assert (answer.json()["error"], answer.json()["hint"]) == ("QueueFull", "Try again when some are done.")
    assert client.post("/api/jobs", json={"model": "org/m0"}).status_code == 202
    assert len(client.get("/api/jobs").json()) == QUEUE_LIMIT


def test_the_rate_limit_forgets_quiet_clients_and_has_a_bound(monkeypatch):
    """After a minute a client may ask again; however many come, few are remembered."""
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


@pytest.mark.parametrize("name", ["../secret", "/etc", "..", "a/../../b", "tiny", "small/../small", ".", "", "a\x00b"])
def test_names_do_not_lead_out_of_the_models_directory(models, tmp_path, name):  # noqa: F811
    """Neither dots nor links; `tiny` is a link to a folder outside."""
    assert listed_folder(name, models) is None
    assert listed_models(models) == ["small"]


def test_files_that_lead_out_of_the_models_directory_are_not_read(models, tmp_path):  # noqa: F811
    """A folder inside, its config a link to something outside."""
    (models / "small" / "config.json").rename(tmp_path / "config.json")
    (models / "small" / "config.json").symlink_to(tmp_path / "config.json")
    assert listed_folder("small", models) is None
    assert listed_models(models) == []


def test_paths_of_this_machine_are_no_models(models, tmp_path, monkeypatch):  # noqa: F811
    """A folder that exists in the working directory is not opened by its name."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in (str(tmp_path / "here"), "here", "./here"):
        with pytest.raises(ModelError):
            open_listed(name, None, tmp_path, models)


def test_a_header_that_lies_about_sizes_is_a_named_error(models):  # noqa: F811
    """Offsets beyond the file's end."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [10**9], "data_offsets": [0, 4 * 10**9]}}).encode()
    (models / "small" / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ModelError):
        open_listed("small", None, models, models)


def test_pickled_weights_are_refused(models):  # noqa: F811
    """A folder without safetensors."""
    folder = models / "small"
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError) as caught:
        open_listed("small", None, models, models)
    assert "safetensors" in f"{caught.value} {caught.value.hint}"


# ---- Who may do what -----------------------------------------------------------------------------------------------


@pytest.fixture
def auth_file(tmp_path, capsys, monkeypatch):
    """Two people; made as the README says."""
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
    """Results are there; analyses are refused, and the page says so."""
    client = client_of(store, Access.of("0.0.0.0", None))
    assert client.get("/api/health").json()["read_only"] is True
    assert client.get("/api/models").status_code == 200
    assert client.post("/api/jobs", json={"model": "a/b"}).status_code == 403
    assert "read-only" in client.get("/_dash-layout").text


def test_viewers_view_and_analysts_analyse(store, auth_file):
    """Nobody without a password; the roles do what they say."""
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


def test_a_password_is_verified_once_a_request_and_off_the_event_loop(store, auth_file, monkeypatch):
    """Verifying takes long on purpose; other requests are answered meanwhile."""
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
    """A wrong line is named; a password in clear is none."""
    path = tmp_path / "people"
    path.write_text("# people\nanna:analyst:secret\n")
    with pytest.raises(Exception, match="line 2"):
        read_auth_file(path)


def test_requests_of_other_sites_change_nothing(client):
    """By their origin, by what the browser says, and by another host name."""
    body = {"json": {"model": "a/b"}}
    assert client.post("/api/jobs", headers={"Origin": "http://evil.example"}, **body).status_code == 403
    assert client.post("/api/jobs", headers={"Sec-Fetch-Site": "cross-site"}, **body).status_code == 403
    assert client.get("/api/jobs", headers={"Host": "evil.example"}).status_code == 400
    assert client.post("/api/jobs", headers={"Origin": "http://localhost"}, **body).status_code == 202


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


def test_many_pages_look_at_the_jobs_once(store, monkeypatch):
    """However many listen, the store is read once a moment."""
    engine, looks = Engine(store), []
    monkeypatch.setattr(engine, "jobs", lambda: looks.append(1) or [])
    watch = Watch(engine)
    assert [watch.jobs() for _ in range(50)] == [[]] * 50
    assert len(looks) <= 2


def test_passwords_and_tokens_are_in_no_answer_and_no_log(store, auth_file, caplog, monkeypatch):
    """Neither a person's password or its hash nor the hub's token."""
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
    """Page, API, export and refusal."""
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
    ],
)
def test_only_an_embedded_page_may_stand_in_another_site(client, path, by):
    """What can start an analysis cannot be put under somebody's pointer unseen."""
    assert client.get(path).headers["content-security-policy"].endswith(f"frame-ancestors {by}")


def test_pandas_reads_scores_by_their_address(client):
    """Filters in the query; rows as the result has them."""
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
