"""Thousands of requests that are all different: what is kept for the next one is bounded."""

import http.client
import json
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlencode

import psutil
import pytest
from dash._utils import split_callback_id

from analysis.data.relations import builtin
from analysis.models import builtin as default_model
from dashboard.page import ids
from tests.faults.conftest import Server

REQUESTS = int(os.environ.get("MEMORY_REQUESTS", 1_600))
PEOPLE = 16  # at once
GROWTH = 10e6  # bytes, over the last quarter
REST = 15  # seconds in which the server gives back what it does not need any more
MODELS = (default_model.ID, "gemma-3-270m", "qwen2.5-coder-1.5b-instruct")
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def plain_server(converted, default_checkpoint, monkeypatch):
    """A server whose memory is managed as on any machine: tests run with other thresholds."""
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
        monkeypatch.delenv(name, raising=False)
    made = Server(converted).start()
    yield made
    made.stop()


def view_of(chance):
    """The query of some view."""
    heads = [f"L{chance.randrange(24)}H{chance.randrange(9)}" for _ in range(chance.randrange(6))]
    values = {
        "model": chance.choice(MODELS),
        "view": chance.choice(["function", "running", "causal", "salience", "agreement", "table", "nonsense"]),
        "relations": ",".join(chance.sample(sorted(builtin()), chance.randrange(1, 8))),
        "tau": f"{chance.random():.4f}",
        "pin": ",".join(heads),
        "how": chance.choice(["any", "always"]),
        "junk": "x" * chance.randrange(100),
    }
    return urlencode(chance.sample(sorted(values.items()), chance.randrange(2, len(values) + 1)))


def upload_of(chance):
    """A request with a file that is of no use: nobody computes anything."""
    rows = [f"{chance.random()},{chance.random()}" for _ in range(chance.randrange(1, 3_000))]
    if chance.random() < 0.95:  # the pairs of a file that can be read are counted by a process, which takes a second
        rows.append(chance.choice(["\ud800,a", "only one", "a,"]))
    content = "\n".join(rows)
    file = {"name": "own.csv", "content": content}
    return json.dumps({"model": default_model.ID, "methods": ["function"], "files": [file]})


def hostile_body(chance):
    """One that is refused: no JSON, nested without end, or with very many fields that nobody knows."""
    fields = ",".join(f'"{chance.random()}": 1' for _ in range(chance.randrange(20_000)))
    return chance.choice(["{", "[" * chance.randrange(100_000), "{" + fields + "}", '{"files": [{' + fields + "}]}"])


def call_of(chance, known):
    """A call of one of the page's callbacks, for some view."""
    address = "?" + view_of(chance)
    values = {ids.ADDRESS: address, ids.QUERY: address, ids.SCREEN: {"width": chance.randrange(300, 3000)}}
    values |= {ids.PINS: [f"L{chance.randrange(24)}H{chance.randrange(9)}"], ids.NEWS: 1}
    one = chance.choice(known)
    call = {"output": one["output"], "outputs": split_callback_id(one["output"])}
    for name in ("inputs", "state"):
        call[name] = [{**each, "value": values.get(each["id"])} for each in one[name]]
    return json.dumps({**call, "changedPropIds": [f"{ids.ADDRESS}.data"]})


def scores(chance, model):
    return "/api/scores?" + urlencode({"model": model, "method": "function", "least": f"{chance.uniform(0.3, 1):.6f}"})


def head_name(chance):
    return f"L{chance.randrange(30)}H{chance.randrange(9)}"


def export(chance, model):
    names = ["view.csv", "scores.csv", "view.parquet", "page.html", "figure.json", "reproduce.py"]
    return f"/export/{chance.choice(names)}?" + view_of(chance)


def answer_about(chance, model):
    path = chance.choice(["matches", "report", "search", "quantities"])
    values = {"other": chance.choice(MODELS), "method": "function", "q": f"{chance.random()}"}
    return f"/api/{path}?" + urlencode({"model": model, **values})


def comparison(chance, model):
    values = {"a": model, "b": chance.choice(MODELS), "x": f"{chance.random()}", "brush": f"{chance.random()}"}
    return "/compare?" + urlencode(values)


def layout(chance, model):
    return "/_dash-layout?" + urlencode({"address": "?" + view_of(chance), "width": chance.randrange(300, 3000)})


PAGES = (
    scores,
    export,
    answer_about,
    comparison,
    layout,
    layout,
    layout,
    lambda chance, model: f"/head/{head_name(chance)}?" + view_of(chance),
    lambda chance, model: "/api/head?" + urlencode({"head": head_name(chance), "model": model}),
    lambda chance, model: "/search?" + urlencode({"q": f"verb {chance.random()}", "model": model}),
    lambda chance, model: "/?" + view_of(chance),
)


def asked(chance, known):
    """Method, address and body of some request."""
    kind = chance.randrange(len(PAGES) + 3)
    if kind == 0:
        return "POST", "/api/jobs", upload_of(chance)
    if kind == 1:
        return "POST", "/_dash-update-component", call_of(chance, known)
    if kind == 2:
        return chance.choice(["POST", "PATCH"]), chance.choice(["/api/jobs", "/api/sets/a"]), hostile_body(chance)
    return "GET", PAGES[kind - 3](chance, chance.choice(MODELS)), None


def send(port, seed, known):
    """The status codes of some requests, one after the other."""
    chance, codes = random.Random(seed), []
    for _ in range(REQUESTS // 4 // PEOPLE):
        method, address, body = asked(chance, known)
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as line:
            line.request(method, address, body, JSON)
            answer = line.getresponse()
            answer.read()
            codes.append(answer.status)
    return codes


def test_each_request_of_the_mix_can_be_made():
    """All kinds of it, with no server: what the slow test sends follows the page's names."""
    chance, calls = random.Random(0), [{"output": "cards.data", "inputs": [{"id": ids.PINS}], "state": []}]
    made = [asked(chance, calls) for _ in range(500)]
    places = {(method, address.split("?")[0]) for method, address, _ in made}
    assert {("POST", "/api/jobs"), ("PATCH", "/api/sets/a"), ("POST", "/_dash-update-component")} < places
    assert {("GET", path) for path in ("/", "/api/scores", "/api/head", "/compare", "/search")} < places
    assert {f"/export/{name}" for name in ("view.csv", "page.html")} < {address for _, address in places}


@pytest.mark.slow
def test_thousands_of_different_requests_keep_no_memory(plain_server, capsys):
    """What the first of them filled is enough for the last: pages, calls, scores, exports, bodies that are refused."""
    process, memory, codes = psutil.Process(plain_server.process.pid), [], []
    known = [one for one in plain_server.ask("/_dash-dependencies") if not one.get("clientside_function")]
    memory.append(process.memory_info().rss)
    for quarter in range(4):
        with ThreadPoolExecutor(PEOPLE) as pool:
            seeds = range(PEOPLE * quarter, PEOPLE * (quarter + 1))
            for found in pool.map(lambda seed: send(plain_server.port, seed, known), seeds):
                codes += found
        time.sleep(REST)
        memory.append(process.memory_info().rss)
    counts = {code: codes.count(code) for code in sorted(set(codes))}
    with capsys.disabled():
        print(f"\n{REQUESTS} mixed requests of {PEOPLE} at once, {os.cpu_count()} cores: {counts}")
        print("memory before and after each quarter: " + ", ".join(f"{size / 1e6:.0f} MB" for size in memory))
    assert max(code for code in counts if code != 503) < 500  # 503: later it works
    assert memory[4] - memory[3] < GROWTH
