"""What the scores of a function map are read from: one method of several that score the same relations."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from analysis import methods
from analysis.relations.agreement import RelationAgreement, agreement
from analysis.relations.judging import can_judge, method_that_holds
from analysis.relations.method import RelationMethod
from analysis.results.provenance import Provenance
from analysis.results.scores import ONLY_SAMPLE, OVER_SAMPLES, Scores
from dashboard.cache import cached
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView

FunctionView = MapView[FunctionState]


def bases() -> list[RelationMethod]:
    """The methods, the quickest first."""
    return methods.relation_methods()


def basis_of(provenance: Provenance) -> RelationMethod:
    """The method of a result."""
    return next(method for method in bases() if method.name == provenance.method)


def default_basis(results: Mapping[str, Scores]) -> str:
    """The method whose map holds."""
    return method_that_holds(bases(), results, agreed).name


@cached(32)
def agreed(one: Scores, other: Scores) -> RelationAgreement:
    """How far two results agree; every change of the page asks."""
    return agreement(one, other)


@cached(32)
def over_carriers(scores: Scores, how: str) -> Scores:
    """One score in place of one for each carrier; the same one for the same question."""
    return scores.over_samples(how)


def has_carriers(scores: Scores | None) -> bool:
    """Whether the result has a score for each of several carriers."""
    return scores is not None and scores.samples != [ONLY_SAMPLE]


def carrier_words(shown: FunctionView) -> str:
    """How the carriers are taken together, as the end of a sentence; empty without any."""
    if not has_carriers(shown.whole):
        return ""
    count = len(shown.whole.samples)
    where, samples = basis_of(shown.whole.provenance).sampled
    if count == 1 or shown.state.carriers not in OVER_SAMPLES:
        carrier = shown.whole.samples[0] if count == 1 else shown.state.carriers
        return f"{where} “{carrier}”"
    words = {"mean": "on average over", "every": f"{where} every one of", "some": f"{where} at least one of"}
    return f"{words[shown.state.carriers]} {count} {samples}"


def compared(shown: FunctionView) -> tuple[Scores, Scores] | None:
    """The first two results of a model that can be compared, the quicker one first."""
    results = dict(shown.by_method)
    there = [results[method.name] for method in bases() if method.name in results]
    return (there[0], there[1]) if len(there) > 1 else None


def all_compared(shown: FunctionView) -> list[tuple[Scores, Scores]]:
    """Every two results of a model, the quicker one first; that of the first two first."""
    results = dict(shown.by_method)
    return list(combinations([results[method.name] for method in bases() if method.name in results], 2))


def better(shown: FunctionView) -> tuple[RelationMethod, RelationAgreement] | None:
    """The method whose map holds where the one that is shown does not."""
    pair = compared(shown)
    if pair is None or shown.whole is not pair[0] or not can_judge(basis_of(pair[1].provenance), pair[1], pair[0]):
        return None
    agreement = agreed(*pair)
    return (basis_of(pair[1].provenance), agreement) if agreement.fails else None


def averaged(shown: FunctionView) -> str:
    """What a correlation takes of the slower result, where that has carriers: their mean, or the only one."""
    pair = compared(shown)
    if pair is None or not has_carriers(pair[1]):
        return ""
    where, samples = basis_of(pair[1].provenance).sampled
    if len(pair[1].samples) == 1:
        return f" ({where} “{pair[1].samples[0]}”)"
    return f" (the mean over its {samples})"


def address(shown: FunctionView, **changes: Any) -> str:
    """A link to another view of the map; the basis that the model is shown by is not named."""
    results = dict(shown.by_method)
    if changes.get("basis") == default_basis(results):
        changes["basis"] = ""
    return "/" + shown.named.changed(**changes).to_query()
