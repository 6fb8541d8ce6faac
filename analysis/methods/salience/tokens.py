"""Salient tokens as a result: σ of each head's strongest tokens as scores, the tokens themselves as a record."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import xarray as xr
from pydantic import BaseModel, ConfigDict, TypeAdapter

from analysis.models.card import HeadId, ModelCard
from analysis.results.provenance import Item, Provenance
from analysis.results.scores import DIMS, Missing, Scores

NAME = "salience"
TITLE = "Salient tokens"
VERSION = "1"  # raise whenever a token or σ may come out differently
KIND = "sigma"
TOKENS = 15  # per head
SENTENCE = "The tokens whose vector the head stretches most (σ), and what it then makes more and less likely."


class Entry(BaseModel):
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
    promoted: tuple[Entry, ...]
    suppressed: tuple[Entry, ...]


_LAYER = TypeAdapter(tuple[tuple[SalientToken, ...], ...])  # the heads of a layer


def salience_scores(
    card: ModelCard, texts: Mapping[int, str], first_mlp: bool, device: str, provenance: Provenance | None = None
) -> Scores:
    """The result from each layer's JSON; other layers are *not computed*.

    The JSON of a layer stays text until somebody asks for one of its heads: of a big model it has millions of tokens.
    """
    item = Item(NAME, TITLE, NAME, SENTENCE)
    made = provenance or Provenance.now(card, NAME, VERSION, {"first_mlp": first_mlp}, (item,), device)
    shape = (1, 1, TOKENS, len(card.layers), card.heads)
    score, missing = np.full(shape, np.nan), np.full(shape, Missing.NOT_COMPUTED, np.int8)
    for layer, text in texts.items():
        at = card.layers.index(layer)
        missing[:, :, :, at] = Missing.PRESENT
        for head, tokens in enumerate(json.loads(text)):
            for rank, token in enumerate(tokens[:TOKENS]):
                score[0, 0, rank, at, head] = token["sigma"]
    ranks = [str(rank + 1) for rank in range(TOKENS)]
    labels = ([NAME], [KIND], ranks, list(card.layers), list(range(card.heads)))
    coords = dict(zip(DIMS, labels, strict=True))
    arrays = [xr.DataArray(values, coords, DIMS) for values in (score, np.full(shape, np.nan), missing)]
    records = {NAME: {str(layer): text for layer, text in texts.items()}}
    return Scores(arrays[0], arrays[1], arrays[2], made, records=records)


def salient_tokens(scores: Scores, head: HeadId) -> tuple[SalientToken, ...] | None:
    """A head's salient tokens, the strongest first; None when its layer was not computed."""
    text = scores.records.get(NAME, {}).get(str(head.layer))
    return None if text is None else _of_layer(text)[head.head]


@lru_cache(maxsize=16)
def _of_layer(text: str) -> tuple[tuple[SalientToken, ...], ...]:
    return _LAYER.validate_json(text)


def joined_layers(results: Sequence[Scores]) -> Scores:
    """One result with the layers of several, each layer from the first that has it."""
    first = results[0]
    texts: dict[int, str] = {}
    for scores in results:
        for layer, text in scores.records[NAME].items():
            texts.setdefault(int(layer), text)
    return salience_scores(first.provenance.model, texts, True, "", first.provenance)
