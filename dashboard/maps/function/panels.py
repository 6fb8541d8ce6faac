"""From the scores of relations and the state to what each panel shows: arrays and counts, no pictures."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from analysis.results.scores import ONLY_SAMPLE, Floats, Missing, Scores
from dashboard.cache import cached
from dashboard.maps.function.state import FunctionState, How
from dashboard.maps.panel import Bools, Label, Measure, Panel, without_scores

ALL = "all"  # the panel that shows every category at once
UNCLASSIFIED = "Unclassified"


def panels(scores: Scores, state: FunctionState) -> tuple[Panel, ...]:
    """All categories first, then a panel for each category; a single panel when one relation is asked for."""
    if state.relation in scores.items():
        value, reason = _value(scores, (state.relation,), state.how, state.kinds)
        item = scores.item(state.relation)
        return _labelled([_panel(item.name, item.title, item.category, value, reason, state)])
    names = tuple(scores.categories())
    if not names:
        why = Missing.NOT_APPLICABLE if scores.provenance.items else Missing.NOT_COMPUTED
        return (without_scores(ALL, "All categories", scores.provenance.model, why),)
    single = []
    for name in names:
        value, reason = _value(scores, tuple(scores.items(name)), state.how, state.kinds)
        single.append(_panel(name, name.capitalize(), name, value, reason, state))
    return _labelled([_all_categories(single), *single])


def _panel(key: str, title: str, tone: str, value: Floats, reason: npt.NDArray[np.int8], state: FunctionState) -> Panel:
    return Panel(key, title, value, _member(value, state), reason, tone, measures=(Measure("", value),))


def _all_categories(single: list[Panel]) -> Panel:
    """Every category at once: the best score of any."""
    best = np.fmax.reduce([panel.value for panel in single])
    worst = np.maximum.reduce([panel.reason for panel in single])
    members = [panel.member for panel in single]
    return Panel(
        key=ALL,
        title="All categories",
        value=best,
        member=np.logical_or.reduce(members),
        reason=np.where(np.isnan(best), worst, Missing.PRESENT).astype(np.int8),
        categories=tuple(panel.key for panel in single),
        belongs=np.stack(members),
        strengths=np.stack([panel.value for panel in single]),
        measures=(Measure("", best),),
    )


def _labelled(panels: list[Panel]) -> tuple[Panel, ...]:
    """The same panels; each head is called by the categories that it belongs to."""
    single = [panel for panel in panels if panel.belongs is None]
    combinations = np.zeros(panels[0].value.shape, np.int64)  # a bit for each panel
    for bit, panel in enumerate(single):
        combinations |= panel.member.astype(np.int64) << bit
    distinct, codes = np.unique(combinations, return_inverse=True)
    words = []
    for combination in distinct.tolist():
        titles = [panel.title for bit, panel in enumerate(single) if combination >> bit & 1]
        words.append(" · ".join(titles) or UNCLASSIFIED)
    label = Label(tuple(words), codes.reshape(panels[0].value.shape).astype(np.uint8))
    return tuple(replace(panel, label=label) for panel in panels)


def titles_of_heads(single: list[Panel]) -> list[list[str]]:
    """For each head the titles of the panels that it belongs to."""
    flags = zip(*(panel.member.ravel() for panel in single), strict=True)
    return [[panel.title for panel, flag in zip(single, mine, strict=True) if flag] for mine in flags]


@cached(128)
def _value(
    scores: Scores, items: tuple[str, ...], how: How, kinds: tuple[str, ...]
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """The number that decides for each head, and why there is none: the worst of its items' reasons.

    Cached, because a change of τ asks for the same numbers again.
    """
    value = np.asarray(scores.reduced(items, how, kinds).sel(sample=ONLY_SAMPLE).values, dtype=np.float64)
    worst = scores.missing.sel(item=list(items), sample=ONLY_SAMPLE).max(("item", "kind")).values
    return value, np.where(np.isnan(value), worst, Missing.PRESENT).astype(np.int8)


def _member(value: Floats, state: FunctionState) -> Bools:
    with np.errstate(invalid="ignore"):
        above = value > state.tau
    if state.top and state.top < above.sum():
        least = np.sort(value[above])[-state.top]
        above &= value >= least
    return above
