"""The agreement map's part of a head's card: its class for every cause that the model has, chosen on the map or not."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from dash import html

from analysis.evidence.agreement import WORDS, LabelComparison, rule_of, whether_methods
from analysis.method import Method
from analysis.models.card import HeadId
from analysis.results.provenance import JsonObject
from analysis.results.scores import Missing
from dashboard.maps.agreement.panels import reasons_of
from dashboard.maps.agreement.sides import AgreementView, against, sides
from dashboard.maps.agreement.state import AgreementState, CountedLabels, Over
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadCell, HeadRow, HeadRows
from dashboard.maps.sentences import number


@dataclass(frozen=True)
class ClassFacts:
    """All that decides about a head and an item, whatever the controls say (assets/atlas/maps/agreement_card.mjs)."""

    labels: tuple[float | None, ...]  # all that count, and those beyond copying
    relations: tuple[str, ...]  # whose scores these are, where those of any relation count
    causes: tuple[float | None, ...]  # on average, in every sample, in some
    strict: tuple[bool, bool]  # whether label and cause must be above their thresholds
    unit: str  # of the cause, on which its threshold depends
    missing: str  # why there is no class; empty where there is one

    def words(self, state: AgreementState) -> str:
        """The class under the controls."""
        if self.missing:
            return self.missing
        label, cause = self.chosen(state)
        least = state.cause if self.unit == "share" else state.change
        is_labelled = _holds(label, state.label, self.strict[0])
        has_cause = _holds(cause, least, self.strict[1])
        return WORDS[2 * is_labelled + has_cause]

    def chosen(self, state: AgreementState) -> tuple[float | None, float | None]:
        """The two numbers that decide."""
        return self.labels[self.counted(state)], self.causes[get_args(Over).index(state.over)]

    def counted(self, state: AgreementState) -> int:
        """The place of the labels that count."""
        return get_args(CountedLabels).index(state.counted)

    def to_plain(self) -> JsonObject:
        """As the scripts take it."""
        return dict(vars(self))


def _holds(value: float | None, least: float, strict: bool) -> bool:
    if value is None:
        return False
    return value > least if strict else value >= least


def head_part(asked: AskedHead, shown: AgreementView, title: str) -> HeadPart | None:
    """A table for each method that says whether heads matter: tasks and relations, one row each."""
    tables = []
    for whether in whether_methods(dict(shown.by_method)):
        comparisons = against(shown, whether.name, "mean", "all")
        if comparisons:
            tables.append(_table(shown, whether, comparisons, asked))
    if not tables:
        return None
    label = sides(shown).label
    hint = [
        f"Labelled: a score above {label.letter} = ",
        _following("label", shown.state.label),
        f" ({sides(shown).what.title}) for the relation itself or, in the row of a task, for any relation.",
    ]
    return HeadPart([html.Div([html.H3(title), html.P(hint, className="hint"), *tables])])


def head_rows(heads: Sequence[HeadId], shown: AgreementView, title: str) -> HeadRows:
    """The class of each head for every item on the map."""
    whether = sides(shown).whether
    rows = []
    for each in against(shown, whether.name, "mean", "all"):
        cells = []
        for head in heads:
            facts = _facts(shown, each, head)
            words = html.Span(facts.words(shown.state), className="agreement-class")
            cells.append(HeadCell(html.Span(words, **{"data-agreement": json.dumps(facts.to_plain())})))
        rows.append(HeadRow(shown.link(each.title), tuple(cells)))
    return HeadRows(f"{title}: {sides(shown).what.title} and {whether.title}", tuple(rows))


def _following(key: str, value: float) -> html.Span:
    """A threshold as the control says it (scripts)."""
    return html.Span(number(value), **{"data-number": key})


def _table(shown: AgreementView, whether: Method, comparisons: list[LabelComparison], asked: AskedHead) -> html.Table:
    rule = rule_of(whether.name)
    key = "cause" if rule.unit == "share" else "change"
    least = _following(key, shown.state.least_cause(rule.unit))
    causes: list[Any] = [f"Causes: {whether.title}, {rule.letter} = ", least]
    header = [
        html.Th(causes, scope="col", title=f"a head is causal at {rule.letter} or more"),
        html.Th("class", scope="col"),
        html.Th(
            sides(shown).label.words,
            scope="col", className="num", title=f"of {sides(shown).what.title}, which makes the label",
        ),
        html.Th(
            rule.words,
            scope="col", className="num", title="; ".join(filter(None, (f"of {whether.title}", rule.note))),
        ),
    ]  # fmt: skip
    rows = [_row(shown, each, asked.head) for each in comparisons]
    return html.Table([html.Thead(html.Tr(header)), html.Tbody(rows)])


def _row(shown: AgreementView, each: LabelComparison, head: HeadId) -> html.Tr:
    facts, state = _facts(shown, each, head), shown.state
    label, cause = facts.chosen(state)
    is_shown = each.whether == sides(shown).whether.name
    link = shown.link(each.title) if is_shown else shown.link(each.title, whether=each.whether)
    numbers = [
        html.Td(
            [
                html.Span(two_digits(label), className="agreement-label"),
                html.Div(facts.relations[facts.counted(state)], className="interval agreement-relation"),
            ],
            className="num",
        ),
        html.Td(two_digits(cause), className="num agreement-cause"),
    ]
    words = html.Td(facts.words(state), className="agreement-class")
    return html.Tr([html.Th(link, scope="row"), words, *numbers], **{"data-agreement": json.dumps(facts.to_plain())})


def _facts(shown: AgreementView, each: LabelComparison, head: HeadId) -> ClassFacts:
    """What decides about a head and an item under every setting."""
    cell = (shown.card.layers.index(head.layer), head.head)
    labels, relations = [], []
    for counted in get_args(CountedLabels):
        of_counted = _same(against(shown, each.whether, "mean", counted), each)
        labels.append(_plain(of_counted.label[cell]))
        relations.append("" if each.own else _best_relation(shown, each.what, cell, counted))
    causes = []
    for over in get_args(Over):
        causes.append(_plain(_same(against(shown, each.whether, over, "all"), each).cause[cell]))
    reason = Missing(int(reasons_of(shown, each)[cell]))
    rules = sides(shown).label, rule_of(each.whether)
    return ClassFacts(
        labels=tuple(labels),
        relations=tuple(relations),
        causes=tuple(causes),
        strict=(rules[0].strict, rules[1].strict),
        unit=rules[1].unit,
        missing="" if reason == Missing.PRESENT else reason.words,
    )


def _same(comparisons: list[LabelComparison], each: LabelComparison) -> LabelComparison:
    """The one of the same item."""
    return next(other for other in comparisons if other.item == each.item)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def two_digits(value: float | None) -> str:
    """A number as the card shows it."""
    return "" if value is None else f"{value:.2f}"


def _best_relation(shown: AgreementView, what: str, cell: tuple[int, int], counted: CountedLabels) -> str:
    """The relation whose score counts where that of any does."""
    scores, method = dict(shown.by_method)[what], sides(shown).what
    strengths = method.specific_strengths(scores) if counted == "beyond" else None
    if strengths is None:
        strengths = method.strengths(scores)
    if strengths is None:
        return ""
    mine = strengths.isel(layer=cell[0], head=cell[1]).fillna(0.0)
    return scores.item(str(mine["item"].values[int(mine.values.argmax())])).title if float(mine.max()) > 0 else ""
