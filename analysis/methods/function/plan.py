"""The function map as steps."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.methods.method import Step
from analysis.methods.relation_layer import RelationLayer
from analysis.methods.relation_plan import Names, RelationPlan
from analysis.models.opened import OpenModel
from analysis.models.vocabulary import MIN_PAIRS
from analysis.progress import Progress
from analysis.results.provenance import Data

NAME = "function"
VERSION = "2"  # raise whenever a score may come out differently


@dataclass(frozen=True)
class LayersStep:
    """The hits of every usable relation in some layers."""

    names: Names
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
        from analysis.compute.hits import HitCounter, Query, weights_counter
        from analysis.compute.weights import Weights, memory_of, open_device

        def make() -> tuple[Weights, HitCounter]:
            weights = Weights(model.checkpoint, open_device(model.device))
            relations = zip(json.loads(self.pairs), self.ks, strict=True)
            with memory_of(weights.device):
                usable = [(pairs, k) for pairs, k in relations if len(pairs) >= MIN_PAIRS]
                return weights, weights_counter(weights, Query.of(usable), self.first_mlp)

        weights, counter = model.keep((NAME, self.pairs, self.ks, self.first_mlp), make)
        model.device_name = weights.device_name
        names = dict(self.names)
        with memory_of(weights.device):
            for layer, hits in counter.count(list(names), progress):
                yield names[layer], RelationLayer.of_hits(hits.cpu().numpy()).to_bytes()


@dataclass(frozen=True, kw_only=True)
class FunctionPlan(RelationPlan):
    """The function map of some layers of a model for some relations."""

    name = NAME
    version = VERSION

    first_mlp: bool

    def settings(self) -> Data:
        """The first MLP."""
        return {"first_mlp": self.first_mlp}

    def layers_step(self, sample: str, names: Names, pairs: bytes) -> Step:
        """From the weights alone."""
        return LayersStep(names, pairs, self.ks, self.first_mlp)
