"""The map as a plan: one sample per carrier phrase, heads read in the running model."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.methods.running.settings import ANY
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.relations.plan import RelationPlan
from analysis.results.provenance import JsonObject

if TYPE_CHECKING:
    import torch

    from analysis.compute.hits import Inputs, Query

NAME = "running"
VERSION = "1"  # raise whenever a score may come out differently


@dataclass(frozen=True)
class RunningReader:
    """X from the running model, after a carrier."""

    carrier: str
    layers: tuple[int, ...]  # those that are needed: nothing is run beyond the last

    def inputs(self, model: OpenModel, device: "torch.device", query: "Query", progress: Progress) -> "Inputs":
        """Run all sources once."""
        from analysis.methods.running.compute import running_inputs

        prefix = Vocabulary.open(model.checkpoint.folder).prefix(self.carrier)
        return running_inputs(model.checkpoint, device, query, prefix, self.layers, progress)

    def up_to(self, layer: int) -> "RunningReader":
        """Nothing is run beyond the layer."""
        return replace(self, layers=tuple(one for one in self.layers if one <= layer))


@dataclass(frozen=True, kw_only=True)
class RunningPlan(RelationPlan):
    """Some layers of a model for some relations after some carriers."""

    name = NAME
    version = VERSION

    carriers: tuple[str, ...]
    sources: str

    @property
    def samples(self) -> tuple[str, ...]:
        """The carriers."""
        return self.carriers

    @property
    def several(self) -> bool:
        """Whether sources may have several tokens."""
        return self.sources == ANY

    def settings(self) -> JsonObject:
        """Which sources."""
        return {"sources": self.sources}

    def described(self) -> JsonObject:
        """The carriers too; one's scores do not depend on the others."""
        return {"carriers": list(self.carriers), **self.settings()}

    def reader(self, sample: str) -> RunningReader:
        """After one carrier."""
        return RunningReader(sample, self.layers)
