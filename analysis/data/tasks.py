"""Tasks: prompts with the text that should follow."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from analysis.data import questions
from analysis.data.files import MAX_BYTES, MAX_LINES
from analysis.data.questions import TaskQuestion
from analysis.errors import TaskError

TRAIN = 1_600  # prompts per kind: no batch of 16 is seen twice within 600 updates
VALIDATION = 40  # prompts per kind
HELD_OUT = 5  # one question in five is for validation

MAX_ITEMS = MAX_LINES
MIN_ITEMS = 8
MAX_PROMPT = 4_000  # characters
MAX_TARGET = 200
MAX_KIND = 60
_SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class TaskPrompt:
    """A prompt and what should follow it; the loss is on the target alone."""

    kind: str
    prompt: str
    target: str


@dataclass(frozen=True)
class Task:
    """A named set of items; no validation question is seen in training, not even as a worked example."""

    name: str
    title: str
    sentence: str
    train: tuple[TaskPrompt, ...]
    validation: tuple[TaskPrompt, ...]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of items, in the order of their first appearance."""
        kinds = [item.kind for item in self.train + self.validation]
        return tuple(dict.fromkeys(kinds))

    @cached_property
    def hash(self) -> str:
        """What a score depends on: the items and their order, not the words around them."""
        return _hash(self.train, self.validation)


@dataclass(frozen=True)
class Contrast:
    """Matched pairs: what a model should forget, and what it should retain."""

    name: str
    title: str
    sentence: str
    forget: tuple[TaskPrompt, ...]
    retain: tuple[TaskPrompt, ...]  # as many

    @cached_property
    def hash(self) -> str:
        """What a score depends on."""
        return _hash(self.forget, self.retain)


SENTENCES = {
    "math": "Small numbers: arithmetic, comparisons, sequences and one-sentence stories.",
    "syntax": "Another form of the same words: past, plural, pronoun, question, negation.",
    "commonsense": "Everyday questions with four answers to choose from, by letter.",
}
DEFAULT_TASKS = ("math", "syntax")  # of an analysis for which nobody chose any
TITLES = {name: name.capitalize() for name in SENTENCES}


@cache
def builtin() -> dict[str, Task]:
    """The tasks that come with the project, by name."""
    return {name: _task(name, sentence) for name, sentence in SENTENCES.items()}


def _task(name: str, sentence: str) -> Task:
    kinds: dict[str, list[TaskQuestion]] = getattr(questions, name)()
    train: list[list[TaskPrompt]] = []
    validation: list[list[TaskPrompt]] = []
    for kind, asked in kinds.items():
        for_training, for_validation = _split(kind, asked)
        train.append(for_training)
        validation.append(for_validation)
    return Task(name, TITLES[name], sentence, _in_turn(train), _in_turn(validation))


def _in_turn(kinds: list[list[TaskPrompt]]) -> tuple[TaskPrompt, ...]:
    """One item of each kind, then the next of each: a batch sees all kinds."""
    mixed: list[TaskPrompt] = []
    for one_of_each in zip(*kinds, strict=True):
        mixed.extend(one_of_each)
    return tuple(mixed)


def _split(kind: str, asked: list[TaskQuestion]) -> tuple[list[TaskPrompt], list[TaskPrompt]]:
    """Items for training and for validation, in an order that is mixed but always the same."""
    mixed = sorted(asked, key=lambda question: _digest(question.asked))
    seen = [question for question in mixed if not _held_out(question.key)]
    unseen = [question for question in mixed if _held_out(question.key)]
    return _items(kind, seen, seen, TRAIN), _items(kind, unseen, seen, VALIDATION)


def _items(kind: str, asked: list[TaskQuestion], examples: list[TaskQuestion], count: int) -> list[TaskPrompt]:
    """`count` items: every question after one worked example, then after another, until there are enough."""
    items: list[TaskPrompt] = []
    for shift in range(1, len(examples)):
        for at, question in enumerate(asked):
            example = examples[(at + shift) % len(examples)]
            if example.key != question.key:
                worked = f"{example.asked}{example.answer}{example.rest}"
                items.append(TaskPrompt(kind, f"{worked}\n{question.asked}", question.answer))
            if len(items) == count:
                return sorted(items, key=lambda item: _digest(item.prompt))
    raise ValueError(f"{kind}: {len(items)} items where {count} are needed")


def _hash(*groups: tuple[TaskPrompt, ...]) -> str:
    content: list[list[list[str]]] = []
    for items in groups:
        content.append([[item.kind, item.prompt, item.target] for item in items])
    return _digest(json.dumps(content, ensure_ascii=False)).hex()[:16]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _held_out(key: str) -> bool:
    return _digest(key)[0] % HELD_OUT == 0


def choose(names: Sequence[str]) -> tuple[Task, ...]:
    """Built-in tasks by name."""
    for name in names:
        if name not in builtin():
            raise TaskError(f"there is no task {name[:100]!r}", f"Choose from {', '.join(builtin())}, or a file.jsonl.")
    return tuple(builtin()[name] for name in names)


def read_task(name: str, content: bytes) -> Task:
    """A user's own task: JSONL with "prompt", "target" and an optional "kind"; one item in five is for validation."""
    items = [item for (item,) in _checked(_lines(name, content), name, _single, _EXAMPLE)]
    if len(items) < MIN_ITEMS:
        raise TaskError(f"{name} holds {len(items)} items", f"Give at least {MIN_ITEMS}, one per line, as {_EXAMPLE}.")
    mixed = sorted(items, key=lambda item: _digest(item.prompt))
    held = max(1, len(mixed) // HELD_OUT)
    stem = Path(name).stem
    sentence = f"What follows the prompts of {name}."
    return Task(stem, stem.replace("_", " "), sentence, tuple(mixed[held:]), tuple(mixed[:held]))


def read_contrast(name: str, content: bytes) -> Contrast:
    """A user's own pairs: JSONL with "forget" and "retain", each with "prompt" and "target"."""
    pairs = _checked(_lines(name, content), name, _pair, _PAIR)
    if len(pairs) < MIN_ITEMS:
        raise TaskError(f"{name} holds {len(pairs)} pairs", f"Give at least {MIN_ITEMS}.")
    stem = Path(name).stem
    sentence = f"Heads that the prompts to forget in {name} need, and the prompts to retain do not."
    forget, retain = zip(*pairs, strict=True)
    return Contrast(stem, stem.replace("_", " "), sentence, forget, retain)


def _lines(name: str, content: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers."""
    if len(content) > MAX_BYTES:
        raise TaskError(f"{name} is larger than {MAX_BYTES / 1e6:g} MB", f"Give at most {MAX_ITEMS:,} items.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TaskError(f"{name}, line {line}: not UTF-8 text", "Save the file as UTF-8.") from error
    yield from enumerate(text.split("\n"), 1)


_EXAMPLE = '{"prompt": "one cat, two", "target": " cats"}'
_PAIR = '{"forget": {"prompt": "…", "target": "…"}, "retain": {"prompt": "…", "target": "…"}}'


Group = tuple[TaskPrompt, ...]  # the items of one line: one of a task, two of a contrast


def _checked(
    lines: Iterable[tuple[int, str]], name: str, read: Callable[[Any], tuple[Group, str]], example: str
) -> list[Group]:
    """The items of every line of a file, or one error that lists what is wrong on which line."""
    first_line: dict[tuple[str, ...], int] = {}
    items: list[Group] = []
    problems: list[str] = []
    for line, text in lines:
        if not text.strip():
            continue
        group, problem = _read(text, read)
        prompts = tuple(item.prompt for item in group)
        if not problem and prompts in first_line:
            problem = f"repeats the prompt of line {first_line[prompts]}"
        if problem:
            problems.append(f"{name}, line {line}: {problem}")
        else:
            first_line[prompts] = line
            items.append(group)
        if len(items) > MAX_ITEMS:
            raise TaskError(f"{name} has more than {MAX_ITEMS:,} items", "Keep only some of them.")
        if len(problems) == _SHOWN_PROBLEMS:
            problems.append("… and perhaps more")
            break
    if problems:
        raise TaskError("\n".join(problems), f"Fix or remove these lines; a line reads {example}.")
    return items


def _read(text: str, read: Callable[[Any], tuple[Group, str]]) -> tuple[Group, str]:
    """The items of a line, or none and the reason."""
    try:
        return read(json.loads(text))
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError
        return (), "broken JSON"


def _single(row: Any) -> tuple[Group, str]:
    if not isinstance(row, dict):
        return (), "not an object with a prompt and a target"
    problem = next(_problems(row), "")
    if problem:
        return (), problem
    item = TaskPrompt(row.get("kind", "custom"), row["prompt"], row["target"])
    return (item,), ""


def _pair(row: Any) -> tuple[Group, str]:
    if not isinstance(row, dict) or not {"forget", "retain"} <= set(row):
        return (), "not an object with forget and retain"
    both: list[TaskPrompt] = []
    for side in ("forget", "retain"):
        items, problem = _single(row[side])
        if problem:
            return (), f"{side}: {problem}"
        both.extend(items)
    return tuple(both), ""


def _problems(row: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the fields of an item."""
    row = {"kind": "custom", **row}
    for field, longest in (("prompt", MAX_PROMPT), ("target", MAX_TARGET), ("kind", MAX_KIND)):
        value = row.get(field)
        if value is None:
            yield f"the {field} is missing"
        elif not isinstance(value, str):
            yield f"the {field} must be text"
        elif not value.strip():
            yield f"the {field} is empty"
        elif len(value) > longest:
            yield f"the {field} has more than {longest:,} characters"
        elif any("\ud800" <= c <= "\udfff" for c in value):
            yield f"the {field} contains an unpaired surrogate"
