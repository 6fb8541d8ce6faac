"""Large answers: the same bytes as before, made once for many, without keeping the event loop busy."""

import asyncio
import gzip
import io
import json
import threading
import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from dash._utils import split_callback_id
from starlette.testclient import TestClient

from analysis.errors import ServerBusy
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import matched_heads, results_of
from analysis.jobs.engine import Engine
from analysis.results import tables
from analysis.results.tables import csv_bytes, json_pieces
from dashboard.access import Access
from dashboard.page import ids
from dashboard.web import api
from dashboard.web import large_answers as large_answers_module
from dashboard.web.application import create_app
from dashboard.web.large_answers import THREADS, WAITING, LargeAnswers
from tests import synthetic

LARGEST = 0.1  # seconds of the processor that one callback of the event loop may take
BIG = f"/api/scores?model={synthetic.BIG}"


@pytest.mark.parametrize("rows", [0, 1, tables.ROWS, 3 * tables.ROWS + 1])
def test_pieces_are_the_table(rows):
    """Put together they are what pandas writes in one go, also for an empty table and one of whole pieces."""
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(rows)], "score": np.arange(rows) / 7})
    assert csv_bytes(frame).decode() == frame.to_csv(index=False)
    assert b"".join(json_pieces(frame)).decode() == frame.to_json(orient="records")


def test_no_cell_is_a_formula():
    """A text that a spreadsheet would run gets an apostrophe, as in the browser; negative numbers stay as they are."""
    cases = json.loads((Path(__file__).parent.parent / "cases" / "texts.json").read_text())["spreadsheet"]
    texts, expected = zip(*cases, strict=True)
    frame = pd.DataFrame({"text": [*texts, None], "number": [-1.5] * (len(cases) + 1)})
    read = pd.read_csv(io.BytesIO(csv_bytes(frame)), keep_default_na=False)
    assert read["text"].tolist() == [*expected, ""]
    assert set(read["number"]) == {-1.5}


def sender(*encodings):
    return SimpleNamespace(headers={"accept-encoding": ", ".join(encodings)})


async def content(answer):
    return b"".join([piece async for piece in answer.body_iterator])


def test_a_file_is_made_once_for_all_who_ask():
    """Thirty at once, with and without compression, get the same content, and it is made once."""
    made, whole = [], bytes(range(256)) * 10_000

    def make():
        made.append(1)
        time.sleep(0.1)
        yield whole[:1_000_000]
        yield whole[1_000_000:]

    async def thirty():
        large_answers = LargeAnswers()
        asked = [large_answers.answer(sender(*["gzip"] * (i % 2)), "key", make, "text/plain") for i in range(30)]
        answers = await asyncio.gather(*asked)
        return [(answer.headers.get("content-encoding"), await content(answer)) for answer in answers]

    for encoding, body in asyncio.run(thirty()):
        assert (gzip.decompress(body) if encoding else body) == whole
    assert made == [1]


def test_only_some_files_are_made_at_a_time():
    """One more is refused with words; a failure is told to who asked and not kept."""
    release, running = threading.Event(), []

    def make():
        running.append(1)
        release.wait(30)
        yield b"x"

    def fails():
        raise ValueError("cannot be made")
        yield b""

    async def many():
        large_answers = LargeAnswers()
        tasks = [asyncio.create_task(large_answers.answer(sender(), i, make, "")) for i in range(WAITING + THREADS)]
        await asyncio.sleep(0.2)
        with pytest.raises(ServerBusy):
            await large_answers.answer(sender(), "more", make, "")
        assert len(running) == THREADS
        release.set()
        await asyncio.gather(*tasks)
        for _ in range(2):
            with pytest.raises(ValueError, match="cannot be made"):
                await large_answers.answer(sender(), "wrong", fails, "")

    asyncio.run(many())


def test_scores_are_written_once_while_a_job_of_another_model_goes_on(store, monkeypatch):
    """Its progress makes other results of its own model only: the kept file of this one is sent again."""
    catalogue, engine, tables_made = Catalogue(store), Engine(store), []
    client = TestClient(create_app(catalogue, engine, Access(local=True)), base_url="http://localhost")
    monkeypatch.setattr(api, "scores_frame", lambda scores: tables_made.append(scores) or scores.to_frame())
    first = client.get("/api/scores?method=function&least=0.9").content
    catalogue._look_again()
    assert client.get("/api/scores?method=function&least=0.9").content == first
    assert len(tables_made) == 1


def test_what_is_kept_has_a_bound(monkeypatch):
    """The files that were not asked for the longest go first."""
    monkeypatch.setattr(large_answers_module, "KEPT", 3)

    async def several():
        large_answers = LargeAnswers()
        for key in "abcad":
            await large_answers.answer(sender(), key, lambda key=key: iter([key.encode()]), "")
        return list(large_answers._kept)

    assert asyncio.run(several()) == ["c", "a", "d"]


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_what_is_being_sent_has_a_bound(monkeypatch, encoding):
    """Files that nobody reads to their end are held; one beyond the limit is refused until another is over."""
    monkeypatch.setattr(large_answers_module, "SENDING", 250)
    monkeypatch.setattr(large_answers_module, "KEPT", 1)
    left = asyncio.Event()

    async def leave():
        await left.wait()
        return {"type": "http.disconnect"}

    async def stuck(message):
        await asyncio.sleep(60)

    async def many():
        large_answers = LargeAnswers()

        def asked(key):
            content = np.random.default_rng(key).bytes(70)  # packed, no smaller
            return large_answers.answer(sender(encoding), key, lambda: iter([content]), "")

        sent = [await asked(key) for key in (1, 2, 2)]
        reading = [asyncio.create_task(answer({"type": "http"}, leave, stuck)) for answer in sent]
        with pytest.raises(ServerBusy, match="sent already"):
            await asked(3)
        left.set()
        await asyncio.gather(*reading)
        await asked(3)

    asyncio.run(many())


def test_no_piece_keeps_the_other_threads_waiting():
    """pandas holds Python's lock while it writes; of the largest table it does so for less than 100 ms at a time."""
    frame = synthetic.big_scores().to_frame()
    assert len(frame) > 50 * tables.ROWS
    for pieces in (json_pieces(frame), tables.csv_pieces(frame)):
        longest, before = 0.0, time.thread_time()
        for _ in pieces:
            longest, before = max(longest, time.thread_time() - before), time.thread_time()
        assert longest < LARGEST


class Watched(asyncio.SelectorEventLoop):
    """An event loop that knows how long its callbacks keep the processor, whatever else the machine does."""

    def __init__(self):
        super().__init__()
        self.longest = (0.0, "")

    async def longest_in(self, work):
        """What some work gives, and its longest callback: a callback counts when it is over."""
        await asyncio.sleep(0)
        self.longest = (0.0, "")
        given = await work
        await asyncio.sleep(0)
        return given, self.longest

    def watch(self):
        run = asyncio.events.Handle._run

        def timed(handle):
            before = time.thread_time()
            run(handle)
            if handle._loop is self:  # a thread may have a loop of its own
                self.longest = max(self.longest, (time.thread_time() - before, repr(handle)))

        return timed


def test_no_request_keeps_the_event_loop_busy(server, monkeypatch):
    """Page, lists, figures, exports and the largest table of scores: no callback takes 100 ms of the processor."""
    loop = Watched()
    monkeypatch.setattr(asyncio.events.Handle, "_run", loop.watch())
    paths = ("/", "/_dash-layout", "/api/health", "/api/jobs", "/api/models", "/api/correlations", "/compare", BIG)
    pages = ("/head/L1H1", "/search", "/prompt")
    answers = ("head", "search", "quantities", "quantity", "agreement", "matches", "report")
    exports = ("view.csv", "page.html", "figure.json", "reproduce.py")
    query = f"model={synthetic.BIG}&q=capital&head=L1H1&method=function&key=function/country_capital/promote"
    of_model = [*pages, *(f"/api/{name}" for name in answers), *(f"/export/{name}" for name in exports)]
    tables_of_model = [f"/api/scores.{ending}?model={synthetic.BIG}" for ending in ("csv", "parquet")]
    paths = (*paths, *tables_of_model, *(f"{path}?{query}" for path in of_model))

    async def visit():
        await status(server, "/api/health")  # the first request of all puts the application together
        for path in paths:
            code, longest = await loop.longest_in(status(server, path))
            assert (code, longest[0] < LARGEST) == (200, True), (path, longest)

    loop.run_until_complete(visit())
    loop.close()


def calls(server, **values):
    """The calls of the page, with these values of its inputs by the ids of their parts."""
    for output, known in server.state.dash.callback_map.items():
        if known.get("callback") is not None:
            call = {"output": output, "outputs": split_callback_id(output), "changedPropIds": [f"{ids.ADDRESS}.data"]}
            for name in ("inputs", "state"):
                call[name] = [{**one, "value": values.get(one["id"])} for one in known[name]]
            yield json.dumps(call).encode()


@pytest.mark.parametrize("view", ["function", "causal"])
def test_no_call_of_the_page_keeps_the_event_loop_busy(server, monkeypatch, view):
    """Maps, what is around them, cards and lists of the largest model: no callback of the page's does, either."""
    loop = Watched()
    monkeypatch.setattr(asyncio.events.Handle, "_run", loop.watch())
    address = f"?model={synthetic.BIG}&view={view}"
    values = {ids.ADDRESS: address, ids.QUERY: address, ids.SCREEN: {"width": 1240}, ids.PINS: ["L1H1"], ids.NEWS: 1}

    async def visit():
        await status(server, "/api/health")
        for call in calls(server, **values):
            code, longest = await loop.longest_in(status(server, "/_dash-update-component", call))
            assert (code, longest[0] < LARGEST) == (200, True), (call[:60], longest)

    loop.run_until_complete(visit())
    loop.close()


def test_no_body_keeps_the_event_loop_busy(server, monkeypatch):
    """A submission of as many values as are taken, and the largest and deepest calls of a page do not, either."""
    loop = Watched()
    monkeypatch.setattr(asyncio.events.Handle, "_run", loop.watch())
    values = b'{"model": "a/b", "relations": [' + b"[]," * 240_000 + b"[]]}"
    deep = next(calls(server)).replace(
        b'"value": null', b'"value": [' + b"[],[1," * 4_900 + b"1" + b"]" * 4_900 + b"]", 1
    )
    wide = next(calls(server)).replace(b'"value": null', b'"value": [' + b"[]," * 9_000 + b"1]", 1)

    async def visit():
        await status(server, "/api/health")
        page = "/_dash-update-component"
        for path, body, expected in (("/api/jobs", values, 422), (page, deep, 422), (page, wide, 204)):
            code, longest = await loop.longest_in(status(server, path, body))
            assert (code, longest[0] < LARGEST) == (expected, True), (path, code, longest)

    loop.run_until_complete(visit())
    loop.close()


def test_matching_the_heads_of_two_large_models_takes_little_memory(catalogue):
    """5,120 heads against 5,120 are compared some at a time: their cosines together would take 200 MB, five times."""
    card = catalogue.card(synthetic.BIG)
    results = results_of(catalogue, card)
    tracemalloc.start()
    matches = matched_heads(results, card, results, card)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert all(match.head == match.other for match in matches)
    assert peak < 60e6


async def status(server, path, body=None):
    """Ask as a browser without compression does, and read all."""
    path, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET" if body is None else "POST", "path": path, "raw_path": path.encode()}
    scope |= {"query_string": query.encode(), "client": ("127.0.0.1", 1), "server": ("localhost", 80)}
    scope |= {"headers": [(b"host", b"localhost"), (b"content-type", b"application/json")]}
    scope |= {"scheme": "http", "root_path": "", "http_version": "1.1", "asgi": {"version": "3.0"}}
    codes = []

    async def receive():
        await asyncio.sleep(0 if not codes else 3600)
        return {"type": "http.request", "body": body or b"", "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            codes.append(message["status"])

    await server(scope, receive, send)
    return codes[0]
