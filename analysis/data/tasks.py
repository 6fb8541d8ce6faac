"""Tasks: prompts with what should follow, on which the causal map finds out which heads are needed."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from analysis.data import questions
from analysis.data.questions import Question
from analysis.errors import TaskError

TRAIN = 1_600  # prompts of a kind: no batch of 16 is seen twice within 600 updates
VALIDATION = 40  # prompts of a kind
HELD_OUT = 5  # one question in so many is for validation

MAX_BYTES = 10_000_000  # of a user's file
MAX_ITEMS = 20_000
MIN_ITEMS = 8
MAX_PROMPT = 4_000  # characters
MAX_TARGET = 200
MAX_KIND = 60
_SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Item:
    """A prompt and what should follow it; the loss is on the target alone."""

    kind: str
    prompt: str
    target: str


@dataclass(frozen=True)
class Task:
    """A named set of items; no question of validation is seen in training, not even as a worked example."""

    name: str
    title: str
    sentence: str
    train: tuple[Item, ...]
    validation: tuple[Item, ...]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of items, in the order of their first appearance."""
        return tuple(dict.fromkeys(item.kind for item in self.train + self.validation))

    @cached_property
    def hash(self) -> str:
        """What a score depends on: the items and their order, not the words around them."""
        return _hash(self.train, self.validation)


@dataclass(frozen=True)
class Contrast:
    """Matched pairs: what a model shall no longer say, and what it shall go on saying."""

    name: str
    title: str
    sentence: str
    forget: tuple[Item, ...]
    retain: tuple[Item, ...]  # as many

    @cached_property
    def hash(self) -> str:
        """What a score depends on."""
        return _hash(self.forget, self.retain)


SENTENCES = {
    "math": "Small numbers: arithmetic, comparing, going on counting and one-sentence stories.",
    "syntax": "Another form of the same words: past, plural, pronoun, question, negation.",
    "commonsense": "Everyday questions with four answers to choose from, by letter.",
}
TITLES = {name: name.capitalize() for name in SENTENCES}


@cache
def builtin() -> dict[str, Task]:
    """The tasks that come with the project, by name."""
    return {name: _task(name, sentence) for name, sentence in SENTENCES.items()}


def _task(name: str, sentence: str) -> Task:
    kinds: dict[str, list[Question]] = getattr(questions, name)()
    parts = [_split(kind, asked) for kind, asked in kinds.items()]
    train, validation = (tuple(chain.from_iterable(zip(*part, strict=True))) for part in zip(*parts, strict=True))
    return Task(name, TITLES[name], sentence, train, validation)


def _split(kind: str, asked: list[Question]) -> tuple[list[Item], list[Item]]:
    """Items for training and for validation, in an order that is mixed but always the same."""
    mixed = sorted(asked, key=lambda question: _digest(question.asked))
    seen = [question for question in mixed if not _held_out(question.key)]
    unseen = [question for question in mixed if _held_out(question.key)]
    return _items(kind, seen, seen, TRAIN), _items(kind, unseen, seen, VALIDATION)


def _items(kind: str, asked: list[Question], examples: list[Question], count: int) -> list[Item]:
    """So many items, each question with as many worked examples as that takes."""
    items: list[Item] = []
    for shift in range(1, len(examples)):
        for at, question in enumerate(asked):
            example = examples[(at + shift) % len(examples)]
            if example.key != question.key:
                items.append(
                    Item(kind, f"{example.asked}{example.answer}{example.rest}\n{question.asked}", question.answer)
                )
            if len(items) == count:
                return sorted(items, key=lambda item: _digest(item.prompt))
    raise ValueError(f"{kind}: {len(items)} items cannot be {count}")


def _hash(*groups: tuple[Item, ...]) -> str:
    content = [[[item.kind, item.prompt, item.target] for item in items] for items in groups]
    return _digest(json.dumps(content, ensure_ascii=False)).hex()[:16]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _held_out(key: str) -> bool:
    return _digest(key)[0] % HELD_OUT == 0


def choose(names: Sequence[str]) -> tuple[Task, ...]:
    """Tasks by name, or from files of one's own."""
    found = []
    for name in names:
        if name in builtin():
            found.append(builtin()[name])
        elif Path(name).suffix == ".jsonl":
            found.append(read_task(Path(name).name, file_content(Path(name))))
        else:
            raise TaskError(f"there is no task {name[:100]!r}", f"Choose from {', '.join(builtin())}, or a file.jsonl.")
    return tuple(found)


def file_content(path: Path) -> bytes:
    """A file's bytes, but not more than can be used."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TaskError(f"{path} cannot be read: {error.strerror}", "Check the path and its permissions.") from error


def read_task(name: str, content: bytes) -> Task:
    """A user's own task: JSONL with "prompt", "target" and perhaps "kind"; one item in five is for validation."""
    items = [item for (item,) in _checked(_lines(name, content), name, _single, _EXAMPLE)]
    if len(items) < MIN_ITEMS:
        raise TaskError(f"{name} holds {len(items)} items", f"Give at least {MIN_ITEMS}, one a line, as {_EXAMPLE}.")
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
    sentence = f"Heads that what is to be forgotten in {name} needs, and what is to be kept does not."
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


Group = tuple[Item, ...]  # what stands on a line: an item, or the two of a pair


def _checked(
    lines: Iterable[tuple[int, str]], name: str, read: Callable[[Any], tuple[Group, str]], example: str
) -> list[Group]:
    """What the lines of a file hold, or one error that lists what is wrong on which line."""
    first_line: dict[tuple[str, ...], int] = {}
    items: list[Group] = []
    problems: list[str] = []
    for line, text in lines:
        if not text.strip():
            continue
        found, problem = _read(text, read)
        prompts = tuple(item.prompt for item in found)
        if not problem and prompts in first_line:
            problem = f"repeats the prompt of line {first_line[prompts]}"
        if problem:
            problems.append(f"{name}, line {line}: {problem}")
        else:
            first_line[prompts] = line
            items.append(found)
        if len(items) > MAX_ITEMS:
            raise TaskError(f"{name} has more than {MAX_ITEMS:,} items", "Keep a part of them.")
        if len(problems) == _SHOWN_PROBLEMS:
            problems.append("… and perhaps more")
            break
    if problems:
        raise TaskError("\n".join(problems), f"Mend or remove these lines; a line reads {example}.")
    return items


def _read(text: str, read: Callable[[Any], tuple[Group, str]]) -> tuple[Group, str]:
    """What a line holds, or nothing and the reason."""
    try:
        return read(json.loads(text))
    except (ValueError, RecursionError):  # a number of too many digits is a ValueError
        return (), "broken JSON"


def _single(row: Any) -> tuple[Group, str]:
    if not isinstance(row, dict):
        return (), "not an object with a prompt and a target"
    problem = next(_problems(row), "")
    return ((), problem) if problem else ((Item(row.get("kind", "custom"), row["prompt"], row["target"]),), "")


def _pair(row: Any) -> tuple[Group, str]:
    if not isinstance(row, dict) or not {"forget", "retain"} <= set(row):
        return (), "not an object with forget and retain"
    sides = {side: _single(row[side]) for side in ("forget", "retain")}
    problem = next((f"{side}: {problem}" for side, (_, problem) in sides.items() if problem), "")
    return ((), problem) if problem else ((*sides["forget"][0], *sides["retain"][0]), "")


def _problems(row: dict[str, Any]) -> Iterator[str]:
    for field, longest in (("prompt", MAX_PROMPT), ("target", MAX_TARGET), ("kind", MAX_KIND)):
        value = row.get(field, "custom" if field == "kind" else None)
        if value is None:
            yield f"the {field} is missing"
        elif not isinstance(value, str):
            yield f"the {field} must be text"
        elif not value.strip():
            yield f"the {field} is empty"
        elif len(value) > longest:
            yield f"the {field} has more than {longest:,} characters"
        elif any("\ud800" <= c <= "\udfff" for c in value):
            yield f"the {field} holds half of a character (a lone surrogate)"
