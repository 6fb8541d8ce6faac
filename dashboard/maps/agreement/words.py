"""What the agreement map says: sentence, legend, counts. The scripts say the same (assets/atlas/maps/agreement.mjs)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.evidence.agreement import BOTH, WORDS, expected_counts
from analysis.results.labels import LabelRule
from dashboard.maps.agreement.panels import ORDER, colour, counts, tenths
from dashboard.maps.agreement.sides import AgreementView, has_samples, sides, tells_copying
from dashboard.maps.agreement.state import AgreementState
from dashboard.maps.counts import ShareTable
from dashboard.maps.entry import LegendEntry
from dashboard.maps.panel import Panel
from dashboard.maps.sentences import Said, bold, number
from dashboard.palette import Colours

BEYOND = " beyond copying"  # after what makes a label
_OVER = {"mean": "on average over the {}", "always": "in every one of the {}", "any": "in at least one of the {}"}
_REPLACED = {
    "zero": "heads set to zero",
    "mean": "heads set to their mean",
    "both": "whether set to zero or to their mean",
}
TABLE = ShareTable("agreement ", "class", ("heads", "by chance"), (), 1)  # of any panel; an item's name is added


@dataclass(frozen=True)
class AgreementFacts:
    """All that the sentence is made of, beside the settings that follow the controls."""

    model: str
    what: str
    whether: str
    label: LabelRule
    cause: LabelRule
    copying: bool  # whether labels beyond copying are told from others
    samples: str  # what causes hold over; empty when there is one


def facts(shown: AgreementView) -> AgreementFacts:
    """The facts about what is on the page."""
    two = sides(shown)
    samples = two.cause.samples if has_samples(shown) else ""
    whether = two.whether.title
    if two.whether.replacements:
        whether += f", {_REPLACED[shown.state.replaced]}"
    if two.cause.note:
        whether += f"; {two.cause.note}"
    return AgreementFacts(shown.card.id, two.what.title, whether, two.label, two.cause, tells_copying(shown), samples)


def said(shown: AgreementView) -> list[Said]:
    """What makes a head labelled, and what makes it causal."""
    about, state = facts(shown), shown.state
    label = _above(about.label, state.label, BEYOND if about.copying and state.counted == "beyond" else "")
    cause = _above(about.cause, state.least_cause(about.cause.unit))
    over = f", {_OVER[state.over].format(about.samples)}" if about.samples else ""
    return [
        f"Each square is one attention head of {about.model}. It is ",
        bold("labelled"),
        f" if its {label} for any relation, or for the panel's own relation ({about.what}), and ",
        bold("causal"),
        f" if its {cause}{over} ({about.whether}).",
    ]


def _above(rule: LabelRule, least: float, more: str = "") -> str:
    return f"{rule.words}{more} is {'above' if rule.strict else 'at least'} {rule.letter} = {number(least)}"


def legend(shown: AgreementView, palette: Colours) -> list[LegendEntry]:
    """A colour for each class, with how many heads of each panel are in it."""
    entries = []
    for code in ORDER:
        entries.append(LegendEntry(f"{WORDS[code]}: {_counted(shown.panels, code)}", colour(code, palette)))
    return entries


def _counted(panels: Sequence[Panel], code: int) -> str:
    parts = []
    for panel in panels:
        of_classes = class_counts(panel)
        chance = f" ({tenths(expected_counts(of_classes)[code])} by chance)" if code == BOTH else ""
        parts.append(f"{panel.title} {of_classes[code]}{chance}")
    return ", ".join(parts)


def class_counts(panel: Panel) -> list[int]:
    """Heads of each class in a panel."""
    if panel.label is None:
        return [0] * len(WORDS)
    return counts(panel.label.codes, panel.reason)


def shares(shown: AgreementView, palette: Colours) -> list[ShareTable]:
    """Every class of every panel, beside what independence would give."""
    tables = []
    for panel in shown.panels:
        if panel.label is None:
            continue
        of_classes = class_counts(panel)
        expected = expected_counts(of_classes)
        rows = []
        for code in ORDER:
            numbers = (of_classes[code], tenths(expected[code]))
            rows.append((WORDS[code], colour(code, palette), numbers))
        total = max(sum(of_classes), 1)
        tables.append(replace(TABLE, task=TABLE.task + panel.key, rows=tuple(rows), total=total))
    return tables


def rule_words(state: AgreementState, about: AgreementFacts) -> str:
    """Both thresholds, for a picture's heading."""
    cause = number(state.least_cause(about.cause.unit))
    more = BEYOND if about.copying and state.counted == "beyond" else ""
    return f"{about.label.letter} = {number(state.label)}{more}, {about.cause.letter} = {cause}"
