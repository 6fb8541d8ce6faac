"""The map as a plan: one sample per template, heads read at the last token of the whole prompt."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.methods.context.settings import sides
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.relations.plan import RelationPlan
from analysis.results.provenance import JsonObject

if TYPE_CHECKING:
    import torch

    from analysis.compute.hits import Inputs, Query

NAME = "context"
VERSION = "1"  # raise whenever a score may come out differently


@dataclass(frozen=True)
class ContextReader:
    """What every head writes at the end of a template."""

    template: str
    layers: tuple[int, ...]  # those that are needed: nothing is run beyond the last

    def inputs(self, model: OpenModel, device: "torch.device", query: "Query", progress: Progress) -> "Inputs":
        """Run all sources once."""
        from analysis.methods.context.compute import context_inputs

        vocabulary = Vocabulary.open(model.checkpoint.folder)
        before, after = sides(self.template)
        prefix, suffix = vocabulary.prefix(before), vocabulary.following(after)
        return context_inputs(model.checkpoint, device, query, prefix, suffix, self.layers, progress)

    def up_to(self, layer: int) -> "ContextReader":
        """Nothing is run beyond the layer."""
        return replace(self, layers=tuple(one for one in self.layers if one <= layer))


@dataclass(frozen=True, kw_only=True)
class ContextPlan(RelationPlan):
    """Some layers of a model for some relations in some templates."""

    name = NAME
    version = VERSION

    templates: tuple[str, ...]

    @property
    def samples(self) -> tuple[str, ...]:
        """The templates."""
        return self.templates

    def settings(self) -> JsonObject:
        """Nothing else."""
        return {}

    def described(self) -> JsonObject:
        """The templates; one's scores do not depend on the others."""
        return {"templates": list(self.templates)}

    def reader(self, sample: str) -> ContextReader:
        """In one template."""
        return ContextReader(sample, self.layers)
