"""Every number that the results have one value per head of, by a name that an address can hold.

method/item/kind is the mean over the samples. After it, @always is the smallest of them, @any the largest, and @ with
the name of a sample that one alone. The item may be any:category, for the largest of its items, and the kind
`strength`, for what decides whether a head has a label. agreement/what/whether/item are the classes that the labels of
two methods make.
"""

from collections.abc import Mapping, Sequence

from analysis.evidence.agreement import LabelClasses
from analysis.evidence.method_quantities import MethodQuantities
from analysis.evidence.quantity import BETWEEN, Quantity, QuantitySource, unknown_quantity
from analysis.results.provenance import Provenance
from analysis.results.scores import Floats, Scores

SOURCES: Sequence[QuantitySource] = (MethodQuantities(), LabelClasses())


def quantities(results: Mapping[str, Scores]) -> list[Quantity]:
    """All that a model has, source by source."""
    listed: list[Quantity] = []
    for source in SOURCES:
        listed += source.quantities(results)
    return listed


def unit_of(results: Mapping[str, Scores], key: str) -> str:
    """What the numbers behind a key are measured in."""
    return _source(key).unit(results, key)


def sources(results: Mapping[str, Scores], key: str) -> list[Provenance]:
    """Where the numbers behind a key come from; those of two methods, for classes."""
    return _source(key).sources(results, key)


def values(results: Mapping[str, Scores], key: str) -> Floats:  # [layer, head]
    """The numbers behind a key; NaN where a head has none."""
    return _source(key).values(results, key)


def _source(key: str) -> QuantitySource:
    first = key.partition(BETWEEN)[0]
    for source in SOURCES:
        if source.has(first):
            return source
    raise unknown_quantity(key)
