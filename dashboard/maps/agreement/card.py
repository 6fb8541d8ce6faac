"""The agreement map's part of a head's card: its class for every cause that the model has, chosen on the map or not."""

import numpy as np
from dash import html

from analysis.evidence.agreement import WORDS, LabelComparison, rule_of, whether_methods
from analysis.method import Method
from analysis.models.card import HeadId
from analysis.results.scores import Missing
from dashboard.maps.agreement.panels import reasons_of
from dashboard.maps.agreement.sides import AgreementView, against, sides
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.sentences import number


def head_part(asked: AskedHead, shown: AgreementView, title: str) -> HeadPart | None:
    """A table for each method that says whether heads matter: tasks and relations, one row each."""
    tables = []
    for whether in whether_methods(dict(shown.by_method)):
        comparisons = against(shown, whether.name, shown.state.over, shown.state.counted)
        if comparisons:
            tables.append(_table(shown, whether, comparisons, asked.head))
    if not tables:
        return None
    label = sides(shown).label
    hint = (
        f"Labelled: a score above {label.letter} = {number(shown.state.label)} ({sides(shown).what.title}) for the "
        "relation itself or, in the row of a task, for any relation."
    )
    return HeadPart([html.Div([html.H3(title), html.P(hint, className="hint"), *tables])])


def _table(shown: AgreementView, whether: Method, comparisons: list[LabelComparison], head: HeadId) -> html.Table:
    rule = rule_of(whether.name)
    least = number(shown.state.least_cause(rule.unit))
    names = {
        f"Causes: {whether.title}": f"a head is causal from {rule.letter} = {least} upwards",
        "class": "",
        sides(shown).label.words: f"of {sides(shown).what.title}, which makes the label",
        rule.words: f"of {whether.title}, which makes the cause",
    }
    header = []
    for at, (name, explained) in enumerate(names.items()):
        header.append(html.Th(name, scope="col", className="num" if at > 1 else "", title=explained))
    rows = [_row(shown, each, head) for each in comparisons]
    return html.Table([html.Thead(html.Tr(header)), html.Tbody(rows)])


def _row(shown: AgreementView, each: LabelComparison, head: HeadId) -> html.Tr:
    cell = (shown.card.layers.index(head.layer), head.head)
    reason = Missing(int(reasons_of(shown, each)[cell]))
    codes = each.codes(shown.state.label, shown.state.least_cause(rule_of(each.whether).unit))
    words = WORDS[int(codes[cell])] if reason == Missing.PRESENT else reason.words
    label = [_two(each.label[cell])]
    relation = "" if each.own else _best_relation(shown, each.what, cell)
    if relation:
        label.append(html.Div(relation, className="interval"))
    numbers = [html.Td(label, className="num"), html.Td(_two(each.cause[cell]), className="num")]
    return html.Tr([html.Th(each.title, scope="row"), html.Td(words), *numbers])


def _two(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _best_relation(shown: AgreementView, what: str, cell: tuple[int, int]) -> str:
    """The relation whose score counts where that of any does."""
    scores = dict(shown.by_method)[what]
    strengths = sides(shown).what.strengths(scores)
    if strengths is None:
        return ""
    mine = strengths.isel(layer=cell[0], head=cell[1]).fillna(0.0)
    return scores.item(str(mine["item"].values[int(mine.values.argmax())])).title if float(mine.max()) > 0 else ""
