"""Relations: lists of (source, target) word pairs; a head may map one to the other."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from analysis.data.files import MAX_BYTES, MAX_LINES
from analysis.errors import RelationError

Category = Literal["algorithmic", "knowledge", "linguistic", "translation", "custom"]
CATEGORIES: tuple[Category, ...] = ("algorithmic", "knowledge", "linguistic", "translation", "custom")

OWN: Category = "custom"  # of relations that people bring themselves

KKind = Literal["copying", "standard"]

FLOOR = 0.05  # the lowest score that is reported with its control and the pairs behind it
MAX_PAIRS = MAX_LINES
MAX_WORD = 100  # characters
_SHOWN_PROBLEMS = 10
_FORMULA = re.compile(r"^'*[=+@-]")  # how a word begins that a spreadsheet runs, or that has apostrophes against that
_GUARDED = re.compile(r"^'(?='*[=+@-])")  # the apostrophe that `as_csv` puts before it

WordPair = tuple[str, str]


@dataclass(frozen=True)
class Relation:
    """A named list of word pairs, with the texts that describe it."""

    name: str
    category: Category
    title: str
    sentence: str
    k: KKind  # copying is judged by a stricter k
    source: str
    pairs: tuple[WordPair, ...]
    phrase: str = ""  # what a head that implements it does; those that people bring have none

    @cached_property
    def hash(self) -> str:
        """What a score depends on: the pairs and the kind of k, not the words around them."""
        content = json.dumps([self.k, self.pairs], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@cache
def builtin() -> dict[str, Relation]:
    """The relations that come with the project, by name, in the order of their categories."""
    folder = files("analysis") / "data" / "relations"
    relations: list[Relation] = []
    for file in folder.iterdir():
        if file.name.endswith(".json"):
            relations.append(_from_object(json.loads(file.read_text("utf-8"))))
    relations.sort(key=lambda relation: (CATEGORIES.index(relation.category), relation.name))
    return {relation.name: relation for relation in relations}


def titles() -> list[tuple[str, str]]:
    """Name and title of the relations that come with the project, in the same order."""
    return [(relation.name, relation.title) for relation in builtin().values()]


def choose(wanted: Iterable[str]) -> tuple[Relation, ...]:
    """Built-in relations by name or category."""
    chosen: dict[str, Relation] = {}
    for name in wanted:
        relations = _builtin_called(name)
        if not relations:
            raise RelationError(
                f"there is no relation or file called {name[:80]!r}",
                f"Built in: {', '.join(builtin())}; or a category: {', '.join(CATEGORIES[:-1])}. "
                "A file holds a JSON list of pairs or a two-column CSV.",
            )
        for relation in relations:
            chosen[relation.name] = relation
    return tuple(chosen.values())


def _builtin_called(name: str) -> list[Relation]:
    """The built-in relation of that name, or all of that category."""
    if name in builtin():
        return [builtin()[name]]
    return [relation for relation in builtin().values() if relation.category == name]


def parse(content: bytes, filename: str) -> Relation:
    """A user's relation from the bytes of a file; `filename` gives its name and says whether it is CSV or JSON."""
    if len(content) > MAX_BYTES:
        raise RelationError(f"{filename} is larger than {MAX_BYTES / 1e6:g} MB", f"Give at most {MAX_PAIRS:,} pairs.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise RelationError(f"{filename}, line {line}: not UTF-8 text", "Save the file as UTF-8.") from error
    name, suffix = Path(filename).stem, Path(filename).suffix.lower()
    is_json = suffix == ".json" or (suffix != ".csv" and text.lstrip().startswith("["))
    rows = _json_rows(text, filename) if is_json else _csv_rows(text, filename)
    pairs = _checked(rows, filename)
    return Relation(
        name=name,
        category=OWN,
        title=name.replace("_", " "),
        sentence=f"Maps the first word of each pair in {filename} to the second.",
        k="standard",
        source=f"{filename}, {len(pairs)} pairs",
        pairs=pairs,
    )


def as_csv(pairs: Iterable[WordPair]) -> str:
    """Pairs as a file that can be brought again; a word that a spreadsheet would run has an apostrophe before it."""
    sink = io.StringIO()
    rows = [("source", "target")]
    for source, target in pairs:
        rows.append((_FORMULA.sub(r"'\g<0>", source), _FORMULA.sub(r"'\g<0>", target)))
    csv.writer(sink, lineterminator="\n").writerows(rows)
    return sink.getvalue()


def _from_object(fields: dict[str, Any]) -> Relation:
    pairs = tuple((source, target) for source, target in fields["pairs"])
    return Relation(**{**fields, "pairs": pairs})


Row = tuple[str, Any]  # its place in the file ("line 3" of a CSV, "pair 3" of a JSON list), and what stands there


def _csv_rows(text: str, filename: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for number, row in enumerate(reader):
            cells = [_GUARDED.sub("", cell.strip()) for cell in row]
            header = number == 0 and [cell.lower() for cell in cells] == ["source", "target"]
            if any(cells) and not header:
                yield f"line {reader.line_num}", cells
    except csv.Error as error:
        raise RelationError(f"{filename}, line {reader.line_num}: {error}", "Give two columns.") from error


_JSON_HINT = 'Give a list of pairs such as [["France", "Paris"], ["Italy", "Rome"]].'
_JSON_REASONS = {"Extra data": "text after the list", "Expecting ',' delimiter": "',' is missing"}


def _json_rows(text: str, filename: str) -> Iterator[Row]:
    """The items of a JSON list."""
    try:
        items = json.loads(text)
    except json.JSONDecodeError as error:
        reason = _JSON_REASONS.get(error.msg, "broken JSON")
        raise RelationError(f"{filename}, line {error.lineno}: {reason}", _JSON_HINT) from error
    except RecursionError as error:
        raise RelationError(f"{filename}: nested too deeply", _JSON_HINT) from error
    except ValueError as error:  # Python reads no integer of more than 4,300 digits
        raise RelationError(f"{filename}: a number with too many digits", _JSON_HINT) from error
    if not isinstance(items, list):
        raise RelationError(f"{filename}, line 1: '[' is missing", _JSON_HINT)
    for number, item in enumerate(items, 1):
        yield f"pair {number}", item


def _checked(rows: Iterator[Row], filename: str) -> tuple[WordPair, ...]:
    """The pairs of a file, or one error that lists what is wrong and where."""
    first_place: dict[WordPair, str] = {}
    problems: list[str] = []
    for place, row in rows:
        pair, problem = _pair(row)
        if pair is not None and pair in first_place:
            problem = f"repeats {first_place[pair]}"
        if problem:
            problems.append(f"{filename}, {place}: {problem}")
        elif pair is not None:
            first_place[pair] = place
        if len(first_place) > MAX_PAIRS:
            raise RelationError(f"{filename} has more than {MAX_PAIRS:,} pairs", "Keep the most common ones.")
        if len(problems) == _SHOWN_PROBLEMS:
            problems.append("… and perhaps more")
            break
    if problems:
        raise RelationError("\n".join(problems), "Fix or remove these; nothing was computed.")
    if not first_place:
        raise RelationError(f"{filename} holds no pairs", "Give one source and one target word per line.")
    return tuple(first_place)


def _pair(row: Any) -> tuple[WordPair | None, str]:
    """A row as a pair of words, or the reason why it is none."""
    if not isinstance(row, list):
        return None, "not a pair"
    if len(row) != 2:
        return None, f"expected two columns, found {len(row)}"
    source, target = row
    if not isinstance(source, str) or not isinstance(target, str):
        return None, "both must be text"
    source, target = source.strip(), target.strip()
    if not source or not target:
        return None, "an empty word"
    if any("\ud800" <= character <= "\udfff" for character in source + target):
        return None, "an unpaired surrogate"
    if max(len(source), len(target)) > MAX_WORD:
        return None, f"a word of more than {MAX_WORD} characters"
    return (source, target), ""
