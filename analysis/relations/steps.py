"""The steps of methods that score heads for relations: which pairs the tokenizer can represent, then the hits."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from analysis.data.relations import Relation
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.progress import Progress
from analysis.relations.layer import RelationLayer

if TYPE_CHECKING:  # the classes that load torch
    import torch

    from analysis.compute.hits import Inputs, Query

Names = tuple[tuple[int, str], ...]  # some layers, each with the name under which its numbers are kept


class Reader(Protocol):
    """How a method reads heads and sources. It travels to the worker; equal readers read the same."""

    def inputs(self, model: OpenModel, device: "torch.device", query: "Query", progress: Progress) -> "Inputs":
        """What is counted on."""

    def up_to(self, layer: int) -> "Reader":
        """The same for heads of this layer and those before it, where that is less work."""


@dataclass(frozen=True)
class PairsStep:
    """Which pairs of each relation have one token as their target, and one as their source (or several)."""

    key: str
    relations: tuple[Relation, ...]
    several: bool = False  # sources may have several tokens
    words: str = "finding single tokens"
    kind: str = "pairs"
    work: float = 0  # no time beside the layers
    doing: str = ""

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Ask the tokenizer."""
        vocabulary = Vocabulary.open(model.checkpoint.folder)
        size = model.checkpoint.card.vocabulary
        keep = vocabulary.keep_several if self.several else vocabulary.keep
        kept = [keep(relation, size) for relation in self.relations]
        yield self.key, json.dumps(kept).encode()


@dataclass(frozen=True)
class LayersStep:
    """The hits of every usable relation in some layers, and what they are compared with."""

    names: Names
    pairs: bytes  # of all relations, as `PairsStep` gave them
    ks: tuple[int, ...]  # of all relations
    reader: Reader
    words: str = ""
    doing: str = ""  # which layer of how many
    kind: str = "layers"
    work: float = 1  # a layer

    @property
    def key(self) -> str:
        """The name of its first layer, and how many there are."""
        return self.names[0][1] if len(self.names) == 1 else f"{self.names[0][1]}-{len(self.names)}"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Each layer as soon as it is counted."""
        from analysis.compute.hits import HitCounter, Query
        from analysis.compute.weights import device_name, memory_of, open_device

        device = open_device(model.device)

        def make() -> HitCounter:
            relations = zip(json.loads(self.pairs), self.ks, strict=True)
            usable = [(pairs, k) for pairs, k in relations if len(pairs) >= MIN_PAIRS]
            with memory_of(device):
                return HitCounter(self.reader.inputs(model, device, Query.of(usable), progress))

        counter = model.keep((self.reader, self.pairs, self.ks), make)
        model.device_name = device_name(device)
        names = dict(self.names)
        with memory_of(device):
            for layer, counts in counter.count(list(names), progress):
                numbers = (counts.hits, counts.beyond, counts.copied, counts.control)
                yield names[layer], RelationLayer(*(number.cpu().numpy() for number in numbers)).to_bytes()
