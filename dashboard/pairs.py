"""A question about the pairs behind a head's score for a relation, as a view or a request asks it."""

import json
from dataclasses import dataclass

from analysis import methods
from analysis.data import relations
from analysis.data.relations import WordPair
from analysis.errors import RelationError
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from analysis.models.card import HeadId, ModelCard
from analysis.relations.head_pairs import HeadPairs
from analysis.relations.pairs import HeadPairsStep, settings_of
from analysis.relations.pairs_file import are_shipped, shipped_pairs
from analysis.results.provenance import JsonObject, ScoredItem
from analysis.results.scores import Scores


@dataclass(frozen=True)
class PairsQuestion:
    """Which score."""

    relation: str  # by name
    head: HeadId
    kind: str
    method: str = ""  # that of the map that holds when left out
    sample: str = ""  # its first one when left out
    result: str = ""  # which result to prefer if there are several, as its link names it
    own: str = ""  # the set that the relation belongs to, if it was uploaded

    def step(self, card: ModelCard, catalogue: Catalogue, engine: Engine) -> HeadPairsStep:
        """What answers it, with the settings of the model's map, so that the hits are those of the score.

        Raises what a person can fix: an unknown head, relation, method, kind or sample.
        """
        head = card.check(self.head)
        own = catalogue.own_set(self.own).id if self.own else None
        by_default = catalogue.default_method(card, self.relation, own, methods.relation_methods())
        method = methods.relation_method(self.method or by_default.name)
        scores = catalogue.result(card, method.name, self.result, own)
        settings = self._relation(card, scores, catalogue, engine)
        if scores is not None:
            settings |= settings_of(method, scores.provenance)
        wanted = method.settings.model_validate(settings)
        return HeadPairsStep.of(method.plan(card, wanted), head, self.kind, self.sample)

    def _relation(self, card: ModelCard, scores: Scores | None, catalogue: Catalogue, engine: Engine) -> JsonObject:
        """The settings that choose the relation: a name, or the file that a job brought."""
        if self.relation in relations.builtin():
            return {"relations": [self.relation]}
        items = () if scores is None else scores.provenance.items
        for item in items:
            if item.name == self.relation:
                return {"relations": [], "files": [_file(catalogue, engine, item)]}
        names = ", ".join(relations.builtin())
        raise RelationError(f"there is no relation {self.relation[:80]!r} in this map", f"Built in: {names}.")


def _file(catalogue: Catalogue, engine: Engine, item: ScoredItem) -> JsonObject:
    """The file of one's own relation."""
    return {"name": f"{item.name}.json", "content": json.dumps(own_pairs(catalogue, engine, item))}


def own_pairs(catalogue: Catalogue, engine: Engine, item: ScoredItem) -> tuple[WordPair, ...]:
    """The pairs of an uploaded relation: kept with its scores, or else in the job that computed them."""
    kept = catalogue.own_pairs(item)
    if kept:
        return kept
    for request in engine.requests(item.name):
        for relation in request.own_relations():
            if (relation.name, relation.hash) == (item.name, item.hash):
                return relation.pairs
    raise RelationError(f"the pairs of {item.name} are not kept here", "Bring the file again.")


def is_known(step: HeadPairsStep, engine: Engine) -> bool:
    """Whether the answer is there without computing."""
    return are_shipped(step.key) or engine.knows(step)


def answered(step: HeadPairsStep, card: ModelCard, engine: Engine) -> HeadPairs:
    """As it comes with the project, from the store, or computed by a worker at once: not for an event loop."""
    shipped = shipped_pairs(step.key)
    return HeadPairs.from_json(engine.ask(card, step)) if shipped is None else shipped
