"""A question about the pairs behind a head's score for a relation, as a view or a request asks it."""

from dataclasses import dataclass

from analysis.data import relations
from analysis.errors import RelationError
from analysis.jobs.engine import Engine
from analysis.methods.head_pairs import HeadPairs
from analysis.methods.relation_pairs import HeadPairsStep, relation_method, settings_of
from analysis.methods.relation_settings import relation_of
from analysis.models.card import HeadId, ModelCard
from analysis.results.catalogue import Catalogue
from analysis.results.provenance import Data
from analysis.results.scores import Scores


@dataclass(frozen=True)
class PairsQuestion:
    """Which score."""

    relation: str  # by name
    head: HeadId
    kind: str
    method: str = ""  # the first method that scores heads for relations when left out
    sample: str = ""  # its first one when left out
    result: str = ""  # of several results the one that goes first, as its link names it

    def step(self, card: ModelCard, catalogue: Catalogue, engine: Engine) -> HeadPairsStep:
        """What answers it, with the settings of the model's map, so that the hits are those of the score.

        Raises what a person can fix: an unknown head, relation, method, kind or sample.
        """
        method = relation_method(self.method)
        head = card.check(self.head)
        scores = catalogue.result(card, method.name, self.result)
        settings: Data = {**self._relation(card, scores, engine), "layers": [head.layer]}
        if scores is not None:
            settings |= settings_of(method, scores.provenance)
        wanted = method.settings.model_validate(settings)
        return HeadPairsStep.of(method.plan(card, wanted), head, self.kind, self.sample)

    def _relation(self, card: ModelCard, scores: Scores | None, engine: Engine) -> Data:
        """The settings that choose the relation: a name, or the file that a job brought."""
        if self.relation in relations.builtin():
            return {"relations": [self.relation]}
        items = () if scores is None else scores.provenance.items
        for item in items:
            if item.name == self.relation:
                return {"relations": [], "files": [_file(engine, item.name, item.hash, card, self.head)]}
        names = ", ".join(relations.builtin())
        raise RelationError(f"there is no relation {self.relation[:80]!r} in this map", f"Built in: {names}.")


def _file(engine: Engine, name: str, content_hash: str, card: ModelCard, head: HeadId) -> Data:
    """The file of one's own relation: scores keep its hash alone, but the job that computed them has it."""
    for request in engine.requests(name):
        for file in getattr(request, "files", ()):
            if not file.is_task:
                relation = relation_of(file)
                if (relation.name, relation.hash) == (name, content_hash):
                    return {"name": file.name, "content": file.content}
    told = f"the pairs of {name} are not kept with its scores"
    raise RelationError(told, f"Give the file: python -m analysis pairs {card.id} {head} FILE")


def head_pairs(question: PairsQuestion, card: ModelCard, catalogue: Catalogue, engine: Engine) -> HeadPairs:
    """The answer, from the store or computed by a worker at once. It waits: not for an event loop."""
    return HeadPairs.from_json(engine.ask(card, question.step(card, catalogue, engine)))
