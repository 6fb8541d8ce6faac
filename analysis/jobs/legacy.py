"""Jobs that the first version of Head Atlas left in a store: read as if this version had written them."""

from typing import Any

from analysis import methods
from analysis.jobs.job import Job
from analysis.jobs.request import Request, request_type
from analysis.results.provenance import JsonObject, PlainValues

_SAME = ("state", "stage", "done", "total", "left", "message", "hint", "fingerprint", "workers", "created", "finished")


def is_legacy(values: PlainValues) -> bool:
    """Whether a job's record holds its request, as the first version wrote it."""
    return "request" in values


def legacy_job(job_id: str, values: PlainValues) -> Job:
    """A job of the first version."""
    request = legacy_request(values["request"])
    same = {name: values[name] for name in _SAME if name in values}
    job = Job(job_id, request.model, request.revision, request.asked(), **same)
    return Job.from_plain(job.to_plain())


def legacy_request(values: PlainValues) -> Request:
    """A request of the first version; each method knows how its settings were written."""
    files: list[Any] = []
    fields: JsonObject = {name: values[name] for name in ("model", "revision", "methods")}
    for method in methods.ordered(values["methods"]):
        settings = method.legacy_settings(values)
        files += settings.pop("files", [])
        fields |= settings
    if files:
        fields["files"] = files
    return request_type()(**fields)
