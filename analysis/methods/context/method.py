"""The function map with context as a method."""

from analysis.methods.context.plan import NAME, VERSION, ContextPlan
from analysis.methods.context.settings import ContextSettings
from analysis.models.card import ModelCard
from analysis.options import Command
from analysis.relations.method import RelationMethod
from analysis.results.provenance import Provenance


class ContextMethod(RelationMethod):
    """Which relations each head implements by what it actually writes at the end of a prompt."""

    name = NAME
    title = "Function map, with context"
    sentence = "What each head actually writes at the end of a prompt, wherever it attends: takes longest."
    basis = "With context"
    about = "scored by what it actually writes at the end of a prompt"
    where = "with context"
    version = VERSION
    settings = ContextSettings
    gallery_size = 5e8
    sampled = ("in", "templates")
    judges = False
    depends_on = ("templates",)
    samples_field = "templates"
    samples_alike = True
    commands = (
        Command(
            "context",
            "score every head for every relation by what it writes at the end of a whole prompt",
            ("relations", "templates", "k", "k_copying", "layers"),
        ),
    )

    def plan(self, card: ModelCard, settings: ContextSettings) -> ContextPlan:
        """For a model; refuses a k or layers that it does not have."""
        return ContextPlan(**settings.for_plan(card), templates=settings.chosen_templates())

    def report_settings(self, provenance: Provenance) -> str:
        """How many templates."""
        return self.over_words(provenance, provenance.settings["templates"], "templates")
