"""The pairs behind a model's labels as a file, and those that come with the project: told without the weights."""

import io
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.resources import files

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.models.card import HeadId
from analysis.relations.head_pairs import TOP, HeadPairs, RankedPair
from analysis.results.parquet import read_table
from analysis.results.provenance import JsonObject

ENDING = ".pairs.parquet"
_TABLES = 4  # that stay in memory, some megabytes each
_reading = threading.Lock()  # so that many who ask at once do not unpack the same file many times
_LISTS = {  # what it says of every pair; of `top` TOP tokens
    "source": pa.string(),
    "target": pa.string(),
    "rank": pa.int32(),
    "source_rank": pa.int32(),
    "top": pa.string(),
}

KeyedAnswers = Iterable[tuple[str, HeadPairs]]  # each under the key of the step that would compute it


def to_parquet(answers: KeyedAnswers) -> bytes:
    """One row per answer; words and numbers of its pairs as lists, in the order of the words, which then repeat.

    Answers for the same head and relation stand together, because what they say differs little from sample to sample.
    """
    rows = []
    for key, answer in sorted(answers, key=_place):
        pairs = sorted(answer.pairs, key=lambda pair: (pair.source, pair.target))
        row: JsonObject = {name: value for name, value in asdict(answer).items() if name != "pairs"}
        row |= {"key": key, "top": [token for pair in pairs for token in pair.top]}
        for name in ("source", "target", "rank", "source_rank"):
            row[name] = [getattr(pair, name) for pair in pairs]
        rows.append(row)
    schema = pa.schema([("key", pa.string()), *_once(), *((name, pa.list_(kind)) for name, kind in _LISTS.items())])
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows, schema)
    pq.write_table(table, sink, compression="zstd", compression_level=19, use_dictionary=["top.list.element"])
    return sink.getvalue()


def _place(answer: tuple[str, HeadPairs]) -> tuple[str, ...]:
    """What the rows are ordered by; the samples of one score stay in their own order."""
    _, pairs = answer
    return (pairs.method, pairs.relation, pairs.kind, pairs.head)


def _once() -> list[tuple[str, pa.DataType]]:
    """What an answer says once."""
    texts = ("method", "relation", "title", "kind", "sample", "head")
    return [*((name, pa.string()) for name in texts), ("k", pa.int32()), ("vocabulary", pa.int32())]


def from_parquet(content: bytes, key: str) -> HeadPairs | None:
    """The answer under a key, if the file has it."""
    keys = read_table(content, ["key"])["key"].to_pylist()
    return _row(read_table(content), keys.index(key)) if key in keys else None


def _row(table: pa.Table, number: int) -> HeadPairs:
    """One answer of a file's table."""
    [row] = table.slice(number, 1).to_pylist()
    once = {name: row[name] for name, _ in _once()}
    pairs = []
    for place, rank in enumerate(row["rank"]):
        top = tuple(row["top"][place * TOP : (place + 1) * TOP])
        words = row["source"][place], row["target"][place]
        pairs.append(RankedPair(*words, rank <= row["k"], rank, row["source_rank"][place], top))
    pairs.sort(key=lambda pair: (pair.rank, pair.source, pair.target))
    return HeadPairs(**once, pairs=tuple(pairs))


def shipped_pairs(key: str) -> HeadPairs | None:
    """The answer under a key from the files that come with the project."""
    if not are_shipped(key):
        return None
    name, number = _shipped_keys()[key]
    with _reading:
        table = _shipped_table(name)
    return _row(table, number)


def are_shipped(key: str) -> bool:
    """Whether the answer under a key comes with the project."""
    return key in _shipped_keys()


@lru_cache(_TABLES)
def _shipped_table(name: str) -> pa.Table:
    """A file as it is kept in memory, where a row of it is found in no time: unpacking it takes up to half a second."""
    return read_table((files("analysis") / "data" / "results" / name).read_bytes())


@dataclass(frozen=True)
class Hits:
    """The pairs behind a label whose target is a hit, source and target, by the samples in which they are one."""

    samples: Mapping[str, frozenset[tuple[str, str]]]

    def first_sample(self, pair: tuple[str, str]) -> str | None:
        """The first sample in which a pair is a hit; None if it is one in none of them."""
        return next((sample for sample, pairs in self.samples.items() if pair in pairs), None)


def shipped_hits(model: str, fingerprint: str, method: str, relation: str, kind: str, head: HeadId) -> Hits | None:
    """The hits of a label from the files that come with the project, of a map with its method's default settings."""
    return _shipped_hits(model, fingerprint).get((method, relation, kind, str(head)))


@cache
def _shipped_hits(model: str, fingerprint: str) -> dict[tuple[str, ...], Hits]:
    """Those of all labels of one checkpoint, by method, relation, kind and head."""
    file = files("analysis") / "data" / "results" / f"{model}{ENDING}"
    if "/" in model or not file.is_file():
        return {}
    once, lists = ["key", "method", "relation", "kind", "head", "sample", "k"], ["source", "target", "rank"]
    hits_of: dict[tuple[str, ...], dict[str, frozenset[tuple[str, str]]]] = {}
    for row in read_table(file.read_bytes(), [*once, *lists]).to_pylist():
        if row["key"].split("/")[1] != fingerprint:
            continue
        pairs = zip(row["source"], row["target"], row["rank"], strict=True)
        hits = frozenset((source, target) for source, target, rank in pairs if rank <= row["k"])
        label = (row["method"], row["relation"], row["kind"], row["head"])
        hits_of.setdefault(label, {})[row["sample"]] = hits
    return {label: Hits(samples) for label, samples in hits_of.items()}


@cache
def _shipped_keys() -> dict[str, tuple[str, int]]:
    """Which file has which answer, and in which row."""
    keys: dict[str, tuple[str, int]] = {}
    for file in (files("analysis") / "data" / "results").iterdir():
        if file.name.endswith(ENDING):
            for number, key in enumerate(read_table(file.read_bytes(), ["key"])["key"].to_pylist()):
                keys[key] = (file.name, number)
    return keys
