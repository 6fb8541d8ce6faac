"""Jobs that the first version of Head Atlas left in a store: read as if this version had written them."""

import json
from collections.abc import Mapping
from typing import Any

from analysis.data import relations
from analysis.jobs.job import Job
from analysis.jobs.request import Request, request_type
from analysis.results.provenance import Plain

_SAME = ("state", "stage", "done", "total", "left", "message", "hint", "fingerprint", "workers", "created", "finished")


def is_older(values: Plain) -> bool:
    """Whether a job's record holds its request, as the first version wrote it."""
    return "request" in values


def older_job(job_id: str, values: Plain) -> Job:
    """A job of the first version."""
    request = older_request(values["request"])
    same = {name: values[name] for name in _SAME if name in values}
    return Job(job_id, request.model, request.revision, request.asked(), **same)


def older_request(values: Plain) -> Request:
    """A request of the first version, which kept one's own relations and tasks parsed."""
    fields: dict[str, Any] = {
        "model": values["model"],
        "revision": values["revision"],
        "methods": values["methods"],
        "files": [_relation_file(relation) for relation in values["own"]],
    }
    if values["known"] != list(relations.builtin()):
        fields["relations"] = values["known"]
    if "causal" in values:
        fields |= _gate_fields(values["causal"])
        fields["files"] += [_items_file(task) for task in values["causal"]["own"]]
    return request_type()(**fields)


def _relation_file(relation: Mapping[str, Any]) -> dict[str, str]:
    return {"name": f"{relation['name']}.json", "content": json.dumps(relation["pairs"])}


def _items_file(task: Mapping[str, Any]) -> dict[str, str]:
    lines = [json.dumps(item) for item in (*task["train"], *task["validation"])]
    return {"name": f"{task['name']}.jsonl", "content": "\n".join(lines)}


def _gate_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    gates = values["settings"]
    fields = {name: gates[name] for name in ("batch", "push", "clip")}
    fields |= {
        "tasks": values["known"],
        "seeds": values["seeds"],
        "together": values["together"],
        "updates": [gates["free_updates"], gates["push_updates"]],
        "rates": [*gates["free_rate"], *gates["push_rate"]],
    }
    contrast = values["contrast"]
    if contrast:
        pairs = zip(contrast["forget"], contrast["retain"], strict=True)
        lines = [json.dumps({"forget": forget, "retain": retain}) for forget, retain in pairs]
        fields["contrast"] = {"name": f"{contrast['name']}.jsonl", "content": "\n".join(lines)}
    return fields
