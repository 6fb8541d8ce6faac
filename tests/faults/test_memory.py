"""Thousands of requests that are all different: what is kept for the next one is bounded."""

import http.client
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlencode

import psutil
import pytest

from analysis.data.relations import builtin
from analysis.models import builtin as default_model
from tests.faults.conftest import Server

REQUESTS = 2_000
PEOPLE = 4  # at once
GROWTH = 30e6  # bytes, over the second half
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


def asked(chance):
    """Method, address and body of some request."""
    kind = chance.randrange(8)
    model = chance.choice(MODELS)
    if kind == 0:
        return "POST", "/api/jobs", upload_of(chance)
    if kind == 1:
        least = f"{chance.uniform(0.3, 1):.6f}"
        return "GET", "/api/scores?" + urlencode({"model": model, "method": "function", "least": least}), None
    if kind == 2:
        return "GET", f"/head/L{chance.randrange(30)}H{chance.randrange(9)}?" + view_of(chance), None
    if kind == 3:
        file = chance.choice(["view.csv", "scores.csv", "view.parquet", "figure.json", "reproduce.py"])
        return "GET", f"/export/{file}?" + view_of(chance), None
    if kind == 4:
        return "GET", "/search?" + urlencode({"q": f"verb {chance.random()}", "model": model}), None
    if kind == 5:
        return "GET", "/?" + view_of(chance), None
    width = chance.randrange(300, 3000)
    return "GET", "/_dash-layout?" + urlencode({"address": "?" + view_of(chance), "width": width}), None


def send(port, seed, count):
    """The status codes of some requests, one after the other."""
    chance, codes = random.Random(seed), []
    for _ in range(count):
        method, address, body = asked(chance)
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as line:
            line.request(method, address, body, JSON)
            answer = line.getresponse()
            answer.read()
            codes.append(answer.status)
    return codes


@pytest.mark.slow
def test_thousands_of_different_requests_keep_no_memory(plain_server, capsys):
    """What the first half of them filled is enough for the second: views, scores, exports, files that are refused."""
    process, memory, codes = psutil.Process(plain_server.process.pid), [], []
    for quarter in range(4):
        with ThreadPoolExecutor(PEOPLE) as pool:
            seeds = range(PEOPLE * quarter, PEOPLE * (quarter + 1))
            for found in pool.map(lambda seed: send(plain_server.port, seed, REQUESTS // 4 // PEOPLE), seeds):
                codes += found
        memory.append(process.memory_info().rss)
    counts = {code: codes.count(code) for code in sorted(set(codes))}
    with capsys.disabled():
        print(f"\n{REQUESTS} mixed requests, {os.cpu_count()} cores: {counts}")
        print("memory after each quarter: " + ", ".join(f"{size / 1e6:.0f} MB" for size in memory))
    assert max(counts) < 500
    assert memory[3] - memory[1] < GROWTH
