"""Salient tokens as a result: σ of each head's strongest tokens as scores, the tokens themselves as its columns.

The tokens stay in columns until somebody asks for one head's: a big model has nearly a million of them.
"""

import io
import json
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import xarray as xr
from pydantic import BaseModel, ConfigDict

from analysis.models.card import HeadId, ModelCard
from analysis.results.parquet import read_table
from analysis.results.provenance import JsonObject, Provenance, ScoredItem
from analysis.results.scores import DIMS, Missing, Scores

NAME = "salience"
TITLE = "Salient tokens"
VERSION = "1"  # raise whenever a token or σ may come out differently
KIND = "sigma"
TOKENS = 15  # per head
SENTENCE = (
    "From the weights alone: the tokens whose vector the head stretches most (σ), and what it then makes more and less "
    "likely."
)


_ENTRY = pa.struct([("text", pa.string()), ("token", pa.int32()), ("value", pa.float32())])
_SIGMA = pa.field("sigma", pa.float64())
_COLUMNS = [
    pa.field("token", pa.int32()),
    pa.field("text", pa.string()),
    pa.field("promoted", pa.list_(_ENTRY)),
    pa.field("suppressed", pa.list_(_ENTRY)),
]
_LAYER = pa.schema([_SIGMA, *_COLUMNS])  # rows run over ranks, then heads; null where a head has fewer tokens


class OutputToken(BaseModel):
    """A token that a head promotes or suppresses, and by how much; files that ship have the text alone."""

    model_config = ConfigDict(frozen=True)
    text: str
    token: int | None = None
    value: float | None = None


class SalientToken(BaseModel):
    """A token on which a head acts strongly, with the tokens that it then promotes and suppresses most."""

    model_config = ConfigDict(frozen=True)
    text: str
    sigma: float
    token: int | None = None
    promoted: tuple[OutputToken, ...]
    suppressed: tuple[OutputToken, ...]


def layer_table(heads: Sequence[Sequence[JsonObject]]) -> pa.Table:
    """The salient tokens of each head of a layer, the strongest first, as a table."""
    rows: list[JsonObject | None] = []
    for rank in range(TOKENS):
        for tokens in heads:
            rows.append(tokens[rank] if rank < len(tokens) else None)
    columns = []
    for field in _LAYER:
        values = [None if row is None else row.get(field.name) for row in rows]
        columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=_LAYER)


def layer_bytes(table: pa.Table) -> bytes:
    """A layer as the store keeps it."""
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def read_layer(content: bytes) -> pa.Table:
    """The inverse of `layer_bytes`; the first version kept JSON."""
    if content[:1] == b"[":
        return layer_table(json.loads(content))
    return read_table(content).cast(_LAYER)


def salience_scores(
    card: ModelCard, layers: Mapping[int, pa.Table], first_mlp: bool, device: str, provenance: Provenance | None = None
) -> Scores:
    """The result from each layer's table; other layers are *not computed*."""
    item = ScoredItem(NAME, TITLE, NAME, SENTENCE)
    made = provenance or Provenance.now(card, NAME, VERSION, {"first_mlp": first_mlp}, (item,), device)
    shape = (1, 1, TOKENS, len(card.layers), card.heads)
    table = _in_order(card, layers)
    missing = np.full(shape, Missing.NOT_COMPUTED, np.int8)
    for layer in layers:
        missing[:, :, :, card.layers.index(layer)] = Missing.PRESENT
    score = table[_SIGMA.name].to_numpy().reshape(shape)
    ranks = [str(rank + 1) for rank in range(TOKENS)]
    labels = ([NAME], [KIND], ranks, list(card.layers), list(range(card.heads)))
    coords = dict(zip(DIMS, labels, strict=True))
    arrays = [xr.DataArray(values, coords, DIMS) for values in (score, np.full(shape, np.nan), missing)]
    columns = {field.name: table[field.name].combine_chunks() for field in _COLUMNS}
    return Scores(arrays[0], arrays[1], arrays[2], made, columns=columns)


def _in_order(card: ModelCard, layers: Mapping[int, pa.Table]) -> pa.Table:
    """All layers as one table in the order of scores: ranks, layers, heads; null where a layer is not there."""
    place: npt.NDArray[np.int64] = np.full((TOKENS, len(card.layers), card.heads), -1)
    size = TOKENS * card.heads
    for index, layer in enumerate(layers):
        rows = np.arange(index * size, (index + 1) * size).reshape(TOKENS, card.heads)
        place[:, card.layers.index(layer)] = rows
    together = pa.concat_tables([_LAYER.empty_table(), *layers.values()])
    flat = place.ravel()
    return together.combine_chunks().take(pa.array(flat, mask=flat < 0))


def salient_tokens(scores: Scores, head: HeadId) -> tuple[SalientToken, ...] | None:
    """A head's salient tokens, the strongest first; None when its layer was not computed."""
    card = scores.provenance.model
    at = card.layers.index(head.layer)
    if not scores.columns or scores.missing.values[0, 0, 0, at, head.head] != Missing.PRESENT:
        return None
    rows = pa.array((np.arange(TOKENS) * len(card.layers) + at) * card.heads + head.head)
    columns = {name: column.take(rows).to_pylist() for name, column in scores.columns.items()}
    tokens = []
    for rank, sigma in enumerate(scores.score.values[0, 0, :, at, head.head].tolist()):
        values = {name: column[rank] for name, column in columns.items()}
        if values["text"] is not None:
            tokens.append(SalientToken(sigma=sigma, **values))
    return tuple(tokens)


def joined_layers(results: Sequence[Scores]) -> Scores:
    """One result with the layers of several, each layer from the first that has it."""
    card, first = results[0].provenance.model, results[0].provenance
    layers: dict[int, pa.Table] = {}
    for scores in results:
        for layer in computed_layers(scores):
            if layer not in layers:
                layers[layer] = _layer_of(scores, layer)
    return salience_scores(card, layers, True, "", first)


def computed_layers(scores: Scores) -> list[int]:
    """Those whose tokens the result has."""
    there = scores.missing.values[0, 0, 0, :, 0] == Missing.PRESENT
    return [layer for layer, is_there in zip(scores.provenance.model.layers, there, strict=True) if is_there]


def _layer_of(scores: Scores, layer: int) -> pa.Table:
    """One layer of a result as a table of its own."""
    card = scores.provenance.model
    shape = (TOKENS, len(card.layers), card.heads)
    rows = np.arange(np.prod(shape)).reshape(shape)[:, card.layers.index(layer)].ravel()
    sigma = pa.array(scores.score.values.ravel()[rows], _SIGMA.type, from_pandas=True)
    return pa.table([sigma, *(scores.columns[field.name].take(pa.array(rows)) for field in _COLUMNS)], schema=_LAYER)


def upgraded(scores: Scores) -> Scores:
    """A result of the first version, which kept each layer's tokens as JSON in a record."""
    texts = scores.records.get(NAME)
    if not texts:
        return scores
    layers = {int(layer): layer_table(json.loads(text)) for layer, text in texts.items()}
    return salience_scores(scores.provenance.model, layers, True, "", scores.provenance)
