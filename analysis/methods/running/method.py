"""The function map in the running model as a method."""

from analysis.methods.running.plan import NAME, VERSION, RunningPlan
from analysis.methods.running.settings import ANY, RunningSettings
from analysis.models.card import ModelCard
from analysis.options import Command
from analysis.relations.method import RelationMethod
from analysis.results.provenance import Provenance


class RunningMethod(RelationMethod):
    """Which relations each head implements, on the residual stream of the running model."""

    name = NAME
    title = "Function map, running model"
    sentence = "What each head does in the running model: reliable on more models, takes several times as long."
    basis = "Running model"
    about = "scored on the residual stream of the running model"
    where = "in the running model"
    version = VERSION
    settings = RunningSettings
    by_default = True
    depends_on = ("carriers", "sources")
    samples_field = "carriers"
    samples_alike = True
    commands = (
        Command(
            "running",
            "score every head for every relation in the running model",
            ("relations", "set_name", "carriers", "sources", "k", "k_copying", "layers"),
        ),
    )

    def plan(self, card: ModelCard, settings: RunningSettings) -> RunningPlan:
        """For a model; refuses a k or layers that it does not have."""
        return RunningPlan(**settings.for_plan(card), carriers=settings.chosen_carriers(), sources=settings.sources)

    def takes_several(self, settings: RunningSettings) -> bool:
        """When any source is asked for."""
        return settings.sources == ANY

    def report_settings(self, provenance: Provenance) -> str:
        """How many carriers, and which sources."""
        words = self.over_words(provenance, provenance.settings["carriers"], "carriers")
        return f"{words} · sources of several tokens too" if provenance.settings["sources"] == ANY else words
