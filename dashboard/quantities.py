"""Every number that a model has one value per head of, looked for once for the same results."""

from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import results_of
from analysis.evidence.quantities import quantities
from analysis.evidence.quantity import Quantity
from analysis.models.card import ModelCard
from dashboard.cache import cached


def listed_quantities(catalogue: Catalogue, card: ModelCard, own: str | None = None) -> tuple[Quantity, ...]:
    """As `analysis.evidence.quantities` lists them, which takes a second for a model with many results.

    With those of a custom relation set, by its id.
    """
    return _listed(catalogue, catalogue.generation, card, own)


@cached(16)
def _listed(catalogue: Catalogue, generation: int, card: ModelCard, own: str | None) -> tuple[Quantity, ...]:
    return tuple(quantities(results_of(catalogue, card, own)))
