"""The agreement map's part of the state of a view."""

from dataclasses import dataclass
from typing import Literal

from analysis import methods
from analysis.results.labels import Unit
from dashboard.setting import NAME, SHARE, Part, setting

Over = Literal["mean", "always", "any"]
CountedLabels = Literal["all", "beyond"]
Replaced = Literal["zero", "mean", "both"]  # what stands in the place of a head that is switched off
OVER: dict[Over, str] = {"mean": "mean", "always": "every", "any": "some"}  # as results take samples together


def _label_threshold() -> float:
    """The one that the methods have which say what a head does."""
    return next(method.label.least for method in methods.METHODS if method.answers_what and method.label)


def _cause_threshold(unit: Unit) -> float:
    """The one that the methods of a unit have which say whether a head matters."""
    rules = [method.label for method in methods.METHODS if method.answers_whether]
    return next(rule.least for rule in rules if rule is not None and rule.unit == unit)


@dataclass(frozen=True)
class AgreementState(Part):
    """Whose labels are compared with whose causes, and the minimum strengths of both."""

    what: str = setting("", NAME, resets=True)  # the name of a method; empty: the model's own default
    whether: str = setting("", NAME, resets=True)
    label: float = setting(_label_threshold(), SHARE, local=True)
    cause: float = setting(_cause_threshold("share"), SHARE, local=True)
    change: float = setting(_cause_threshold("nats"), SHARE, local=True)
    over: Over = setting("mean", Over, key="matters", local=True)
    replaced: Replaced = setting("zero", Replaced)
    counted: CountedLabels = setting("all", CountedLabels, local=True)  # which labels make a head labelled

    def least_cause(self, unit: Unit) -> float:
        """The threshold of the causes, which depends on what they are measured in."""
        return self.cause if unit == "share" else self.change
