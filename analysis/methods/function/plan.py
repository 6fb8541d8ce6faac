"""The function map as a plan: heads are read from the weights alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.models.open_model import OpenModel
from analysis.progress import Progress
from analysis.relations.plan import RelationPlan
from analysis.results.provenance import JsonObject

if TYPE_CHECKING:
    import torch

    from analysis.compute.hits import Inputs, Query

NAME = "function"
VERSION = "2"  # raise whenever a score may come out differently


@dataclass(frozen=True)
class WeightsReader:
    """X from the weights alone."""

    first_mlp: bool

    def inputs(self, model: OpenModel, device: "torch.device", query: "Query", progress: Progress) -> "Inputs":
        """The checkpoint's own heads."""
        from analysis.compute.hits import weights_inputs
        from analysis.compute.weights import Weights

        return weights_inputs(Weights(model.checkpoint, device), query, self.first_mlp)

    def up_to(self, layer: int) -> "WeightsReader":
        """All layers read the same."""
        return self


@dataclass(frozen=True, kw_only=True)
class FunctionPlan(RelationPlan):
    """The function map of some layers of a model for some relations."""

    name = NAME
    version = VERSION

    first_mlp: bool

    def settings(self) -> JsonObject:
        """The first MLP."""
        return {"first_mlp": self.first_mlp}

    def reader(self, sample: str) -> WeightsReader:
        """The same for all."""
        return WeightsReader(self.first_mlp)
