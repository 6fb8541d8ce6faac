"""The largest result, asked for thirty times at once over the network, while somebody watches the event loop."""

import asyncio
import gc
import http.client
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psutil
import pytest
import uvicorn

from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from analysis.results.store import Store
from dashboard.access import Access
from dashboard.web.application import create_app
from tests import synthetic

PEOPLE = 30
LARGEST = 0.1  # seconds of the processor that one callback of the event loop may take
MEMORY = 600e6  # bytes more at most: one table, its compressed file, and a piece per person
BIG = f"/api/scores?model={synthetic.BIG}"


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A server in a thread; its port, and the seconds that its longest callbacks kept the processor."""
    store = Store(tmp_path / "store")
    synthetic.fill(store)
    engine = Engine(store)
    app = create_app(Catalogue(store, engine), engine, Access(local=True))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    longest, run = [0.0], asyncio.events.Handle._run

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
    yield server.servers[0].sockets[0].getsockname()[1], longest
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
    port, longest = watched
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
