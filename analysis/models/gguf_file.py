"""A GGUF file as llama.cpp writes it: what it says about its model and where its tensors are. No weights here.

Layout: magic, version, counts, metadata (key, type, value), the table of tensors, then their data, all little-endian.
A large model may be split into parts (name-00001-of-00003.gguf); the first part has the metadata, all have tensors.
"""

import math
import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, LlamaFileType

from analysis.errors import DamagedFile, MissingShard, ModelNotFound, UnsupportedDtype

Metadata = dict[str, Any]  # by key, as the file has them: texts, numbers and lists of these

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)  # version 1 counted in 32 bits and is not in use any more
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MAX_DIMENSIONS = 8
_MAX_PARTS = 1_000
_MAX_HEADER = 256_000_000  # bytes; the largest vocabularies take 20 million
_MAX_COUNT = 10_000_000  # of tensors, entries and values in lists together
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE | re.DOTALL)
_AGAIN = "Download it again; the size must be the one that its source gives."


@dataclass(frozen=True)
class GgufTensor:
    """Where one tensor is stored, how, and its shape in torch's order."""

    name: str
    kind: GGMLQuantizationType
    shape: tuple[int, ...]
    file: Path
    start: int  # first byte in the file
    stop: int


@dataclass(frozen=True)
class GgufFile:
    """What a GGUF file of one or several parts says about its model."""

    paths: tuple[Path, ...]  # of the parts, in order
    metadata: Metadata
    tensors: tuple[GgufTensor, ...]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the header of a file, and of all other parts if it is one part of several."""
        metadata, tensors = _read_header(path)
        count = metadata.get("split.count", 1)
        if not isinstance(count, int) or count <= 1:
            return cls((path,), metadata, tuple(tensors))
        paths = _all_parts(path, count)
        metadata, tensors = _read_header(paths[0])
        for other in paths[1:]:
            tensors += _read_header(other)[1]
        if len({tensor.name for tensor in tensors}) != metadata.get("split.tensors.count", len(tensors)):
            raise DamagedFile(f"the parts of {path.name} do not belong to one model", "Download all of them again.")
        return cls(paths, metadata, tuple(tensors))

    @property
    def name(self) -> str:
        """The name of the file, or of its first part."""
        return self.paths[0].name

    @property
    def architecture(self) -> str:
        """As llama.cpp names it."""
        return str(self.metadata.get("general.architecture", ""))

    def about(self, key: str, default: Any = None) -> Any:
        """What the metadata say about this architecture, for example its block_count."""
        return self.metadata.get(f"{self.architecture}.{key}", default)

    @property
    def numbers(self) -> int:
        """How many weights there are in all."""
        return sum(math.prod(tensor.shape) for tensor in self.tensors)

    @property
    def quantisation(self) -> str:
        """As llama.cpp names it, for example Q4_K_M: what the file says, else the type of most weights."""
        try:
            said = LlamaFileType(self.metadata["general.file_type"])
        except (KeyError, ValueError):
            said = LlamaFileType.GUESSED
        if said != LlamaFileType.GUESSED:
            return said.name.removeprefix("MOSTLY_").removeprefix("ALL_")
        weights: dict[str, int] = {}
        for tensor in self.tensors:
            weights[tensor.kind.name] = weights.get(tensor.kind.name, 0) + math.prod(tensor.shape)
        return max(weights, key=lambda kind: weights[kind], default="F32")


def begins_like_gguf(path: Path) -> bool:
    """Whether it is such a file, whatever its name: Ollama names files by their hash alone."""
    try:
        if not path.is_file():  # opening a pipe may block indefinitely
            return False
        with path.open("rb") as stream:
            return stream.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def part_names(name: str) -> list[str]:
    """The names of all parts when this is the name of one, else only the name.

    A name that speaks of more parts than any model has is only a name: each of them would be looked for on the disk.
    """
    match = _PART.fullmatch(name)
    if match is None or int(match["count"]) > _MAX_PARTS:
        return [name]
    return [f"{match['stem']}-{number:05}-of-{match['count']}.gguf" for number in range(1, int(match["count"]) + 1)]


def _all_parts(path: Path, count: int) -> tuple[Path, ...]:
    names = part_names(path.name)
    if len(names) != count:
        raise MissingShard(
            f"{path.name} is one of {count} parts of a model, and its name does not say which",
            f"Name the parts as llama.cpp does: name-00001-of-{count:05}.gguf and so on.",
        )
    for name in names:
        if not (path.parent / name).is_file():
            raise MissingShard(f"the part {name} is missing", "Download it; all parts must be in one folder.")
    return tuple(path.parent / name for name in names)


def _read_header(path: Path) -> tuple[Metadata, list[GgufTensor]]:
    if path.exists() and not path.is_file():  # opening a pipe may block indefinitely
        raise DamagedFile(f"{path.name} is not a regular file", "Copy it from the model's source.")
    try:
        with path.open("rb") as stream:
            return _Header(path, stream).read()
    except FileNotFoundError:
        raise ModelNotFound(f"there is no file {path}", "Check the path.") from None
    except (struct.error, ValueError, TypeError, OverflowError) as error:
        raise DamagedFile(f"the header of {path.name} is truncated or cannot be read", _AGAIN) from error
    except OSError as error:
        raise DamagedFile(f"{path.name} cannot be read: {error.strerror}", "Check its permissions.") from error


class _Header:
    """The part of a file before its data, read from front to back; what no model has or goes too far is refused."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size
        self._bytes_left, self._counts_left = min(self._size, _MAX_HEADER), _MAX_COUNT

    def read(self) -> tuple[Metadata, list[GgufTensor]]:
        if self._stream.read(len(_MAGIC)) != _MAGIC:
            raise DamagedFile(f"{self._path.name} is not a GGUF file", "Its first four bytes must be GGUF.")
        version = self._number("I")
        if version not in _VERSIONS:
            raise DamagedFile(
                f"{self._path.name} is of GGUF version {version}",
                "Only little-endian files of versions 2 and 3 are supported.",
            )
        tensors, entries = self._count(), self._count()
        metadata: Metadata = {}
        for _ in range(entries):
            key = self._string()
            if key in metadata:
                raise ValueError(key)
            metadata[key] = self._value(self._number("I"))
        return metadata, self._tensors(tensors, metadata)

    def _tensors(self, count: int, metadata: Metadata) -> list[GgufTensor]:
        table = []
        for _ in range(count):
            name, dimensions = self._string(), self._number("I")
            if dimensions > _MAX_DIMENSIONS:
                raise ValueError(dimensions)
            shape = [self._number("Q") for _ in range(dimensions)]
            table.append((name, tuple(reversed(shape)), self._number("I"), self._number("Q")))
        alignment = int(metadata.get("general.alignment", 32))
        if alignment < 1:
            raise ValueError(alignment)
        base = -(-self._stream.tell() // alignment) * alignment
        tensors = []
        for name, shape_of, kind, offset in table:
            tensors.append(self._tensor(name, shape_of, kind, base + offset))
        if len({tensor.name for tensor in tensors}) != len(tensors):
            raise ValueError("a tensor is there twice")
        return tensors

    def _tensor(self, name: str, shape: tuple[int, ...], number: int, start: int) -> GgufTensor:
        try:
            kind = GGMLQuantizationType(number)
        except ValueError:
            raise UnsupportedDtype(
                f"{name} of {self._path.name} has the unknown type {number}",
                "Use a file of a common kind, such as Q4_K_M, Q8_0 or F16, or update the gguf package.",
            ) from None
        per_block, block = GGML_QUANT_SIZES[kind]
        if shape and shape[-1] % per_block:
            raise ValueError(shape)
        stop = start + math.prod(shape) // per_block * block
        if stop > self._size:
            raise DamagedFile(f"{self._path.name} is truncated: {name} ends beyond its end", _AGAIN)
        return GgufTensor(name, kind, shape, self._path, start, stop)

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._number(_NUMBERS.get(kind, ""))
        kind, count = self._number("I"), self._count()
        if kind == _STRING:
            return [self._string() for _ in range(count)]
        letter = _NUMBERS.get(kind, "")
        if not letter:
            raise ValueError(kind)
        return list(struct.unpack(f"<{count}{letter}", self._bytes(count * struct.calcsize(f"<{letter}"))))

    def _count(self) -> int:
        """A number of things that follow."""
        count: int = self._number("Q")
        self._counts_left -= count
        if self._counts_left < 0:
            raise ValueError("no model has so many values in its header")
        return count

    def _string(self) -> str:
        return self._bytes(self._number("Q")).decode("utf-8", errors="replace")

    def _number(self, letter: str) -> Any:
        (number,) = struct.unpack(f"<{letter}", self._bytes(struct.calcsize(f"<{letter}")))
        return number

    def _bytes(self, count: int) -> bytes:
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise ValueError("the file ends here, or its header is larger than any model's")
        content = self._stream.read(count)
        if len(content) < count:
            raise ValueError("the file ends here")
        return content
