"""What to compute, under which names it is kept, and how to get it: from the store, else from the weights.

A plan is cut into units, one a layer. A unit's key is the hash of everything its result depends on, so a unit asked for
twice is computed once and a run that was stopped goes on where it was. Nothing here loads torch unless it must compute.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import __version__
from analysis.data.relations import Relation
from analysis.errors import HeadError, SettingError, StoreError
from analysis.models.card import HeadId, ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.progress import Progress, silent
from analysis.results.inventory import remember
from analysis.results.provenance import Provenance, libraries, now
from analysis.results.scores import KINDS, TAU, Scores
from analysis.results.store import Store

if TYPE_CHECKING:
    from analysis.compute.weights import Weights

METHOD = "function"
FUNCTION_VERSION = "1"  # raise whenever a score may come out differently
SALIENCE_VERSION = "1"
LARGE_VOCABULARY = 100_000  # from here on k is larger


@dataclass(frozen=True)
class Settings:
    """What a person may choose about the function map."""

    k_copying: int
    k_standard: int
    first_mlp: bool = True

    @classmethod
    def default(cls, vocabulary: int) -> "Settings":
        """The published values: k of 1 and 10, or 3 and 25 for large vocabularies."""
        large = vocabulary >= LARGE_VOCABULARY
        return cls(k_copying=3 if large else 1, k_standard=25 if large else 10)

    def k(self, relation: Relation) -> int:
        """The relation's k."""
        return self.k_copying if relation.k == "copying" else self.k_standard


@dataclass(frozen=True)
class FunctionPlan:
    """The function map of some layers of a model for some relations."""

    model: ModelCard
    relations: tuple[Relation, ...]
    settings: Settings
    layers: tuple[int, ...]

    @property
    def key(self) -> str:
        """The name of the finished result."""
        return f"result/{self.model.fingerprint}/{METHOD}/{self._hash(list(self.layers))}"

    def unit(self, layer: int) -> str:
        """The name of one layer's hits."""
        return f"unit/{self.model.fingerprint}/{METHOD}/{self._hash(layer)}"

    def _hash(self, part: Any) -> str:
        relations = [(relation.name, relation.hash) for relation in self.relations]
        content = [self.model.fingerprint, METHOD, FUNCTION_VERSION, asdict(self.settings), relations, part]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def plan(
    checkpoint: Checkpoint,
    relations: tuple[Relation, ...],
    settings: Settings | None = None,
    layers: Iterable[int] | None = None,
) -> FunctionPlan:
    """The plan for a model, with the published settings and all layers unless told otherwise."""
    card = checkpoint.card
    settings = settings or Settings.default(card.vocabulary)
    for k in (settings.k_copying, settings.k_standard):
        if not 1 <= k < card.vocabulary:
            raise SettingError(f"k = {k} makes no sense", f"Choose 1 to {card.vocabulary - 1}.")
    chosen = card.layers if layers is None else tuple(sorted(set(layers)))
    for layer in chosen:
        if layer not in card.layers:
            raise HeadError(f"{card.id} has no layer {layer}", f"Its layers are {card.layers[0]} to {card.layers[-1]}.")
    return FunctionPlan(card, relations, settings, chosen)


def function_scores(
    checkpoint: Checkpoint, wanted: FunctionPlan, store: Store, device: str = "auto", progress: Progress = silent
) -> Scores:
    """The function map, from the store when it is there; what had to be computed is kept layer by layer."""
    finished = stored_scores(wanted, store)
    if finished is not None:
        return finished
    vocabulary = Vocabulary.open(checkpoint.folder)
    kept = [vocabulary.keep(relation, wanted.model.vocabulary) for relation in wanted.relations]
    usable = [i for i, pairs in enumerate(kept) if len(pairs) >= MIN_PAIRS]
    query = [(kept[i], wanted.settings.k(wanted.relations[i])) for i in usable]
    absent = [layer for layer in wanted.layers if store.get(wanted.unit(layer)) is None]
    used = "stored layers"
    if absent and usable:
        from analysis.compute.weights import Weights, open_device

        weights = Weights(checkpoint, open_device(device))
        used = weights.device_name
        for layer, content in _computed(weights, query, absent, wanted.settings, progress):
            store.put(wanted.unit(layer), content)
    return finish(wanted, [len(pairs) for pairs in kept], store, used)


def finish(wanted: FunctionPlan, kept: Sequence[int], store: Store, device: str) -> Scores:
    """Put a plan's stored layers together, keep the result and list the model."""
    scores = assembled(wanted, kept, store, device)
    store.put(wanted.key, scores.to_parquet())
    remember(store, wanted.model)
    return scores


def assembled(wanted: FunctionPlan, kept: Sequence[int], store: Store, device: str) -> Scores:
    """The scores of the layers that are in the store so far; `kept` counts each relation's usable pairs."""
    shape = (sum(count >= MIN_PAIRS for count in kept), len(KINDS), wanted.model.heads)
    hits = {layer: store.get(wanted.unit(layer)) for layer in wanted.layers}
    arrays = {layer: _array(content, shape) for layer, content in hits.items() if content is not None}
    return Scores.from_hits(arrays, _provenance(wanted, kept, device))


def stored_scores(wanted: FunctionPlan, store: Store) -> Scores | None:
    """The finished map if the store has it, under the name by which the model was opened now: content decides."""
    content = store.get(wanted.key)
    if content is None:
        return None
    try:
        scores = Scores.from_parquet(content)
    except StoreError:  # written by another version
        return None
    return replace(scores, provenance=replace(scores.provenance, model=wanted.model))


def _computed(
    weights: "Weights", query: Sequence[Any], layers: Sequence[int], settings: Settings, progress: Progress
) -> Iterator[tuple[int, bytes]]:
    """Each layer's hits, as they are kept in the store."""
    from analysis.compute.weights import memory_of
    from analysis.methods.function.compute import Query, count_hits

    with memory_of(weights.device):
        for layer, found in count_hits(
            weights, Query.of(query), layers, first_mlp=settings.first_mlp, progress=progress
        ):
            yield layer, found.cpu().numpy().astype("<i4").tobytes()


def _array(content: bytes, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.frombuffer(content, "<i4").reshape(shape)


def _provenance(wanted: FunctionPlan, kept: Sequence[int], device: str) -> Provenance:
    items = tuple(
        {
            "name": relation.name,
            "category": relation.category,
            "title": relation.title,
            "sentence": relation.sentence,
            "k": wanted.settings.k(relation),
            "hash": relation.hash,
            "pairs": len(relation.pairs),
            "kept": count,
            "applicable": count >= MIN_PAIRS,
        }
        for relation, count in zip(wanted.relations, kept, strict=True)
    )
    return Provenance(
        model=wanted.model,
        method=METHOD,
        version=FUNCTION_VERSION,
        settings={**asdict(wanted.settings), "tau": TAU, "min_pairs": MIN_PAIRS, "layers": list(wanted.layers)},
        items=items,
        device=device,
        libraries=libraries(),
        date=now(),
        atlas=__version__,
    )


Salience = list[dict[str, Any]]  # a head's salient tokens, each with what it promotes and suppresses


def salience(
    checkpoint: Checkpoint, head: HeadId, store: Store, device: str = "auto",
    first_mlp: bool = True, progress: Progress = silent,
) -> Salience:  # fmt: skip
    """A head's salient operations with their tokens' texts; the whole layer is computed and kept at once."""
    return layers_salience(checkpoint, [head.layer], store, device, first_mlp, progress)[head.layer][head.head]


def layers_salience(
    checkpoint: Checkpoint, layers: Sequence[int], store: Store, device: str = "auto",
    first_mlp: bool = True, progress: Progress = silent,
) -> dict[int, list[Salience]]:  # fmt: skip
    """The salient operations of every head of some layers; those that are not stored are computed in one pass."""
    card = checkpoint.card
    kept = {layer: store.get(salience_key(card.fingerprint, layer, first_mlp)) for layer in layers}
    absent = [layer for layer, content in kept.items() if content is None]
    found = {layer: json.loads(content) for layer, content in kept.items() if content is not None}
    for layer, content in salience_of(checkpoint, absent, device, first_mlp, progress).items() if absent else ():
        found[layer] = content
        store.put(salience_key(card.fingerprint, layer, first_mlp), json.dumps(content).encode())
        remember(store, card)
    return {layer: found[layer] for layer in layers}


def stored_salience(store: Store, fingerprint: str, head: HeadId, first_mlp: bool = True) -> Salience | None:
    """A head's salient operations if they were computed before."""
    content = store.get(salience_key(fingerprint, head.layer, first_mlp))
    if content is None:
        return None
    layer: list[Salience] = json.loads(content)
    return layer[head.head]


def salience_key(fingerprint: str, layer: int, first_mlp: bool) -> str:
    """The name of one layer's salient tokens in the store."""
    return f"salience/{fingerprint}/{SALIENCE_VERSION}/{layer}/{int(first_mlp)}"


def salience_of(
    checkpoint: Checkpoint, layers: Sequence[int], device: str, first_mlp: bool, progress: Progress
) -> dict[int, list[Salience]]:
    """The salient tokens of every head of some layers, computed now."""
    from analysis.compute.weights import Weights, memory_of, open_device
    from analysis.methods.salience.compute import salient_operations

    vocabulary, weights = Vocabulary.open(checkpoint.folder), Weights(checkpoint, open_device(device))
    with memory_of(weights.device):
        found = salient_operations(weights, layers, first_mlp=first_mlp, progress=progress)

    def named(entries: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
        return [{"token": token, "text": vocabulary.text(token), "value": value} for token, value in entries]

    return {
        layer: [
            [
                {
                    "token": operation.token,
                    "text": vocabulary.text(operation.token),
                    "sigma": operation.sigma,
                    "promoted": named(operation.promoted),
                    "suppressed": named(operation.suppressed),
                }
                for operation in found[HeadId(layer, head)]
            ]
            for head in range(checkpoint.card.heads)
        ]
        for layer in layers
    }
