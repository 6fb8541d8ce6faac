"""The largest result, asked for thirty times at once over the network, while somebody watches the event loop."""

import asyncio
import gc
import http.client
import json
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from urllib.parse import urlencode

import psutil
import pytest
import uvicorn

from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from analysis.results.store import Store
from dashboard.access import Access
from dashboard.web.application import create_app
from dashboard.web.bodies import MAX_NAMES
from tests import synthetic

PEOPLE = 30
LARGEST = 0.1  # seconds of the processor that one callback of the event loop may take
LATE = 1.0  # seconds by the clock that the event loop may be late: a thread that holds Python's lock stops it, too
MEMORY = 600e6  # bytes more at most: one table, its compressed file, and a piece per person
BIG = f"/api/scores?model={synthetic.BIG}"


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A server in a thread; its port, the seconds that its longest callback took, and those that its loop was late."""
    store = Store(tmp_path / "store")
    synthetic.fill(store)
    engine = Engine(store)
    app = create_app(Catalogue(store, engine), engine, Access(local=True))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    longest, latest, run = [0.0], [0.0], asyncio.events.Handle._run

    async def beat():
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            latest[0] = max(latest[0], time.monotonic() - before - 0.01)

    async def serve():
        beating = asyncio.create_task(beat())
        await server.serve()
        beating.cancel()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))

    def timed(handle):
        before = time.thread_time()
        run(handle)
        longest[0] = max(longest[0], time.thread_time() - before)

    monkeypatch.setattr(asyncio.events.Handle, "_run", timed)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    gc.collect()
    gc.freeze()  # as `app.py` does: the tests' own process has torch in it
    yield server.servers[0].sockets[0].getsockname()[1], longest, latest
    gc.unfreeze()
    server.should_exit = True
    thread.join()
    store.close()


def length_of(port, path, encoding="identity"):
    """How many bytes an answer has; they are read and let go."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=300)) as connection:
        connection.request("GET", path, headers={"Host": "localhost", "Accept-Encoding": encoding})
        answer, length = connection.getresponse(), 0
        assert answer.status == 200
        while piece := answer.read(1 << 20):
            length += len(piece)
    return length


@pytest.mark.slow
def test_the_largest_table_asked_for_thirty_times_at_once(watched, capsys):
    """80 × 64 heads × 20 relations: no callback takes 100 ms, the memory has a bound, and all get the same bytes."""
    port, longest, _ = watched
    length_of(port, "/api/health")  # the first request of all puts the application together
    longest[0] = 0.0
    process, most, end = psutil.Process(os.getpid()), [0], threading.Event()
    before = process.memory_info().rss

    def watch():
        while not end.wait(0.05):
            most[0] = max(most[0], process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    with ThreadPoolExecutor(PEOPLE) as people:
        lengths = list(people.map(lambda _: length_of(port, BIG), range(PEOPLE)))
    end.set()
    watching.join()
    with capsys.disabled():
        print(f"\n{PEOPLE} times {lengths[0] / 1e6:.0f} MB at once, {os.cpu_count()} cores")
        print(f"longest callback {1000 * longest[0]:.0f} ms of the processor, {(most[0] - before) / 1e6:.0f} MB more")
    assert len(set(lengths)) == 1
    assert lengths[0] > 30e6
    assert longest[0] < LARGEST
    assert most[0] - before < MEMORY


FIELDS = b"{" + b",".join(b'"%x": 1' % number for number in range(MAX_NAMES - 10)) + b"}"
PAIRS = json.dumps([[f"source{number}", f"target{number}"] for number in range(19_900)])
USELESS = json.dumps({"model": "a/b", "files": [{"name": "own.json", "content": PAIRS + "x"}]}).encode()


def upload(port, body):
    """The status of a submission."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=300)) as connection:
        connection.request("POST", "/api/jobs", body, {"Host": "localhost", "Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status


def crowd(port):
    """Everybody at once, in a process of its own: their threads do not keep the server's waiting."""
    address = urlencode({"address": f"?model={synthetic.BIG}", "width": 1240})
    paths = [
        f"/_dash-layout?{address}",
        f"/head/L1H1?model={synthetic.BIG}",
        f"/search?q=capital&model={synthetic.BIG}",
    ]
    paths = paths * 10 + [f"{BIG}&least=0.{number + 10}" for number in range(10)] + [BIG] * PEOPLE
    with ThreadPoolExecutor(4 * PEOPLE) as people:
        sent = [people.submit(upload, port, body) for body in (FIELDS, USELESS) * 5]
        lengths = [people.submit(length_of, port, path) for path in paths]
        return {one.result() for one in sent}, min(one.result() for one in lengths)


@pytest.mark.slow
def test_the_event_loop_goes_on_beside_downloads_uploads_and_pages(watched, capsys):
    """Thirty large tables, uploads and pages at once: a task that sleeps for 10 ms is never much later than that."""
    port, _, latest = watched
    length_of(port, "/api/health")
    with ProcessPoolExecutor(1, get_context("spawn")) as elsewhere:
        elsewhere.submit(os.getpid).result()
        latest[0] = 0.0
        codes, shortest = elsewhere.submit(crowd, port).result()
    with capsys.disabled():
        print(f"\nthe event loop was {1000 * latest[0]:.0f} ms late at most, {os.cpu_count()} cores")
    assert codes <= {422, 429}
    assert shortest > 0
    assert latest[0] < LATE
