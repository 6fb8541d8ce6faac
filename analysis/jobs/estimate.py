"""How long a plan still takes, from how long its steps took: by kind of step, so that slow kinds do not surprise."""

from collections import deque
from collections.abc import Mapping
from statistics import median_low
from typing import Protocol, runtime_checkable

from analysis.method import Plan, Step
from analysis.results.store import Store

_REMEMBERED = 15  # steps of a kind
_ENOUGH = 2  # steps of a kind from which on it is known: the first one may have opened the model


@runtime_checkable
class CountedStep(Protocol):
    """A step that says more of itself."""

    @property
    def kind(self) -> str:
        """Steps of one kind take about as long for the same work."""

    @property
    def work(self) -> float:
        """How much there is to do, in units that all kinds of a method share."""

    @property
    def doing(self) -> str:
        """What is being done and how far it is, such as "layer 4 of 30"."""


@runtime_checkable
class CountedPlan(Protocol):
    """A plan with steps of several kinds."""

    def pending(self, store: Store) -> Mapping[str, float]:
        """The work that is left, by kind of step."""


def doing(step: Step) -> str:
    """What a step does, in words."""
    return (step.doing if isinstance(step, CountedStep) else "") or step.words


def pending(plan: Plan, store: Store) -> Mapping[str, float]:
    """The work that is left of any plan."""
    return plan.pending(store) if isinstance(plan, CountedPlan) else {"": float(plan.left(store))}


class Estimate:
    """Seconds that are left. A kind's pace is the median of its last steps: one slow step changes little."""

    def __init__(self, now: float) -> None:
        self._last = now
        self._step: Step | None = None
        self._took: dict[str, deque[list[float]]] = {}  # by kind: seconds and work of each step

    def done(self, step: Step, count: int, now: float) -> None:
        """A step gave something that counts as so many; one that gives several pieces is one step."""
        kind, work = (step.kind, step.work) if isinstance(step, CountedStep) else ("", 1.0)
        steps = self._took.setdefault(kind, deque(maxlen=_REMEMBERED))
        if step is self._step and steps:
            steps[-1][0] += now - self._last
            steps[-1][1] += work * count
        else:
            steps.append([now - self._last, work * count])
        self._step, self._last = step, now

    def left(self, pending: Mapping[str, float]) -> float | None:
        """For some work; a kind that was not seen yet is taken to go at the pace of the others."""
        paces: dict[str, float] = {}
        for kind, steps in self._took.items():
            seconds_per_unit = [seconds / work for seconds, work in steps if work > 0]
            if len(seconds_per_unit) >= _ENOUGH:
                paces[kind] = median_low(seconds_per_unit)
        if not paces:
            return None
        others = median_low(list(paces.values()))
        return sum(work * paces.get(kind, others) for kind, work in pending.items())
