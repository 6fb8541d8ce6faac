"""A store full of finished jobs of the largest size: the server answers as if it was empty."""

import json
import os
import time
from dataclasses import replace

import psutil
import pytest

from analysis.jobs.job import Job
from analysis.jobs.journal import KEPT, Journal
from analysis.jobs.request import make_request
from analysis.relations.plan import RelationPlan
from analysis.results.store import Store

PAIRS = 19_900
JOBS = 1_000
MODELS = 20  # that they are about


def largest(number):
    """A request with as many pairs as one may bring."""
    content = "\n".join(f"source{number}x{i},target{number}x{i}" for i in range(PAIRS))
    return make_request({"model": f"org/{number}", "files": [{"name": "own.csv", "content": content}]})


def percentile(times, share=0.95):
    return sorted(times)[int(share * (len(times) - 1))]


def answer_times(server, path, count=60):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        server.ask(path)
        times.append(1000 * (time.perf_counter() - start))
    return times


def know_pairs(store, card, request):
    """As if a job on this model had read its vocabulary."""
    for method in request.chosen:
        plan = method.plan(card, request)
        if isinstance(plan, RelationPlan):
            kept = [[[i, i + 1] for i in range(len(relation.pairs))] for relation in plan.relations]
            store.put(plan.pairs_name, json.dumps(kept).encode())


@pytest.mark.slow
def test_a_thousand_finished_jobs_slow_nothing_down(server, converted, default_checkpoint, capsys):
    """Health within 50 ms at the 95th percentile, the same memory as before, and the next start keeps the newest."""
    # Each of them had opened its model and knew its pairs, so that there is something of each to be shown.
    process = psutil.Process(server.process.pid)
    server.ask("/api/jobs")
    server.ask("/api/models")  # so that what ships has been read
    before = process.memory_info().rss
    store = Store(converted / "store")
    journal, request = Journal(store), largest(0)
    card = replace(default_checkpoint.card, id=request.model)
    record, one = request.to_record().encode(), Job.of(request)
    cards = [replace(card, fingerprint=f"{number:064x}") for number in range(MODELS)]
    for each in cards:
        know_pairs(store, each, request)
    for number in range(JOBS):
        mine = cards[number % MODELS]
        job = one.at(id=f"{number:016x}", state="failed", message="no", finished=f"{number:06}")
        job = job.at(fingerprint=mine.fingerprint)
        store.put(f"request/{job.id}", record)
        journal.save_card(job, mine)
        journal.save(job)
    assert card.id in {model["id"] for model in server.ask("/api/models")["models"]}
    listed = answer_times(server, "/api/jobs", 10)
    health = answer_times(server, "/api/health")
    layout = answer_times(server, "/_dash-layout", 30)
    after = process.memory_info().rss
    with capsys.disabled():
        print(f"\n{JOBS} finished jobs of {PAIRS} pairs, {os.cpu_count()} cores")
        told = {"health": health, "list of jobs": listed, "page": layout}
        print("p95: " + ", ".join(f"{name} {percentile(times):.1f} ms" for name, times in told.items()))
        print(f"memory {before / 1e6:.0f} MB before, {after / 1e6:.0f} MB after")
    assert percentile(health) <= 50
    assert percentile(layout) <= 1_000
    assert after - before < 100e6
    server.kill()
    server.start()
    assert len(server.ask("/api/jobs")) == KEPT
    assert len(list(store.names("request/"))) == KEPT
    store.close()
