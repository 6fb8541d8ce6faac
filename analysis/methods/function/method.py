"""The function map as a method."""

from analysis.methods.function.plan import NAME, VERSION, FunctionPlan
from analysis.methods.function.settings import FunctionSettings
from analysis.models.card import ModelCard
from analysis.options import Command
from analysis.relations.method import RelationMethod
from analysis.results.provenance import Provenance


class FunctionMethod(RelationMethod):
    """Which relations each head implements, from its weights alone (MAPS)."""

    name = NAME
    title = "Function map"
    sentence = "What each head does, read from its weights: seconds to minutes."
    basis = "Weights"
    about = "read from its weights alone"
    where = "by its weights alone"
    version = VERSION
    settings = FunctionSettings
    by_default = True
    at_top = True
    depends_on = ("first_mlp",)
    commands = (
        Command(
            "map",
            "score every head for every relation",
            ("relations", "set_name", "k", "k_copying", "first_mlp", "layers"),
        ),
    )

    def plan(self, card: ModelCard, settings: FunctionSettings) -> FunctionPlan:
        """For a model; refuses a k or layers that it does not have."""
        return FunctionPlan(**settings.for_plan(card), first_mlp=settings.first_mlp)

    def report_settings(self, provenance: Provenance) -> str:
        """The first MLP."""
        return f"first MLP {'on' if provenance.settings['first_mlp'] else 'off'}"
