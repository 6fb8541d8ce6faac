"""The pairs behind a model's scores as a file, and those that come with the project: told without the weights.

A row is an answer. The answers of one relation are a row group, which is all that is read for one of them. Words are
numbers in one list of the whole file, the commonest first; what an answer says of its pairs are arrays of numbers as
bytes, which compress to half of what lists of Parquet's own do.
"""

import io
import json
import lzma
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.models.card import HeadId
from analysis.relations.head_pairs import TOP, HeadPairs, RankedPair
from analysis.results.parquet import parquet_file
from analysis.results.provenance import JsonObject

ENDING = ".pairs.parquet"
_GROUPS = 64  # of a file that stay in memory, each a relation's answers of one map: some hundred kilobytes
_WORDS = b"head-atlas-words"
_reading = threading.Lock()  # so that many who ask at once do not unpack the same answers many times
_ONCE = {  # what an answer says once
    "key": pa.string(),
    "method": pa.string(),
    "relation": pa.string(),
    "title": pa.string(),
    "kind": pa.string(),
    "sample": pa.string(),
    "head": pa.string(),
    "k": pa.int32(),
    "vocabulary": pa.int32(),
}
_RANKS = ("rank", "source_rank")  # numbers below 2 ** 32, as four planes of bytes: the upper ones hardly vary
_TEXTS = ("source", "target", "top")  # numbers of words; of `top` TOP tokens a pair, place by place

KeyedAnswers = Iterable[tuple[str, HeadPairs]]  # each under the key of the step that would compute it


# Writing --------------------------------------------------------------------------------------------------------------


def to_parquet(answers: KeyedAnswers) -> bytes:
    """A file of some answers.

    Those for the same head and relation stand together, because what they say differs little from sample to sample.
    """
    ordered = sorted(answers, key=_place)
    words = _words([answer for _, answer in ordered])
    numbers = {word: number for number, word in enumerate(words)}
    columns = {**_ONCE, **dict.fromkeys((*_TEXTS, *_RANKS), pa.binary())}
    packed = lzma.compress(json.dumps(words, ensure_ascii=False).encode())
    schema = pa.schema(list(columns.items()))
    sink = io.BytesIO()
    with pq.ParquetWriter(
        sink,
        schema,
        compression="brotli",
        compression_level=11,
        use_dictionary=[name for name in _ONCE if name != "key"],
        write_statistics=False,
        store_schema=False,
        data_page_size=1 << 26,  # what repeats is found within a page
    ) as writer:
        for _, group in groupby(ordered, _group):
            rows = [_row_of(key, answer, numbers) for key, answer in group]
            writer.write_table(pa.Table.from_pylist(rows, schema))
        writer.add_key_value_metadata({_WORDS: packed})
    return sink.getvalue()


def _group(answer: tuple[str, HeadPairs]) -> tuple[str, ...]:
    """The answers that are read together."""
    _, pairs = answer
    return (pairs.method, pairs.relation)


def _place(answer: tuple[str, HeadPairs]) -> tuple[str, ...]:
    """What the rows are ordered by; the samples of one score stay in their own order."""
    _, pairs = answer
    return (pairs.method, pairs.relation, pairs.kind, pairs.head)


def _words(answers: Sequence[HeadPairs]) -> list[str]:
    """All words of some answers, the commonest first."""
    counts: Counter[str] = Counter()
    for answer in answers:
        for pair in answer.pairs:
            counts.update((pair.source, pair.target, *pair.top))
    return sorted(counts, key=lambda word: (-counts[word], word))


def _row_of(key: str, answer: HeadPairs, numbers: dict[str, int]) -> JsonObject:
    """An answer as a row, its pairs in the order of their words: the same in every row of a relation."""
    pairs = sorted(answer.pairs, key=lambda pair: (pair.source, pair.target))
    row = {name: getattr(answer, name) for name in _ONCE if name != "key"}
    width = _width(len(numbers))
    for name in ("source", "target"):
        row[name] = np.array([numbers[getattr(pair, name)] for pair in pairs], width).tobytes()
    row["top"] = np.array([numbers[token] for pair in pairs for token in pair.top], width).tobytes()
    for name in _RANKS:
        ranks = np.array([getattr(pair, name) for pair in pairs], "<u4")
        row[name] = ranks.view(np.uint8).reshape(-1, 4).T.tobytes()
    return {"key": key, **row}


# Reading --------------------------------------------------------------------------------------------------------------


class _PairsFile:
    """A file whose answers are read one relation at a time."""

    def __init__(self, content: bytes) -> None:
        self._file = parquet_file(content)
        packed = (self._file.metadata.metadata or {}).get(_WORDS)
        self._words: list[str] | None = None if packed is None else json.loads(lzma.decompress(packed))
        self.groups = self._file.num_row_groups
        self.table = lru_cache(_GROUPS)(self._table)

    def once(self, group: int) -> list[JsonObject]:
        """What the answers of a row group say once."""
        rows: list[JsonObject] = self._file.read_row_group(group, list(_ONCE), use_threads=False).to_pylist()
        return rows

    def _table(self, group: int) -> pa.Table:
        return self._file.read_row_group(group, use_threads=False)

    def answer(self, group: int, number: int) -> HeadPairs:
        """One answer, the best rank first."""
        [row] = self.table(group).slice(number, 1).to_pylist()
        pairs = []
        for source, target, rank, source_rank, top in self._pairs(row):
            pairs.append(RankedPair(source, target, rank <= row["k"], rank, source_rank, tuple(top)))
        pairs.sort(key=lambda pair: (pair.rank, pair.source, pair.target))
        return HeadPairs(**{name: row[name] for name in _ONCE if name != "key"}, pairs=tuple(pairs))

    def _pairs(self, row: JsonObject) -> Iterator[tuple[str, str, int, int, list[str]]]:
        """Words and ranks of each pair; in older files they stand as they are."""
        columns = row if self._words is None else _unpacked(row, self._words)
        tops = [columns["top"][start : start + TOP] for start in range(0, len(columns["top"]), TOP)]
        yield from zip(*(columns[name] for name in ("source", "target", *_RANKS)), tops, strict=True)


def _unpacked(row: JsonObject, words: list[str]) -> JsonObject:
    """The arrays of an answer as lists of words and numbers."""
    width = _width(len(words))
    columns: JsonObject = {}
    for name in _TEXTS:
        columns[name] = [words[number] for number in np.frombuffer(row[name], width)]
    for name in _RANKS:
        planes = np.frombuffer(row[name], np.uint8).reshape(4, -1)
        columns[name] = np.ascontiguousarray(planes.T).view("<u4").ravel().tolist()
    return columns


def _width(words: int) -> str:
    """The type of the numbers of so many words."""
    return "<u2" if words <= 1 << 16 else "<u4"


def from_parquet(content: bytes, key: str) -> HeadPairs | None:
    """The answer under a key, if the file has it."""
    file = _PairsFile(content)
    for group in range(file.groups):
        for number, row in enumerate(file.once(group)):
            if row["key"] == key:
                return file.answer(group, number)
    return None


# What ships -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _AnswerRow:
    """Where an answer stands."""

    file: str
    group: int
    number: int

    def read(self) -> HeadPairs:
        """The answer."""
        with _reading:
            file = _shipped_file(self.file)
            file.table(self.group)
        return file.answer(self.group, self.number)


@dataclass(frozen=True)
class Hits:
    """The pairs behind a score whose target is a hit, source and target, by the samples in which they are one."""

    samples: Mapping[str, frozenset[tuple[str, str]]]

    def first_sample(self, pair: tuple[str, str]) -> str | None:
        """The first sample in which a pair is a hit; None if it is one in none of them."""
        return next((sample for sample, pairs in self.samples.items() if pair in pairs), None)


def shipped_pairs(key: str) -> HeadPairs | None:
    """The answer under a key from the files that come with the project."""
    place = _shipped_keys().get(key)
    return None if place is None else place.read()


def are_shipped(key: str) -> bool:
    """Whether the answer under a key comes with the project."""
    return key in _shipped_keys()


def shipped_hits(model: str, fingerprint: str, method: str, relation: str, kind: str, head: HeadId) -> Hits | None:
    """The hits of a score from the files that come with the project, of a map with its method's default settings."""
    places = _places().get((f"{model}{ENDING}", fingerprint, method, relation, kind, str(head)), ())
    if not places:
        return None
    hits = [_hits(place) for place in places]
    return Hits(dict(hits))


@lru_cache(4096)
def _hits(place: _AnswerRow) -> tuple[str, frozenset[tuple[str, str]]]:
    """The sample of an answer, and its hits."""
    answer = place.read()
    return answer.sample, frozenset((pair.source, pair.target) for pair in answer.pairs if pair.hit)


@cache
def _shipped_file(name: str) -> _PairsFile:
    """A file that comes with the project."""
    return _PairsFile((files("analysis") / "data" / "results" / name).read_bytes())


@cache
def _shipped_rows() -> list[tuple[_AnswerRow, JsonObject]]:
    """All answers that come with the project: where each stands and what it says once."""
    with _reading:
        return list(_rows_of_files())


def _rows_of_files() -> Iterator[tuple[_AnswerRow, JsonObject]]:
    for path in sorted((files("analysis") / "data" / "results").iterdir(), key=lambda path: path.name):
        if path.name.endswith(ENDING):
            file = _shipped_file(path.name)
            for group in range(file.groups):
                for number, once in enumerate(file.once(group)):
                    yield _AnswerRow(path.name, group, number), once


@cache
def _shipped_keys() -> dict[str, _AnswerRow]:
    """Where the answer under each key stands."""
    return {once["key"]: place for place, once in _shipped_rows()}


@cache
def _places() -> dict[tuple[str, ...], list[_AnswerRow]]:
    """Where the answers of each score stand, one per sample."""
    places: dict[tuple[str, ...], list[_AnswerRow]] = {}
    for place, once in _shipped_rows():
        score = tuple(once[name] for name in ("method", "relation", "kind", "head"))
        places.setdefault((place.file, once["key"].split("/")[1], *score), []).append(place)
    return places
