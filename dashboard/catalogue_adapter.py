"""The catalogue of results by method, on top of the library of function and causal maps."""

from dataclasses import dataclass

from analysis.methods.function.plan import Salience
from analysis.models.card import HeadId, ModelCard
from analysis.results.catalogue import Library
from analysis.results.provenance import Provenance
from analysis.results.scores import Scores


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Models and their results, each by the name of its method."""

    library: Library

    def models(self) -> list[ModelCard]:
        """The models that have a result."""
        return self.library.models()

    def card(self, model: str, fingerprint: str = "") -> ModelCard:
        """A model's card; a fingerprint, or its beginning, says which checkpoint. Raises ModelNotFound."""
        return self.library.scores(model, fingerprint).provenance.model

    def result(self, card: ModelCard, method: str, choice: str = "") -> Scores | None:
        """A method's result, put together from all there are; `choice` names one that goes first."""
        if method == "function":
            found = self.library.scores(card.id, card.fingerprint)
            return found if found.provenance.version else None  # one without a version stands for none
        if method == "causal":
            return self.library.causal(card, choice)
        others = [scores for scores in self.library._all() if scores.provenance.method == method]
        mine = [scores for scores in others if scores.provenance.model == card]
        return mine[-1] if mine else None

    def choices(self, card: ModelCard, method: str) -> dict[str, str]:
        """The results that one can choose from: their names, and what they are in words."""
        return self.library.fits(card) if method == "causal" else {}

    def failure(self, card: ModelCard) -> str:
        """Why the last job that failed on a model did."""
        return self.library.failure(card)

    def listed(self) -> list[tuple[Provenance, int]]:
        """Where every finished result comes from, and the bytes it takes."""
        return self.library.listed()

    def salience(self, card: ModelCard, head: HeadId) -> Salience | None:
        """A head's salient tokens, if they were computed."""
        return self.library.salience(card, head)
