"""Two hundred viewers and a hundred open pages for half a minute: errors, answer times and memory."""

import json
import random
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.benchmarks.browser_speed import percentile
from tests.benchmarks.viewers import PATHS
from tests.faults.conftest import Server

VIEWERS, SOCKETS, SECONDS, PAUSE = 200, 100, 30, 3.0
_ASKED = (*PATHS, "/api/health", "/api/models")


def view(address: str, viewer: int, end: float) -> tuple[list[float], list[str]]:
    """One person's requests until the end: how long each took, and what went wrong."""
    chance, times, errors = random.Random(viewer), [], []
    time.sleep(chance.uniform(0, PAUSE))
    while time.monotonic() < end:
        path = chance.choice(_ASKED)
        start = time.perf_counter()
        try:
            with urllib.request.urlopen(address + path, timeout=30) as answer:
                answer.read()
            times.append(1000 * (time.perf_counter() - start))
        except OSError as error:
            errors.append(f"{path}: {error}")
        time.sleep(chance.uniform(0.5, 1.5) * PAUSE)
    return times, errors


def listen(address: str, end: float, errors: list[str]) -> None:
    """An open page, which is told the jobs when it opens and stays until the end."""
    try:
        with connect(address.replace("http", "ws", 1) + "/live/jobs", open_timeout=30) as live:
            json.loads(live.recv(timeout=30))
            while time.monotonic() < end:
                try:
                    live.recv(timeout=1)
                except TimeoutError:
                    continue
    except (OSError, WebSocketException) as error:
        errors.append(f"socket: {error}")


def table(scratch: Path) -> str:
    """What the crowd met."""
    server = Server(scratch).start()
    try:
        process = psutil.Process(server.process.pid)
        view(server.address, 0, time.monotonic() + 5)  # the first answers of a fresh server take longer
        before, end = process.memory_info().rss, time.monotonic() + SECONDS
        errors: list[str] = []
        pages = [threading.Thread(target=listen, args=(server.address, end, errors)) for _ in range(SOCKETS)]
        for page in pages:
            page.start()
        with ThreadPoolExecutor(VIEWERS) as people:
            found = list(people.map(lambda viewer: view(server.address, viewer, end), range(VIEWERS)))
        for page in pages:
            page.join()
        after = process.memory_info().rss
    finally:
        server.stop()
    times = [t for own, _ in found for t in own]
    errors += [error for _, own in found for error in own]
    if errors:
        raise AssertionError(f"{len(errors)} errors of the crowd: {'; '.join(errors[:10])}")
    lines = [
        f"| {VIEWERS} viewers and {SOCKETS} sockets for {SECONDS} s, {len(times)} requests | measured | bar |",
        "|---|---|---|",
        "| errors | 0 | 0 |",
        f"| answer, p95 | {percentile(times):.0f} ms | |",
        f"| answer, median | {percentile(times, 0.5):.0f} ms | |",
        f"| the server's memory, before and after | {before / 1e6:.0f} and {after / 1e6:.0f} MB | |",
    ]
    return "\n".join(lines)
