"""Which two methods the agreement map holds against each other."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis import methods
from analysis.evidence.agreement import LabelComparison, label_comparisons, rule_of, what_methods, whether_methods
from analysis.method import Method
from analysis.results.labels import LabelRule
from analysis.results.scores import Scores
from dashboard.cache import cached
from dashboard.maps.agreement.state import OVER, AgreementState, CountedLabels, Over
from dashboard.maps.map import MapView

AgreementView = MapView[AgreementState]


@dataclass(frozen=True)
class Sides:
    """A method that says what heads do and one that says whether they matter."""

    what: Method
    whether: Method

    @property
    def label(self) -> LabelRule:
        """When a head is labelled."""
        return rule_of(self.what.name)

    @property
    def cause(self) -> LabelRule:
        """When it is causal."""
        return rule_of(self.whether.name)


def sides_of(state: AgreementState, results: Mapping[str, Scores]) -> Sides | None:
    """The two that the state asks for, else the labels that hold in the running model and the first causes."""
    of_labels, of_causes = what_methods(results), whether_methods(results)
    what = _named(state.what, of_labels) or default_what(results)
    whether = _named(state.whether, of_causes) or (of_causes[0] if of_causes else None)
    return Sides(what, whether) if what is not None and whether is not None else None


def default_what(results: Mapping[str, Scores]) -> Method | None:
    """The last method whose labels decide whether those of quicker ones hold."""
    of_labels = what_methods(results)
    judging = [method for method in of_labels if method.judges]
    listed = judging or of_labels
    return listed[-1] if listed else None


def _named(name: str, choices: list[Method]) -> Method | None:
    for method in choices:
        if method.name == name:
            return method
    return None


def sides(shown: AgreementView) -> Sides:
    """The two on the page."""
    chosen = sides_of(shown.state, dict(shown.by_method))
    if chosen is None:
        raise LookupError("a map without results is not shown")
    return chosen


def has_samples(shown: AgreementView) -> bool:
    """Whether causes were measured more than once, so that they may hold always or in any sample."""
    two = sides(shown)
    return bool(two.cause.samples) and len(dict(shown.by_method)[two.whether.name].samples) > 1


def tells_copying(shown: AgreementView) -> bool:
    """Whether the result can tell which labels go beyond copying."""
    what = sides(shown).what
    return _tells_copying(dict(shown.by_method)[what.name])


@cached(16)
def _tells_copying(labels: Scores) -> bool:
    return methods.method(labels.provenance.method).specific_strengths(labels) is not None


def shown_comparisons(shown: AgreementView) -> list[LabelComparison]:
    """The strengths of both sides for every item, as the page shows them."""
    return comparisons_of(shown, shown.state.over, shown.state.counted)


def comparisons_of(shown: AgreementView, over: Over, counted: CountedLabels) -> list[LabelComparison]:
    """The same, whatever the page shows."""
    return against(shown, sides(shown).whether.name, over, counted)


def against(shown: AgreementView, whether: str, over: Over, counted: CountedLabels) -> list[LabelComparison]:
    """The labels on the page against the causes of any method."""
    results = dict(shown.by_method)
    replaced = shown.state.replaced if methods.method(whether).replacements else ""
    return _comparisons(results[sides(shown).what.name], results[whether], over, counted, replaced)


@cached(16)
def _comparisons(
    labels: Scores, causes: Scores, over: Over, counted: CountedLabels, replaced: str
) -> list[LabelComparison]:
    what, whether = labels.provenance.method, causes.provenance.method
    return label_comparisons({what: labels, whether: causes}, what, whether, OVER[over], counted == "beyond", replaced)
