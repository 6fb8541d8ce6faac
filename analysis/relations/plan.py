"""Scores for relations as steps: first which pairs the tokenizer can represent, then the hits, layer by layer.

A layer's name in the store is the hash of everything its hits depend on, so a layer that two requests share is computed
once and a run that was stopped goes on where it was.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from analysis.data.relations import OWN, Relation
from analysis.errors import RelationError
from analysis.method import Step, digest
from analysis.models.card import ModelCard
from analysis.models.vocabulary import MIN_PAIRS
from analysis.relations.layer import RelationLayer, scores_of_layers
from analysis.relations.scores import TAU
from analysis.relations.steps import LayersStep, PairsStep, Reader
from analysis.results.own_sets import PAIRS, SETTING, default_name
from analysis.results.provenance import JsonObject, Provenance, ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Scores
from analysis.results.store import Store

StoredSource = int | list[int]  # a token, or several, as the JSON of the usable pairs has them


@dataclass(frozen=True, kw_only=True)
class RelationPlan(ABC):
    """Some layers of a model scored for some relations, in one or several samples."""

    name: ClassVar[str]
    version: ClassVar[str]

    card: ModelCard
    relations: tuple[Relation, ...]
    k_copying: int
    k_standard: int
    layers: tuple[int, ...]
    set_name: str = ""  # what one's own relations are called together; nothing that is computed depends on it

    # ---- What a method says of its own --------------------------------------------------------------------------

    @property
    def samples(self) -> tuple[str, ...]:
        """What each head is scored on, one after the other."""
        return (ONLY_SAMPLE,)

    @abstractmethod
    def settings(self) -> JsonObject:
        """What the numbers depend on besides relations and samples."""

    def described(self) -> JsonObject:
        """What the provenance says of them."""
        return self.settings()

    @abstractmethod
    def reader(self, sample: str) -> Reader:
        """How heads and sources are read in a sample."""

    @property
    def several(self) -> bool:
        """Whether sources may have several tokens."""
        return False

    # ---- The plan ------------------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The name of the finished result."""
        return f"result/{self.card.fingerprint}/{self.name}/{self._hash([self.samples, self.layers])}"

    @cached_property
    def pairs_name(self) -> str:
        """The name of the relations' usable pairs."""
        return f"unit/{self.card.fingerprint}/{self.name}/{self._hash('pairs')}"

    def layer_name(self, layer: int, sample: str = ONLY_SAMPLE) -> str:
        """The name of one layer's numbers."""
        return f"unit/{self.card.fingerprint}/{self.name}/{self._hash([sample, layer])}"

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Layers of all samples."""
        return len(self.samples) * len(self.layers)

    def left(self, store: Store) -> int:
        """Layers that are not in the store; none when no relation is of use for this model."""
        if not self._usable(store):
            return 0
        return sum(len(self._absent(store, sample)) for sample in self.samples)

    def ready(self, store: Store, at_once: int = 1) -> Sequence[Step]:
        """The pairs, then the layers that are not in the store, one sample after the other."""
        pairs = store.get(self.pairs_name)
        if pairs is None:
            return [PairsStep(self.pairs_name, self.relations, self.several)]
        self._refuse_useless(pairs)
        if not self._usable(store):
            return []
        steps: list[Step] = []
        for sample in self.samples:
            absent = self._absent(store, sample)
            for start in range(0, len(absent), at_once):
                names = tuple((layer, self.layer_name(layer, sample)) for layer in absent[start : start + at_once])
                doing = self._counted(sample, absent[start])
                steps.append(LayersStep(names, pairs, self.ks, self.reader(sample), doing=doing))
        return steps

    def keep(self, step: Any, name: str, content: bytes, store: Store) -> None:
        """Pairs and layers stand under their own names."""
        store.put(name, content)

    def assembled(self, store: Store, device: str) -> Scores | None:
        """The scores of the layers that are in the store so far; nothing before the pairs are known."""
        pairs = store.get(self.pairs_name)
        if pairs is None:
            return None
        kept = json.loads(pairs)
        usable = sum(len(of_relation) >= MIN_PAIRS for of_relation in kept)
        layers = {}
        for sample in self.samples:
            for layer in self.layers:
                content = store.get(self.layer_name(layer, sample))
                if content is not None:
                    layers[sample, layer] = RelationLayer.from_bytes(content, usable, self.card)
        scores = scores_of_layers(layers, self.samples, self._provenance(kept, device))
        return replace(scores, records={relation.name: {PAIRS: relation.pairs} for relation in self._own})

    def provenance(self) -> Provenance:
        """What the result will say of itself, before anything is known of its pairs."""
        return self._provenance([[] for _ in self.relations], "")

    def remarks(self, store: Store) -> tuple[str, ...]:
        """None: a relation that is of no use was refused."""
        return ()

    def k(self, relation: Relation) -> int:
        """The relation's k."""
        return self.k_copying if relation.k == "copying" else self.k_standard

    @property
    def _own(self) -> list[Relation]:
        """The uploaded relations."""
        return [relation for relation in self.relations if relation.category == OWN]

    @property
    def ks(self) -> tuple[int, ...]:
        """The k of every relation."""
        return tuple(self.k(relation) for relation in self.relations)

    def _reason(self, relation: Relation, kept: int) -> str:
        """Why a relation is not applicable; empty if it is."""
        return too_few(len(relation.pairs), kept, self.several)

    def _refuse_useless(self, pairs: bytes) -> None:
        """An uploaded relation that says nothing about the model ends the job."""
        problems = []
        for relation, kept in zip(self.relations, json.loads(pairs), strict=True):
            reason = self._reason(relation, len(kept))
            if relation.category == OWN and reason:
                problems.append(f"{relation.title}: {reason}")
        if problems:
            raise RelationError("\n".join(problems), "Add more pairs, use more common words, or leave it out.")

    def _usable(self, store: Store) -> bool:
        """Whether some relation has enough pairs, as far as is known."""
        pairs = store.get(self.pairs_name)
        return pairs is None or any(len(kept) >= MIN_PAIRS for kept in json.loads(pairs))

    def _counted(self, sample: str, layer: int) -> str:
        """Which layer of how many, and in which sample where there are several."""
        words = f"layer {self.layers.index(layer) + 1} of {len(self.layers)}"
        if len(self.samples) == 1:
            return words
        return f"{words}, sample {self.samples.index(sample) + 1} of {len(self.samples)} ({sample})"

    def pending(self, store: Store) -> dict[str, float]:
        """Layers."""
        return {"layers": float(self.left(store))}

    def _absent(self, store: Store, sample: str) -> list[int]:
        return [layer for layer in self.layers if not store.contains(self.layer_name(layer, sample))]

    def _provenance(self, kept: Sequence[Sequence[tuple[StoredSource, int]]], device: str) -> Provenance:
        items = []
        for relation, pairs in zip(self.relations, kept, strict=True):
            several = sum(isinstance(source, list) and len(source) > 1 for source, _ in pairs)
            item = ScoredItem(
                name=relation.name,
                title=relation.title,
                category=relation.category,
                sentence=relation.sentence,
                hash=relation.hash,
                pairs=len(relation.pairs),
                kept=len(pairs),
                applicable=len(pairs) >= MIN_PAIRS,
                several=several,
                reason=self._reason(relation, len(pairs)),
                k=self.k(relation),
            )
            items.append(item)
        ks = {"k_copying": self.k_copying, "k_standard": self.k_standard}
        settings = {**ks, **self.described(), "tau": TAU, "min_pairs": MIN_PAIRS, "layers": list(self.layers)}
        if self._own:
            settings[SETTING] = self.set_name or default_name([relation.title for relation in self._own])
        return Provenance.now(self.card, self.name, self.version, settings, tuple(items), device)

    def _depends_on(self) -> JsonObject:
        return {"k_copying": self.k_copying, "k_standard": self.k_standard, **self.settings()}

    def _hash(self, part: Any) -> str:
        relations = [(relation.name, relation.hash) for relation in self.relations]
        return digest([self.card.fingerprint, self.name, self.version, self._depends_on(), relations, part])


def too_few(pairs: int, kept: int, several: bool) -> str:
    """Why the pairs of a relation are too few, with the count; empty when they are enough."""
    if kept >= MIN_PAIRS:
        return ""
    tokens = "a target" if several else "source and target"
    return f"{kept} of {pairs} pairs have {tokens} of one token, and {MIN_PAIRS} are needed"
