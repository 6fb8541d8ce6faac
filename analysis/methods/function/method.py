"""The function map as a method: its name, its settings, how its results are ranked and told."""

import json
from typing import Any

from analysis.data import relations
from analysis.data.files import OwnFile
from analysis.methods.function import report
from analysis.methods.function.plan import NAME, VERSION, FunctionPlan
from analysis.methods.function.settings import FunctionSettings, default_ks
from analysis.methods.method import Asked, Command, Method
from analysis.models.card import HeadId, ModelCard
from analysis.results.provenance import Data, Plain, Provenance
from analysis.results.scores import Missing, Scores

_SETTINGS = ("k_copying", "k_standard", "first_mlp")


class FunctionMethod(Method):
    """Which relations each head implements, from its weights alone (MAPS)."""

    name = NAME
    title = "Function map"
    sentence = "What each head does, read from its weights: seconds to minutes."
    version = VERSION
    settings = FunctionSettings
    by_default = True
    commands = (
        Command("map", "score every head for every relation", ("relations", "k", "k_copying", "first_mlp", "layers")),
    )

    def plan(self, card: ModelCard, settings: FunctionSettings) -> FunctionPlan:
        """For a model; refuses a k or layers that it does not have."""
        copying, standard = settings.chosen_ks(card)
        layers = settings.chosen_layers(card)
        return FunctionPlan(card, settings.chosen_relations(), copying, standard, settings.first_mlp, layers)

    def asked(self, settings: FunctionSettings) -> Asked:
        """The relations; one's own are named."""
        chosen = settings.chosen_relations()
        own = [relation.title for relation in chosen if relation.category == "custom"]
        return Asked(tuple(relation.name for relation in chosen), words=", ".join(own))

    def takes(self, field: str, file: OwnFile) -> bool:
        """Pairs of words."""
        return field == "files" and not file.is_task

    def identity(self, settings: FunctionSettings) -> Any:
        """The content of the relations rather than their names."""
        hashes = sorted((relation.name, relation.hash) for relation in settings.chosen_relations())
        return [hashes, settings.k, settings.k_copying, settings.first_mlp, settings.layers]

    def older_settings(self, values: Plain) -> Data:
        """One's own relations stood there parsed, built-in ones by name."""
        files = []
        for relation in values["own"]:
            files.append({"name": f"{relation['name']}.json", "content": json.dumps(relation["pairs"])})
        settings: Data = {"files": files}
        if values["known"] != list(relations.builtin()):
            settings["relations"] = values["known"]
        return settings

    def rank(self, scores: Scores) -> Any:
        """Any score at all, then the published settings, then more scores, then the newer result."""
        present = int((scores.missing == Missing.PRESENT).sum())
        return present > 0, _is_published(scores.provenance), present, scores.provenance.date

    def mergeable(self, provenance: Provenance) -> Any:
        """The same k and first MLP."""
        return [provenance.settings.get(name) for name in _SETTINGS]

    def words(self, provenance: Provenance) -> str:
        """How many relations."""
        count = len(provenance.items)
        return f"{count} {'relation' if count == 1 else 'relations'}"

    def report(self, scores: Scores) -> Data:
        """The best heads of every relation."""
        return report.map_data(scores)

    def report_text(self, scores: Scores) -> str:
        """The same as a table."""
        return report.map_text(scores)

    def head(self, scores: Scores, head: HeadId) -> Data:
        """Every relation's scores of a head, and the heads that share its value matrix."""
        return report.head_data(scores, head)

    def no_head(self, card: ModelCard, head: HeadId) -> Data:
        """The heads that share its value matrix are known all the same."""
        return {"relations": [], "group_mates": [{"head": str(mate)} for mate in card.group_mates(head)]}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """The same for a terminal."""
        return report.head_lines(scores, head)


def _is_published(provenance: Provenance) -> bool:
    """Whether k and the first MLP are those of the paper."""
    expected = (*default_ks(provenance.model.vocabulary), True)
    return tuple(provenance.settings.get(name) for name in _SETTINGS) == expected
