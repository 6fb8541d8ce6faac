"""How far the causal map can be believed, task by task: what the model can do, how many heads have a role."""

from typing import Any

import numpy as np
from dash import html

from analysis.methods.causal.result import FEW_UPDATES, HEAD_ROLES, KindAccuracy
from analysis.results.scores import Scores
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import COLUMN_NAMES, LETTERS, fitted_seeds, shares, shown_tasks
from dashboard.maps.causal.panels import NAMED_ROLES, SHORT_WORDS, shown_columns
from dashboard.maps.causal.state import CausalState
from dashboard.maps.counts import ShareTable
from dashboard.palette import Colours

_FEW_PROMPTS = 20  # on which an accuracy says little


def tasks(causal: Scores, state: CausalState) -> html.Div:
    """For each task: what the untouched model can do, how many seeds, how many heads have a role."""
    parts = [_task(causal, task) for task in shown_tasks(causal, state)]
    return html.Div(parts, className="tasks")


def _task(causal: Scores, task: str) -> html.Section:
    return html.Section(
        [
            html.H3(evidence.title(causal, task)),
            html.P(evidence.sentence(causal, task), className="hint"),
            *_untouched(causal, task),
            html.Div(className="shares-of", **{"data-task": task}),  # the scripts write it: it follows θ
            *_agreement(causal, task),
            *_settled(causal, task),
            *_other_fits(causal, task),
        ],
        className="task",
    )


def _untouched(causal: Scores, task: str) -> list[Any]:
    """Accuracy and NLL without any gate, by kind on request, and a warning when the model can hardly do the task."""
    if not evidence.variant(causal, task).is_task:
        return []
    measured = evidence.untouched(causal, task)
    if measured is None:
        return [html.P("The untouched model has not been measured on this task yet.", className="hint")]
    nll = f", NLL {measured.nll:.2f}" if measured.nll is not None else ""
    count = f" of {measured.items:,} validation prompts" if measured.items else ""
    said = [html.P(["Untouched model: ", html.B(f"{100 * measured.accuracy:.0f} %"), f"{count} right{nll}."])]
    if 0 < measured.items < _FEW_PROMPTS:
        said.append(html.P("So few prompts say little about what the model can do.", className="flag"))
    elif measured.flagged:
        said.append(html.P("The model can hardly do this task, so its gates mean little.", className="flag"))
    if measured.kinds:
        said.append(html.Details([html.Summary("By kind"), _kinds(measured.kinds)]))
    return said


def _kinds(kinds: tuple[KindAccuracy, ...]) -> html.Table:
    rows = []
    for kind in kinds:
        right, nll = f"{100 * kind.accuracy:.0f} %", f"{kind.nll:.2f}"
        name = html.Th(kind.kind.replace("_", " "), scope="row")
        rows.append(html.Tr([name, html.Td(right, className="num"), html.Td(nll, className="num")]))
    names = (("kind", ""), ("right", "num"), ("NLL", "num"))
    header = html.Tr([html.Th(name, scope="col", className=style) for name, style in names])
    return html.Table([html.Thead(header), html.Tbody(rows)], className="kinds")


def share_tables(causal: Scores, state: CausalState, palette: Colours) -> tuple[ShareTable, ...]:
    """The share of heads with each role, Always and Any or of one seed, for each task."""
    columns = shown_columns(causal, CausalState(seed=state.seed))
    heads = causal.score.sizes["layer"] * causal.score.sizes["head"]
    titles = tuple(COLUMN_NAMES.get(column, column.capitalize()) for column in columns)
    tables = []
    for task in shown_tasks(causal, state):
        by_column = [shares(causal, task, column, state.threshold) for column in columns]
        rows = []
        for role in HEAD_ROLES:
            counts = []
            for of_column in by_column:
                counts.append(round(of_column[role] * heads) if role in of_column else -1)
            if any(count >= 0 for count in counts):
                rows.append((NAMED_ROLES[role], palette.of(role), tuple(counts)))
        tables.append(ShareTable(task, f"heads scoring at least {state.threshold:g}", titles, tuple(rows), heads))
    return tuple(tables)


def _agreement(causal: Scores, task: str) -> list[Any]:
    """How well the quick preview predicts the fitted gates, as it is."""
    correlations = evidence.agreement(causal, task)
    if not correlations:
        return []
    numbers = " and ".join(
        f"{value:+.2f} with “{SHORT_WORDS[role]}” ({LETTERS[role]})" for role, value in correlations.items()
    )
    strength = max(abs(value) for value in correlations.values())
    words = f"Gradient preview against fitted gates: rank correlation {numbers}; it {_verdict(strength)}."
    return [html.P(words.replace("-", "−"), className="hint")]


def _verdict(strength: float) -> str:
    """How well a correlation lets the preview predict the gates."""
    if strength < 0.3:
        return "hardly predicts them"
    return "is a weak predictor of them" if strength < 0.7 else "predicts them well"


def _settled(causal: Scores, task: str) -> list[Any]:
    """Whether the gates came to rest, over the seeds that are there."""
    settled = evidence.settled(causal, task)
    parts = []
    for side, words in (("open", "G⁺"), ("shut", "G⁻")):
        if settled.get(side):
            parts.append(f"{100 * np.mean(settled[side]):.0f} % of {words}")
    count = len(fitted_seeds(causal, task))
    seeds = f"{count} {'seed' if count == 1 else 'seeds'}"
    end = f"; {' and '.join(parts)} end within 0.1 of 0 or 1" if parts else ""
    said = [html.P(f"{seeds}{end}.", className="hint")]
    if count and 0 < _updates(causal, task) < FEW_UPDATES:
        words = "So few updates leave most gates near their random initialisation: a trial, not a finding."
        said.append(html.P(words, className="flag"))
    return said


def _updates(causal: Scores, task: str) -> int:
    settings = evidence.fit_settings(causal, task)
    return sum(int(settings.get(name, 0)) for name in ("free_updates", "push_updates"))


def _other_fits(causal: Scores, task: str) -> list[Any]:
    """Other fits of the task, which a longer one hides."""
    others = evidence.other_fits(causal, task)
    if not others:
        return []
    return [html.P(f"Other fits, which can be chosen under Fit: {'; '.join(others)}.", className="hint")]
