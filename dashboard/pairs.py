"""A question about the pairs behind a head's score for a relation, as a view or a request asks it."""

from dataclasses import dataclass

from analysis.data import relations
from analysis.errors import RelationError
from analysis.methods.relation_pairs import HeadPairsStep, relation_method, settings_of
from analysis.models.card import HeadId, ModelCard
from analysis.results.catalogue import Catalogue
from analysis.results.provenance import Data


@dataclass(frozen=True)
class PairsQuestion:
    """Which score."""

    relation: str  # by name
    head: HeadId
    kind: str
    method: str = ""  # the first method that scores heads for relations when left out
    sample: str = ""  # its first one when left out

    def step(self, card: ModelCard, catalogue: Catalogue) -> HeadPairsStep:
        """What answers it: `Engine.ask(card, step)` gives `HeadPairs` as JSON.

        With the settings of the model's map, so that the hits are those of the score; with the defaults if there is no
        map. Raises what a person can mend: an unknown head, relation, method, kind or sample.
        """
        method = relation_method(self.method)
        head = card.check(self.head)
        scores = catalogue.result(card, method.name)
        if self.relation not in relations.builtin():
            own = [] if scores is None else [item.name for item in scores.provenance.items]
            if self.relation in own:
                told = f"the pairs of {self.relation} are not kept with its scores"
                raise RelationError(told, f"Give the file: python -m analysis pairs {card.id} {head} FILE")
            names = ", ".join(relations.builtin())
            raise RelationError(f"there is no relation {self.relation[:80]!r}", f"Built in: {names}.")
        settings: Data = {"relations": [self.relation], "layers": [head.layer]}
        if scores is not None:
            settings |= settings_of(method, scores.provenance)
        wanted = method.settings.model_validate(settings)
        return HeadPairsStep.of(method.plan(card, wanted), head, self.kind, self.sample)
