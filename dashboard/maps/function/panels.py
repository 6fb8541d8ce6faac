"""From the scores of relations and the state to what each panel shows: arrays and counts, no pictures."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from analysis.relations.scores import categories, reduced
from analysis.results.scores import ONLY_SAMPLE, Bools, Floats, Missing, Scores
from dashboard.cache import cached
from dashboard.maps.function.labels import (
    COPY_LIKE,
    UNSPECIFIC,
    Labels,
    chosen_labels,
    counting_labels,
    is_measured,
    quality,
    strongest_labels,
)
from dashboard.maps.function.state import FunctionState, How
from dashboard.maps.panel import Panel, PanelLabel, PanelMeasure, without_scores

ALL = "all"  # the panel that shows every category at once
ALL_TITLE = "All categories"
UNCLASSIFIED = "Unclassified"
_POOR = f"{COPY_LIKE} or {UNSPECIFIC}"
# After a category, by what a head is in it: nothing, hollow, a member; then the last two by suppressing.
_HOW = ("", f" ({_POOR})", "", f" (suppressed; {_POOR})", " (suppressed)")


def panels(scores: Scores, state: FunctionState) -> tuple[Panel, ...]:
    """All categories first, then a panel for each category; a single panel when one relation is asked for."""
    if state.relation in scores.items():
        item = scores.item(state.relation)
        return _labelled([_panel(item.name, item.title, item.category, scores, (item.name,), state)])
    names = tuple(categories(scores))
    if not names:
        return (without_scores(ALL, ALL_TITLE, scores.provenance.model, no_category(scores)),)
    single = []
    for name in names:
        single.append(_panel(name, name.capitalize(), name, scores, tuple(scores.items(name)), state))
    return _labelled([_all_categories(single, labels_behind(ALL, scores, state)), *single])


def no_category(scores: Scores) -> Missing:
    """Why a result has no category."""
    return Missing.NOT_APPLICABLE if scores.provenance.items else Missing.NOT_COMPUTED


def labels_behind(key: str, scores: Scores, state: FunctionState) -> Labels:
    """For each head the label whose score a panel shows."""
    if state.relation in scores.items():
        return counting_labels(scores, (state.relation,), state)
    return strongest_labels(scores, state) if key == ALL else counting_labels(scores, tuple(scores.items(key)), state)


def _panel(key: str, title: str, tone: str, scores: Scores, items: tuple[str, ...], state: FunctionState) -> Panel:
    value, reason = _value(scores, items, state.how, state.kinds)
    decides = counting_labels(scores, items, state)
    worth = quality(chosen_labels(scores, items, state.kinds), state)
    value = np.where(worth.counts, decides.score, value)
    member = _member(value, worth.counts, state)
    return Panel(
        key=key,
        title=title,
        value=value,
        member=member,
        reason=reason,
        tone=tone,
        measures=(PanelMeasure("", value, interval=(decides.low, decides.high)),),
        hollow=member & ~worth.is_good if is_measured(scores) else None,
        pale=member & ~worth.is_certain if state.uncertain else None,
        half=member & decides.suppresses,
        falls=_falls(value, decides),
    )


def _all_categories(single: list[Panel], decides: Labels) -> Panel:
    """Every category at once: the best score of any."""
    best = decides.score
    worst = np.maximum.reduce([panel.reason for panel in single])
    members = [panel.member for panel in single]
    belongs, filled = np.stack(members), _filled(single)
    strengths = np.stack([panel.value for panel in single])
    return Panel(
        key=ALL,
        title=ALL_TITLE,
        value=best,
        member=np.logical_or.reduce(members),
        reason=np.where(np.isnan(best), worst, Missing.PRESENT).astype(np.int8),
        categories=tuple(panel.key for panel in single),
        belongs=belongs,
        strengths=strengths,
        measures=(PanelMeasure("", best, interval=(decides.low, decides.high)),),
        hollow=_without(single, "hollow"),
        filled=filled,
        pale=_without(single, "pale"),
        half=_by_the_strongest([panel.half for panel in single], coloured(belongs, filled), strengths),
        falls=_falls(best, decides),
    )


def _falls(value: Floats, decides: Labels) -> Bools:
    """Where a score above 0 is one of suppressing, also below τ."""
    with np.errstate(invalid="ignore"):
        return np.asarray((value > 0) & decides.suppresses)


def coloured(belongs: Bools, filled: Bools | None) -> Bools:  # [category, layer, head]
    """The categories that colour a head: those by which it is filled, or else those by which it is hollow."""
    return belongs if filled is None else np.where(filled.any(axis=0), filled, belongs)


def _by_the_strongest(flags: list[Bools | None], categories: Bools, strengths: Floats) -> Bools:
    """The flag of the strongest of the categories that colour a head; false where none does."""
    strongest = np.where(categories, np.nan_to_num(strengths, nan=-1.0), -2.0).argmax(axis=0)
    stacked = np.stack([flag for flag in flags if flag is not None])
    return np.asarray(np.take_along_axis(stacked, strongest[None], 0)[0] & categories.any(axis=0))


def _filled(single: list[Panel]) -> Bools | None:  # [category, layer, head]
    """The categories by which a head is filled in their own panels."""
    if single[0].hollow is None:
        return None
    filled = []
    for panel in single:
        outline = panel.hollow if panel.hollow is not None else np.zeros_like(panel.member)
        filled.append(panel.member & ~outline)
    return np.stack(filled)


def _without(single: list[Panel], name: str) -> Bools | None:
    """Members of one category or more that are hollow, or pale, in all of these."""
    marks = [getattr(panel, name) for panel in single]
    if marks[0] is None:
        return None
    members = [panel.member for panel in single]
    plain = [member & ~mark for member, mark in zip(members, marks, strict=True)]
    return np.asarray(np.logical_or.reduce(members) & ~np.logical_or.reduce(plain))


def _labelled(panels: list[Panel]) -> tuple[Panel, ...]:
    """The same panels; each head is called by the categories that it belongs to, and how."""
    single = [panel for panel in panels if panel.belongs is None]
    combinations = np.zeros(panels[0].value.shape, np.int64)  # a digit for each panel, as in `_HOW`
    for place, panel in enumerate(single):
        digit = 2 * panel.member - (0 if panel.hollow is None else panel.hollow)
        digit = digit + (0 if panel.half is None else 2 * panel.half)
        combinations += digit * len(_HOW) ** place
    distinct, codes = np.unique(combinations, return_inverse=True)
    words = []
    for combination in distinct.tolist():
        digits = [combination // len(_HOW) ** place % len(_HOW) for place in range(len(single))]
        titles = [panel.title + _HOW[digit] for panel, digit in zip(single, digits, strict=True) if digit]
        words.append(" · ".join(titles) or UNCLASSIFIED)
    label = PanelLabel(tuple(words), codes.reshape(panels[0].value.shape).astype(np.uint16))
    return tuple(replace(panel, label=label) for panel in panels)


def categories_of_heads(panels: tuple[Panel, ...]) -> list[str]:
    """For each head the categories that it belongs to, and how; empty where there is none."""
    label = panels[0].label
    if label is None:
        return [""] * panels[0].value.size
    words = ["" if text == UNCLASSIFIED else text for text in label.words]
    return [words[code] for code in label.codes.ravel().tolist()]


@cached(16)
def _value(
    scores: Scores, items: tuple[str, ...], how: How, kinds: tuple[str, ...]
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """The number that decides for each head, and why there is none: the worst of its items' reasons.

    Cached, because a change of τ asks for the same numbers again.
    """
    value = np.asarray(reduced(scores, items, how, kinds).sel(sample=ONLY_SAMPLE).values, dtype=np.float64)
    worst = scores.missing.sel(item=list(items), sample=ONLY_SAMPLE).max(("item", "kind")).values
    return value, np.where(np.isnan(value), worst, Missing.PRESENT).astype(np.int8)


def _member(value: Floats, counts: Bools, state: FunctionState) -> Bools:
    with np.errstate(invalid="ignore"):
        above = (value > state.tau) & counts
    if state.top and state.top < above.sum():
        least = np.sort(value[above])[-state.top]
        above &= value >= least
    return above
