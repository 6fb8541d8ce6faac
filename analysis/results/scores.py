"""Scores: one number for every item, kind, sample, layer and head, with a reason where one is missing."""

import gzip
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import xarray as xr

from analysis.errors import SettingError, StoreError
from analysis.models.card import HeadId
from analysis.results.parquet import read_table
from analysis.results.provenance import JsonObject, PlainValues, Provenance, ScoredItem

DIMS = ("item", "kind", "sample", "layer", "head")
PART_DIMS = ("item", "sample", "layer", "head")
COLUMNS = ("model", "revision", "method", "item", "kind", "sample", "layer", "head", "score", "hits", "pairs")
ONLY_SAMPLE = "all"  # the sample of methods that do not sample
OLDER = "items of an older version"  # a record that the method turns into parts and records of today

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]

_METADATA = b"head-atlas"


OVER_SAMPLES = ("mean", "every", "some")
SHARE_OF_HITS = "beyond"  # how the name of a part begins that is a share of the hits, not of all pairs

_REDUCERS: Mapping[str, Callable[[xr.DataArray], xr.DataArray]] = {
    "first": lambda array: array.isel(sample=0, drop=True),
    "mean": lambda array: array.mean("sample", skipna=False),
    "every": lambda array: array.min("sample", skipna=False),
    "some": lambda array: array.max("sample", skipna=False),
}


class Missing(IntEnum):
    """Why a score is missing."""

    PRESENT = 0  # nothing is missing: there is a score
    NOT_COMPUTED = 1
    NOT_APPLICABLE = 2  # too few pairs are single tokens of this model
    FAILED = 3
    RUNNING = 4  # being computed

    @property
    def words(self) -> str:
        """The reason as a person reads it."""
        if self is Missing.RUNNING:
            return "being computed"  # "running" would be read as a kind of map
        return self.name.lower().replace("_", " ") if self else ""


@dataclass(frozen=True, eq=False)  # each is itself: a view may remember what it derived from it
class Scores:
    """The scores of one method on one model. Missing is NaN with a reason, never 0."""

    score: xr.DataArray  # DIMS, float64 in [0, 1] or NaN
    hits: xr.DataArray  # DIMS, float64: whole numbers (or the mean of some) or NaN
    missing: xr.DataArray  # DIMS, int8: a `Missing`
    provenance: Provenance
    parts: Mapping[str, xr.DataArray] = field(default_factory=dict)  # PART_DIMS: what else has one value per head
    records: PlainValues = field(default_factory=dict)  # what has not, such as curves; typed by the method that made it
    columns: Mapping[str, pa.Array] = field(default_factory=dict)  # what else belongs to each score, in its order
    _reduced: "dict[str, Scores]" = field(default_factory=dict, init=False, repr=False)  # by how samples became one

    def __post_init__(self) -> None:
        """Columns run along the scores."""
        for name, column in self.columns.items():
            if len(column) != self.score.size:
                raise ValueError(f"{name} has {len(column)} values for {self.score.size} scores")

    def items(self, category: str | None = None) -> list[str]:
        """The applicable items, of one category if asked."""
        wanted = (item for item in self.provenance.items if category in (None, item.category))
        return [item.name for item in wanted if item.applicable]

    def item(self, name: str) -> ScoredItem:
        """What the provenance says of an item."""
        return next(item for item in self.provenance.items if item.name == name)

    def over_samples(self, how: str) -> "Scores":
        """One score in place of several samples': their mean, the smallest (`every`), the largest (`some`), or one's.

        `how` is one of `OVER_SAMPLES` or the name of a sample. Missing when one is missing. The parts of the smallest
        and the largest are those of the sample that decides, the first of equal ones. Those of the mean are means over
        the samples in which they were measured; what is a share of the hits is pooled: each sample weighs as much as
        it has hits. The controls of a score for a relation are measured from a least score on, so where some samples
        stay below it their mean is of the others: rather too high than too low.
        """
        samples = self.samples
        if samples == [ONLY_SAMPLE]:
            return self
        if how not in self._reduced:
            is_one = how in samples
            self._reduced[how] = self._of_samples([how], "first") if is_one else self._of_samples(samples, how)
        return self._reduced[how]

    @property
    def samples(self) -> list[str]:
        """The names of the samples."""
        return [str(name) for name in self.score.sample.values]

    @property
    def kinds(self) -> list[str]:
        """The names of the kinds of score."""
        return [str(name) for name in self.score.kind.values]

    def has_sample(self, how: str) -> bool:
        """Whether `over_samples` can take its samples together so."""
        return how in OVER_SAMPLES or how in self.samples

    def _of_samples(self, samples: list[str], how: str) -> "Scores":
        def one(array: xr.DataArray, how: str) -> xr.DataArray:
            reduced = _REDUCERS[how](array.sel(sample=samples))
            return reduced.expand_dims(sample=[ONLY_SAMPLE]).transpose(*array.dims)

        parts = {}
        for name, part in self.parts.items():
            parts[name] = one(part, how) if how == "first" else self._part_of_samples(name, part, how)
        missing = one(self.missing, "some").astype("int8")
        score, hits = one(self.score, how), one(self.hits, how)
        return replace(self, score=score, hits=hits, missing=missing, parts=parts, columns={})

    def _part_of_samples(self, name: str, part: xr.DataArray, how: str) -> xr.DataArray:
        """A part in place of several samples'; one that belongs to no kind of score is the mean of those there are."""
        kind = next((kind for kind in self.kinds if name.endswith(f" {kind}")), None)
        if kind is None:
            reduced = part.mean("sample", skipna=True)
        elif how == "mean":
            hits = self.hits.sel(kind=kind, drop=True).reindex(item=part["item"])
            weights = hits if name.startswith(SHARE_OF_HITS) else xr.ones_like(part)
            reduced = part.weighted(weights.where(part.notnull(), 0.0)).mean("sample", skipna=True)
        else:
            score = self.score.sel(kind=kind, drop=True).reindex(item=part["item"])
            ordered = score.fillna(np.inf) if how == "every" else -score.fillna(-np.inf)
            reduced = part.isel(sample=ordered.argmin("sample"), drop=True)
        if "sample" in reduced.coords:
            reduced = reduced.drop_vars("sample")
        return reduced.expand_dims(sample=[ONLY_SAMPLE]).transpose(*part.dims)

    def part(self, name: str, item: str, sample: str = ONLY_SAMPLE) -> Floats | None:  # [layer, head]
        """One value per head of an item from a named part; None where it was not measured."""
        array = self.parts.get(name)
        if array is None or item not in array["item"] or sample not in array["sample"]:
            return None
        values = np.asarray(array.sel(item=item, sample=sample).values, dtype=np.float64)
        return None if np.isnan(values).all() else values

    def top(self, item: str, count: int, kind: str = "") -> list[tuple[HeadId, float, float]]:
        """The heads with the highest scores for an item: head, score, hits; equal scores in order of the heads.

        Of the first kind of score unless another is named.
        """
        chosen = {"item": item, "kind": kind or self.kinds[0], "sample": ONLY_SAMPLE}
        score, hits = self.score.sel(chosen), self.hits.sel(chosen).values
        values = score.values
        best = np.argsort(-np.nan_to_num(values.ravel(), nan=-1.0), kind="stable")[:count]
        rows = []
        for i, j in zip(*np.unravel_index(best, values.shape), strict=True):
            if not np.isnan(values[i, j]):
                rows.append((HeadId(int(score.layer[i]), int(j)), float(values[i, j]), float(hits[i, j])))
        return rows

    def rank(self, item: str, head: HeadId, kind: str = "") -> int:
        """1 for the head with the highest score; equal scores share the better rank."""
        score = self.score.sel(item=item, kind=kind or self.kinds[0], sample=ONLY_SAMPLE)
        return int(ranks(score.values)[score.layer.values.tolist().index(head.layer), head.head])

    def to_frame(self) -> pd.DataFrame:
        """Long format, one row per score, with the columns `COLUMNS`."""
        return self._frame(self.score, self.hits.values.ravel())

    def _frame(self, values: xr.DataArray, hits: Floats) -> pd.DataFrame:
        """Some values [item, kind, sample, layer, head] in long format."""
        card = self.provenance.model
        frame = values.to_series().rename("score").reset_index()
        kept = {item.name: item.kept for item in self.provenance.items}
        whole = np.isnan(hits) | (hits == np.round(hits))
        if whole.all():
            frame["hits"] = pd.arrays.IntegerArray(np.nan_to_num(hits).astype("int64"), np.isnan(hits))
        else:
            frame["hits"] = hits
        frame["pairs"] = frame["item"].map(kept)
        frame.insert(0, "model", card.id)
        frame.insert(1, "revision", card.revision)
        frame.insert(2, "method", self.provenance.method)
        return frame[list(COLUMNS)]

    def _part_frames(self) -> list[pd.DataFrame]:
        """The parts in the same long format: the kind is the part's name."""
        frames = []
        for name, array in self.parts.items():
            values = array.expand_dims({"kind": [name]}).transpose(*DIMS)
            frames.append(self._frame(values, np.full(values.size, np.nan)))
        return frames

    def content_hash(self) -> str:
        """SHA-256 of what was computed: the same for the same numbers, whenever and wherever they were made."""
        made = self.provenance
        items = [replace(item, computed="").to_plain() for item in made.items]
        said = [made.model.fingerprint, made.method, made.version, made.settings, items, self.kinds, self.records]
        content = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
        arrays = {"score": self.score, "hits": self.hits, "missing": self.missing, **self.parts}
        for name, array in arrays.items():
            values = np.asarray(array.values, dtype=np.float64) + 0.0  # no -0.0
            content.update(json.dumps([name, values.shape, array.sample.values.tolist()]).encode())
            content.update(np.where(np.isnan(values), np.nan, values).tobytes())  # one NaN of many
        for name, column in self.columns.items():
            content.update(json.dumps([name, column.to_pylist()]).encode())
        return content.hexdigest()

    def to_parquet(self) -> bytes:
        """The long format, parts and columns included; provenance, records and why scores are missing as metadata."""
        frame = pd.concat([self.to_frame(), *self._part_frames()], ignore_index=True)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for name, column in self.columns.items():
            of_parts = pa.nulls(table.num_rows - len(column), column.type)
            table = table.append_column(name, pa.chunked_array([column, of_parts]))
        samples = {name: array.sample.values.tolist() for name, array in self.parts.items()}
        metadata = {
            _METADATA: self.provenance.to_json().encode(),
            _METADATA + b"-missing": self.missing.values.tobytes(),
            _METADATA + b"-parts": json.dumps(samples).encode(),
            _METADATA + b"-records": gzip.compress(json.dumps(self.records).encode(), mtime=0),
        }
        sink = io.BytesIO()
        names = ["model", "revision", "method", "item", "kind", "sample"]
        pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd", use_dictionary=names)
        return sink.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> Self:
        """The inverse of `to_parquet`."""
        try:
            return cls._from_table(read_table(content))
        except (pa.ArrowException, KeyError, ValueError, TypeError, AttributeError) as error:
            raise StoreError("this is not a result of Head Atlas", "Compute it again.") from error

    @classmethod
    def _from_table(cls, table: pa.Table) -> Self:
        metadata = table.schema.metadata or {}
        provenance = Provenance.from_json(metadata[_METADATA])
        samples_of_part = json.loads(metadata.get(_METADATA + b"-parts", b"{}"))
        card, items = provenance.model, len(provenance.items)
        sizes = {
            name: items * len(samples) * len(card.layers) * card.heads for name, samples in samples_of_part.items()
        }
        own = table.slice(0, table.num_rows - sum(sizes.values()))
        kinds, samples = (tuple(dict.fromkeys(own[name].to_pylist())) for name in ("kind", "sample"))
        coords = _coords(provenance, samples, kinds)
        shape = tuple(len(coords[dim]) for dim in DIMS)
        hits = own["hits"].to_pandas(use_threads=False).astype("Float64").to_numpy(float, na_value=np.nan)
        missing = np.frombuffer(metadata[_METADATA + b"-missing"], np.int8)
        numbers = (own["score"].to_numpy(), hits, missing)
        arrays = [xr.DataArray(values.reshape(shape), coords, DIMS) for values in numbers]
        parts, start = {}, own.num_rows
        for name, labels in samples_of_part.items():
            values = table["score"].slice(start, sizes[name]).to_numpy()
            parts[name] = part_array(provenance, labels, values)
            start += sizes[name]
        if _METADATA + b"-records" in metadata:
            records = json.loads(gzip.decompress(metadata[_METADATA + b"-records"]))
        else:  # a file of an older version: what its method kept inside the provenance
            records = {OLDER: json.loads(metadata[_METADATA])["items"]}
        columns = {name: own[name].combine_chunks() for name in own.column_names if name not in COLUMNS}
        return cls(arrays[0], arrays[1], arrays[2], provenance, parts, records, columns)


def check_sample(how: str, results: Iterable[Scores]) -> None:
    """Refuse what is neither a way of taking samples together nor a sample of any of the results."""
    if how in OVER_SAMPLES:
        return
    names: list[str] = []
    for scores in results:
        if scores.has_sample(how):
            return
        names += scores.samples
    there = ", ".join(dict.fromkeys((*OVER_SAMPLES, *names)))
    raise SettingError(f"there is no sample {how[:80]!r}", f"There are: {there}.")


def scores_of(
    score: Floats,
    hits: Floats,
    missing: npt.NDArray[np.int8],
    provenance: Provenance,
    samples: Sequence[str],
    kinds: Sequence[str],
    parts: Mapping[str, xr.DataArray] | None = None,
) -> Scores:
    """Numbers [item, kind, sample, layer, head] as a result."""
    coords = _coords(provenance, samples, kinds)
    arrays = [xr.DataArray(values, coords, DIMS) for values in (score, hits, missing)]
    return Scores(arrays[0], arrays[1], arrays[2], provenance, parts or {})


def part_array(provenance: Provenance, samples: Sequence[str], values: np.ndarray[Any, Any]) -> xr.DataArray:
    """Numbers as a part of a result: [item, sample, layer, head]."""
    coords = _coords(provenance, samples, ())
    del coords["kind"]
    shape = tuple(len(coords[dim]) for dim in PART_DIMS)
    return xr.DataArray(np.asarray(values, dtype=np.float64).reshape(shape), coords, PART_DIMS)


def any_of(scores: xr.DataArray, dim: str) -> xr.DataArray:
    """The largest score along a dimension: above τ when any is. Missing scores are passed over."""
    return scores.max(dim, skipna=True)


def always_of(scores: xr.DataArray, dim: str) -> xr.DataArray:
    """The smallest score along a dimension: above τ when all are. Missing when one is missing."""
    return scores.min(dim, skipna=False)


def over_present(scores: xr.DataArray, how: str) -> xr.DataArray:
    """The mean, the smallest (`every`) or the largest (`some`) of the samples that are present."""
    there = {"mean": scores.mean, "every": scores.min, "some": scores.max}
    return there[how]("sample", skipna=True)


def ranks(values: Floats) -> npt.NDArray[np.intp]:
    """The rank of every value among all: 1 for the largest, equal ones share the better rank, NaN comes last."""
    flat = np.nan_to_num(values, nan=-np.inf).ravel()
    return (np.searchsorted(np.sort(-flat), -flat, side="left") + 1).reshape(values.shape)


def _coords(provenance: Provenance, samples: Sequence[str], kinds: Sequence[str]) -> dict[str, list[Any]]:
    card = provenance.model
    items = [item.name for item in provenance.items]
    return dict(zip(DIMS, (items, list(kinds), list(samples), list(card.layers), list(range(card.heads))), strict=True))


def used_results(results: Mapping[str, Scores]) -> list[JsonObject]:
    """The results that an answer was made of, as the API names them."""
    return [scores.provenance.in_short() for scores in results.values()]
