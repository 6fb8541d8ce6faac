"""The function map as steps: first which pairs are single tokens of the model, then the hits, layer by layer.

A layer's name in the store is the hash of everything its hits depend on, so a layer that two requests share is computed
once and a run that was stopped goes on where it was.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.data.relations import Relation
from analysis.methods.method import digest
from analysis.models.card import ModelCard
from analysis.models.opened import OpenModel
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.progress import Progress
from analysis.results.provenance import Item, Provenance
from analysis.results.scores import KINDS, TAU, Scores
from analysis.results.store import Store

NAME = "function"
VERSION = "1"  # raise whenever a score may come out differently


@dataclass(frozen=True)
class PairsStep:
    """Which pairs of each relation are single tokens of the model."""

    key: str
    relations: tuple[Relation, ...]
    words: str = "finding single tokens"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Ask the tokenizer."""
        vocabulary = Vocabulary.open(model.checkpoint.folder)
        size = model.checkpoint.card.vocabulary
        kept = [vocabulary.keep(relation, size) for relation in self.relations]
        yield self.key, json.dumps(kept).encode()


@dataclass(frozen=True)
class LayersStep:
    """The hits of every usable relation in some layers."""

    names: tuple[tuple[int, str], ...]  # each layer and the name under which its hits are kept
    pairs: bytes  # of all relations, as `PairsStep` gave them
    ks: tuple[int, ...]  # of all relations
    first_mlp: bool
    words: str = ""

    @property
    def key(self) -> str:
        """The name of its first layer, and how many there are."""
        return self.names[0][1] if len(self.names) == 1 else f"{self.names[0][1]}-{len(self.names)}"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Each layer as soon as it is counted."""
        from analysis.compute.weights import Weights, memory_of, open_device
        from analysis.methods.function.compute import HitCounter, Query

        def make() -> tuple[Weights, HitCounter]:
            weights = Weights(model.checkpoint, open_device(model.device))
            relations = zip(json.loads(self.pairs), self.ks, strict=True)
            with memory_of(weights.device):
                usable = [(pairs, k) for pairs, k in relations if len(pairs) >= MIN_PAIRS]
                return weights, HitCounter(weights, Query.of(usable), self.first_mlp)

        weights, counter = model.keep((NAME, self.pairs, self.ks, self.first_mlp), make)
        model.device_name = weights.device_name
        names = dict(self.names)
        with memory_of(weights.device):
            for layer, hits in counter.count(list(names), progress):
                yield names[layer], hits.cpu().numpy().astype("<i4").tobytes()


@dataclass(frozen=True)
class FunctionPlan:
    """The function map of some layers of a model for some relations."""

    card: ModelCard
    relations: tuple[Relation, ...]
    k_copying: int
    k_standard: int
    first_mlp: bool
    layers: tuple[int, ...]

    @property
    def key(self) -> str:
        """The name of the finished result."""
        return f"result/{self.card.fingerprint}/{NAME}/{self._hash(list(self.layers))}"

    @cached_property
    def pairs_name(self) -> str:
        """The name of the relations' pairs of single tokens."""
        return f"unit/{self.card.fingerprint}/{NAME}/{self._hash('pairs')}"

    def layer_name(self, layer: int) -> str:
        """The name of one layer's hits."""
        return f"unit/{self.card.fingerprint}/{NAME}/{self._hash(layer)}"

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Layers."""
        return len(self.layers)

    def left(self, store: Store) -> int:
        """Layers that are not in the store; none when no relation is of use for this model."""
        return len(self._absent(store)) if self._usable(store) else 0

    def ready(self, store: Store, at_once: int = 1) -> Sequence[PairsStep | LayersStep]:
        """The pairs, then the layers that are not in the store."""
        pairs = store.get(self.pairs_name)
        if pairs is None:
            return [PairsStep(self.pairs_name, self.relations)]
        if not self._usable(store):
            return []
        ks = tuple(self.k(relation) for relation in self.relations)
        absent = self._absent(store)
        steps = []
        for start in range(0, len(absent), at_once):
            names = tuple((layer, self.layer_name(layer)) for layer in absent[start : start + at_once])
            steps.append(LayersStep(names, pairs, ks, self.first_mlp))
        return steps

    def keep(self, step: Any, name: str, content: bytes, store: Store) -> None:
        """Pairs and layers stand under their own names."""
        store.put(name, content)

    def assembled(self, store: Store, device: str) -> Scores | None:
        """The scores of the layers that are in the store so far; nothing before the pairs are known."""
        pairs = store.get(self.pairs_name)
        if pairs is None:
            return None
        kept = [len(of_relation) for of_relation in json.loads(pairs)]
        shape = (sum(count >= MIN_PAIRS for count in kept), len(KINDS), self.card.heads)
        hits = {}
        for layer in self.layers:
            content = store.get(self.layer_name(layer))
            if content is not None:
                hits[layer] = np.frombuffer(content, "<i4").reshape(shape)
        return Scores.from_hits(hits, self._provenance(kept, device))

    def remarks(self, store: Store) -> tuple[str, ...]:
        """One's own relations that are of no use for this model."""
        pairs = store.get(self.pairs_name)
        if pairs is None:
            return ()
        remarks = []
        for relation, kept in zip(self.relations, json.loads(pairs), strict=True):
            if relation.category == "custom" and len(kept) < MIN_PAIRS:
                share = f"{len(kept)} of {len(relation.pairs)} pairs are single tokens of this model"
                remarks.append(f"{relation.title} is not applicable: {share}")
        return tuple(remarks)

    def k(self, relation: Relation) -> int:
        """The relation's k."""
        return self.k_copying if relation.k == "copying" else self.k_standard

    def _usable(self, store: Store) -> bool:
        """Whether some relation has enough pairs of single tokens, as far as is known."""
        pairs = store.get(self.pairs_name)
        return pairs is None or any(len(kept) >= MIN_PAIRS for kept in json.loads(pairs))

    def _absent(self, store: Store) -> list[int]:
        return [layer for layer in self.layers if not store.contains(self.layer_name(layer))]

    def _provenance(self, kept: Sequence[int], device: str) -> Provenance:
        items = []
        for relation, count in zip(self.relations, kept, strict=True):
            item = Item(
                name=relation.name,
                title=relation.title,
                category=relation.category,
                sentence=relation.sentence,
                hash=relation.hash,
                pairs=len(relation.pairs),
                kept=count,
                applicable=count >= MIN_PAIRS,
                k=self.k(relation),
            )
            items.append(item)
        settings = {**self._settings, "tau": TAU, "min_pairs": MIN_PAIRS, "layers": list(self.layers)}
        return Provenance.now(self.card, NAME, VERSION, settings, tuple(items), device)

    @property
    def _settings(self) -> dict[str, int | bool]:
        return {"k_copying": self.k_copying, "k_standard": self.k_standard, "first_mlp": self.first_mlp}

    def _hash(self, part: Any) -> str:
        relations = [(relation.name, relation.hash) for relation in self.relations]
        return digest([self.card.fingerprint, NAME, VERSION, self._settings, relations, part])
