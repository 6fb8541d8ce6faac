"""From two methods' strengths and the state to what each panel shows."""

import numpy as np
import numpy.typing as npt

from analysis.evidence.agreement import (
    BOTH,
    IRRELEVANT,
    NEITHER,
    UNLABELLED,
    WORDS,
    LabelComparison,
    chance_of_both,
    expected_counts,
    p_words,
)
from analysis.results.scores import Missing, Scores
from dashboard.maps.agreement.sides import AgreementView, shown_comparisons, sides
from dashboard.maps.look import Look
from dashboard.maps.panel import Panel, PanelLabel, PanelMeasure, without_scores
from dashboard.palette import Colours

# The hues that are told apart best, by class; heads that are neither have nothing to show.
_HUES = {UNLABELLED: 1, IRRELEVANT: 0, BOTH: 2}
TONES = {UNLABELLED: "class-unlabelled", IRRELEVANT: "class-irrelevant", BOTH: "class-both"}
ORDER = (BOTH, IRRELEVANT, UNLABELLED, NEITHER)  # in which they are told
NO_PANEL = "Label and cause"


def panels(shown: AgreementView) -> tuple[Panel, ...]:
    """One for each task or relation for which heads may matter."""
    comparisons = shown_comparisons(shown)
    if not comparisons:
        return (without_scores("", NO_PANEL, shown.card, Missing.NOT_COMPUTED),)
    return tuple(_panel(shown, each) for each in comparisons)


def _panel(shown: AgreementView, each: LabelComparison) -> Panel:
    reason = reasons_of(shown, each)
    codes = classes(shown, each)
    label, cause = sides(shown).label, sides(shown).cause
    is_there = reason == Missing.PRESENT
    return Panel(
        key=each.item,
        title=each.title,
        value=np.where(is_there, each.cause, np.nan),
        member=(codes == BOTH) & is_there,
        reason=reason,
        measures=(PanelMeasure(label.words, each.label), PanelMeasure(cause.words, each.cause)),
        label=PanelLabel(WORDS, codes.astype(np.uint16)),
        remark=remark(counts(codes, reason)),
    )


def classes(shown: AgreementView, each: LabelComparison) -> npt.NDArray[np.uint8]:  # [layer, head]
    """The class of every head at the thresholds of the page."""
    return each.codes(shown.state.label, shown.state.least_cause(sides(shown).cause.unit))


def counts(codes: npt.NDArray[np.generic], reason: npt.NDArray[np.int8]) -> list[int]:
    """Heads of each class, of those that have both numbers."""
    there = codes[reason == Missing.PRESENT]
    return [int((there == code).sum()) for code in range(len(WORDS))]


def remark(of_classes: list[int]) -> str:
    """What stands after a panel's title."""
    expected = tenths(expected_counts(of_classes)[BOTH])
    return f"{of_classes[BOTH]} both, {expected} by chance ({p_words(chance_of_both(of_classes))})"


def tenths(value: float) -> float:
    """A number to one digit, halves upwards as the scripts round."""
    return int(10 * value + 0.5) / 10


def reasons_of(shown: AgreementView, each: LabelComparison) -> npt.NDArray[np.int8]:  # [layer, head]
    """Why a head has no class: the worst reason of the side that lacks a number."""
    results = dict(shown.by_method)
    of_label = _worst(results[each.what], [each.item] if each.own else results[each.what].items())
    of_cause = _worst(results[each.whether], [each.item])
    reason = np.where(np.isnan(each.label), of_label, Missing.PRESENT)
    reason = np.maximum(reason, np.where(np.isnan(each.cause), of_cause, Missing.PRESENT))
    return reason.astype(np.int8)


def _worst(scores: Scores, items: list[str]) -> npt.NDArray[np.int8]:  # [layer, head]
    worst = scores.missing.sel(item=items).max(["item", "kind", "sample"]).values
    return np.asarray(np.maximum(worst, Missing.NOT_COMPUTED), dtype=np.int8)


def colour(code: int, palette: Colours) -> str:
    """The colour of a class."""
    return palette.of(TONES[code]) if code in TONES else palette.empty


def look(panel: Panel, palette: Colours) -> Look:
    """A colour for each class."""
    shades = [*palette.missing, *(colour(code, palette) for code in range(len(WORDS)))]
    if panel.label is None:
        return Look.of_missing(panel, palette)
    codes = np.where(panel.reason == Missing.PRESENT, panel.label.codes + len(palette.missing), panel.reason)
    return Look(codes.astype(np.uint8), shades, palette.empty)


def tones(palette: Colours) -> dict[str, str]:
    """The colours of the classes by their names."""
    return {name: palette.hues[_HUES[code]] for code, name in TONES.items()}
