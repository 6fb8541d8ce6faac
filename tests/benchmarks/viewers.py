"""Fifty people look at the page while a job runs: how long the server takes to answer them."""

import json
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from analysis.results.store import cache_folder
from tests.benchmarks.browser_speed import percentile
from tests.faults.conftest import Server

VIEWERS, ROUNDS = 50, 6
PATHS = (
    "/",
    "/_dash-layout",
    "/api/jobs",
    "/api/scores?item=country_capital&kind=promote",
    "/export/view.csv?how=always",
    "/export/figure.json?tau=0.2",
)


def look(address: str, viewer: int) -> list[float]:
    """One person's requests, a moment apart, and how long each took."""
    times = []
    for i in range(ROUNDS):
        start = time.perf_counter()
        with urllib.request.urlopen(address + PATHS[(viewer + i) % len(PATHS)], timeout=30) as answer:
            answer.read()
        times.append(1000 * (time.perf_counter() - start))
        time.sleep(0.5)
    return times


def table(scratch: Path) -> str:
    """All answers, while a job of the default model runs."""
    (scratch / "models").symlink_to(cache_folder() / "models")
    server = Server(scratch).start()
    try:
        job = server.ask("/api/jobs", {"model": "smollm2-135m-instruct"})
        server.wait(job, lambda job: job["done"] >= 1)
        look(server.address, 0)  # somebody was there before: the first answers of a fresh server take longer
        with ThreadPoolExecutor(VIEWERS) as people:
            times = [t for found in people.map(lambda i: look(server.address, i), range(VIEWERS)) for t in found]
        state = server.ask(f"/api/jobs/{job['id']}")["state"]
    finally:
        server.stop()
    assert state == "running", json.dumps(state)
    lines = [
        f"| {VIEWERS} viewers, {len(times)} requests, a job {state} | measured | bar |",
        "|---|---|---|",
        f"| answer, p95 | {percentile(times):.0f} ms | 500 ms |",
        f"| answer, median | {percentile(times, 0.5):.0f} ms | |",
    ]
    return "\n".join(lines)
