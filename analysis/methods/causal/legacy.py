"""How the first version of Head Atlas wrote down a request for a causal map."""

import json

from analysis.results.provenance import JsonObject, PlainValues


def legacy_settings(values: PlainValues) -> JsonObject:
    """The settings of such a request."""
    gates = values["settings"]
    settings = {name: gates[name] for name in ("batch", "push", "clip")}
    settings |= {
        "tasks": values["known"],
        "files": [_task_file(task) for task in values["own"]],
        "seeds": values["seeds"],
        "together": values["together"],
        "updates": [gates["free_updates"], gates["push_updates"]],
        "rates": [*gates["free_rate"], *gates["push_rate"]],
    }
    if values["contrast"]:
        settings["contrast"] = _pairs_file(values["contrast"])
    return settings


def _task_file(task: PlainValues) -> dict[str, str]:
    """The file from which a task of one's own was read, but for the order of its lines."""
    lines = [json.dumps(item) for item in (*task["train"], *task["validation"])]
    return {"name": f"{task['name']}.jsonl", "content": "\n".join(lines)}


def _pairs_file(contrast: PlainValues) -> dict[str, str]:
    lines = []
    for forget, retain in zip(contrast["forget"], contrast["retain"], strict=True):
        lines.append(json.dumps({"forget": forget, "retain": retain}))
    return {"name": f"{contrast['name']}.jsonl", "content": "\n".join(lines)}
