"""The list of tasks, a command of its own."""

import argparse
import json
from collections.abc import Sequence

from analysis.data import tasks
from analysis.method import Tool
from analysis.progress import ShownProgress
from analysis.results.provenance import PlainValues


def _tasks(options: argparse.Namespace, progress: ShownProgress) -> str:
    data = []
    for task in tasks.builtin().values():
        data.append(
            {
                "name": task.name,
                "title": task.title,
                "sentence": task.sentence,
                "kinds": list(task.kinds),
                "train": len(task.train),
                "validation": len(task.validation),
                "example": task.train[0].prompt,
                "target": task.train[0].target,
            }
        )
    return json.dumps(data) if options.json else _tasks_text(data)


def _tasks_text(tasks: Sequence[PlainValues]) -> str:
    """One task per paragraph."""
    paragraphs = []
    for task in tasks:
        paragraphs.append(
            f"{task['name']}: {task['sentence']}\n"
            f"  {task['train']:,} prompts for training, {task['validation']} for validation\n"
            f"  kinds: {', '.join(task['kinds'])}\n"
            f"  for example {task['example']!r} → {task['target']!r}"
        )
    return "\n\n".join(paragraphs)


TOOLS = (Tool(name="tasks", help="list the built-in tasks", run=_tasks),)
