"""Files that people bring: their own relations (CSV, JSON) and tasks (JSONL), from a disk or over the network."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field

from analysis.errors import HeadAtlasError, RelationError, TaskError
from analysis.settings import Settings, hints

MAX_LINES = 20_000
MAX_BYTES = 10_000_000  # of a file from a disk; over the network less is taken
MAX_FILES = 50
_TASK = ".jsonl"


class OwnFile(Settings):
    """One's own relation (.csv with two columns, .json list of pairs) or task (.jsonl with prompt and target)."""

    name: Annotated[str, Field(max_length=80, pattern=r"^[\w][\w .-]*\.(csv|jsonl?)$")]
    content: Annotated[str, Field(max_length=MAX_BYTES)]

    @property
    def is_task(self) -> bool:
        """It holds prompts with targets rather than pairs of words."""
        return self.name.endswith(_TASK)

    @classmethod
    def read(cls, path: Path) -> "OwnFile":
        """From a disk; a name that would not do over the network is made to."""
        error = TaskError if path.suffix == _TASK else RelationError
        text = _text(path.name, _content(path, error), error)
        stem = re.sub(r"[^\w .-]", "-", path.stem)[:60].lstrip(" .-") or "file"
        ending = path.suffix.lower()
        if ending not in {".csv", ".json", _TASK}:
            ending = ".json" if text.lstrip().startswith("[") else ".csv"
        return cls(name=stem + ending, content=text)


class WithFiles(Settings):
    """Settings of methods that take files of one's own."""

    files: Annotated[list[OwnFile], Field(max_length=MAX_FILES)] = Field(
        [],
        title="Your own relations (CSV or JSON) or tasks (JSONL), optional",
        description="your own relations (CSV, JSON) and tasks (JSONL)",
        json_schema_extra=hints(metavar="FILE"),
    )


def _content(path: Path, error: type[HeadAtlasError]) -> bytes:
    """A file's bytes, but not more than can be used."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror}", "Check the path and its permissions.") from problem
    if len(content) > MAX_BYTES:
        raise error(f"{path.name} is larger than {MAX_BYTES / 1e6:g} MB", f"Give at most {MAX_LINES:,} lines.")
    return content


def _text(name: str, content: bytes, error: type[HeadAtlasError]) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise error(f"{name}, line {line}: not UTF-8 text", "Save the file as UTF-8.") from problem
