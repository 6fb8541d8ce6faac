"""Every number that a model has one value per head of, looked for once for the same results."""

from analysis.models.card import ModelCard
from analysis.results.catalogue import Catalogue
from analysis.results.evidence import results_of
from analysis.results.quantities import Quantity, quantities
from dashboard.cache import cached


def listed_quantities(catalogue: Catalogue, card: ModelCard) -> tuple[Quantity, ...]:
    """As `analysis.results.quantities` lists them, which takes a second for a model with many results."""
    return _listed(catalogue, catalogue.generation, card)


@cached(16)
def _listed(catalogue: Catalogue, generation: int, card: ModelCard) -> tuple[Quantity, ...]:
    return tuple(quantities(results_of(catalogue, card)))
