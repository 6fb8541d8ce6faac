"""A job's record: what it says for people, what is stored of it, and that nobody changes it by accident."""

import json

import pytest

from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.jobs.request import make_request

REQUEST = make_request({"model": "a/b", "methods": ["function", "salience"]})


def test_a_stage_is_told_with_its_part_and_what_is_being_done():
    """Each only where there is something to say; the next stage begins with nothing."""
    job = Job.of(REQUEST)
    assert job.stage_words == "waiting"
    job = job.at(stage="Function map", part=1, parts=2)
    assert job.stage_words == "Function map (1 of 2)"
    assert job.at(doing="layer 4 of 30").stage_words == "Function map (1 of 2), layer 4 of 30"
    assert job.at(doing="layer 4 of 30", done=3).at(stage="stopping").stage_words == "stopping"


def test_a_job_is_stored_whole_and_older_ones_are_read(store):
    """One that was stored before the stage had parts says what it said."""
    journal, job = Journal(store), Job.of(REQUEST).at(stage="Function map", part=1, parts=2, doing="layer 4")
    journal.save(job.counted("tcp://x", 3))
    assert journal.job(job.id) == job.counted("tcp://x", 3)
    older = {name: value for name, value in job.to_plain().items() if name not in {"part", "parts", "doing"}}
    store.put(f"job/{job.id}", json.dumps(older | {"stage": "Function map (1 of 2), layer 4"}).encode())
    assert journal.job(job.id).stage_words == "Function map (1 of 2), layer 4"


def test_nobody_changes_a_job_that_others_share(store):
    """The journal gives everybody the same one; not even the values it was made of change it later."""
    journal, workers = Journal(store), {"tcp://x": 1}
    job = Job.of(REQUEST).at(workers=workers)
    journal.save(job)
    workers["tcp://x"] = 2
    assert job.workers == {"tcp://x": 1}
    for shared in (job, *journal.jobs()):
        with pytest.raises(TypeError):
            shared.workers["tcp://y"] = 1
        with pytest.raises(TypeError):
            shared.asked["causal"] = None
