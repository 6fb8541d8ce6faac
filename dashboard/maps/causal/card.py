"""The causal part of a head's card: its gates in every seed, for each task."""

import json
from typing import Any

import numpy as np
from dash import html

from analysis.methods.causal.result import CONTRAST, HEAD_ROLES, TASK
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores
from dashboard.maps.causal import evidence
from dashboard.maps.causal.contradictions import contradiction_words
from dashboard.maps.causal.gates import task_names
from dashboard.maps.causal.head import HeadGates, head_gates
from dashboard.maps.causal.panels import NAMED_ROLES
from dashboard.maps.causal.state import CausalState
from dashboard.maps.head_part import AskedHead, HeadPart, provenance_table
from dashboard.maps.map import MapView
from dashboard.palette import tone_name


def head_part(asked: AskedHead, shown: MapView[CausalState]) -> HeadPart:
    """A part for each task."""
    state = shown.state
    gates = head_gates(shown.result, asked.head, state.threshold, state.one_seed)
    variants = {task.variant.name for task in gates}
    hints = [words for variant, words in _HINTS.items() if variant in variants]
    by = f"seed {state.one_seed}" if state.one_seed else "mean"
    tasks = [_task(task, shown, by) for task in gates]
    content = [html.H3("Gates"), html.P(" ".join(hints), className="hint"), *tasks]
    return HeadPart(content, [_provenance(shown.result)])


_HINTS = {
    TASK.name: "Every row is a seed: the filled dot is the gate pushed shut (G⁻ = F), the ring the gate pushed open "
    "(G⁺ = 1 − N). Both at 1: the task needs the head. Both at 0: it hurts. Dot at 0, ring at 1: it does not matter. "
    "Dot right of the ring: the two fits contradict each other.",
    CONTRAST.name: "Contrasted pairs have one gate per seed: at 0, only what is to be forgotten needs the head.",
}


def _task(task: HeadGates, shown: MapView[CausalState], by: str) -> html.Div:
    total = shown.total
    role = html.Span(f" {task.role}", className="roles") if not task.seeds else _role(task)
    link = shown.link(task.title, tasks=(task.name,))
    heading = html.P([html.B(link), role], className="gate-task")
    if not task.seeds:
        return html.Div([heading, html.P(task.missing or "no seed was fitted", className="hint")], className="gates")
    words = html.Div([_scores(task, total, by), *_contradiction(task), *_measured(task, total)], className="gate-words")
    return html.Div([heading, html.Div([_dots(task), words], className="gate-body")], className="gates")


def _role(task: HeadGates) -> html.Span:
    """Its role follows θ: the scripts write it."""
    seeds = [[None if np.isnan(score) else score for score in of_seed] for of_seed in task.scores]
    odd = contradiction_words(task.contradictory)
    gates = json.dumps({"seeds": seeds, "about": task.variant.about or task.title, "odd": odd})
    return html.Span(f" {task.role}", className="roles", **{"data-gates": gates})


def _dots(task: HeadGates) -> html.Div:
    """The gates on an axis from 0 to 1."""
    opened: list[float] | list[None] = task.open or [None] * len(task.shut)
    gates = list(zip(task.seeds, task.shut, opened, strict=True))
    rows, words = [], []
    for seed, pushed_shut, pushed_open in gates:
        is_odd = seed in task.contradictory
        said = _gate_words(seed, pushed_shut, pushed_open, is_odd)
        rows.append(_seed(said, pushed_shut, pushed_open, is_odd))
        words.append(said)
    label = "; ".join(words)
    axis = html.Div([html.Span("0"), html.Span("gate"), html.Span("1")], className="dot-axis")
    return html.Div([*rows, axis], className="dots", role="img", **{"aria-label": f"Gates of {task.title}: {label}"})


def _gate_words(seed: str, shut: float, opened: float | None, is_odd: bool) -> str:
    if opened is None:
        return f"{seed}: G {shut:.2f}"
    contradiction = " (the two contradict each other)" if is_odd else ""
    return f"{seed}: G⁻ {shut:.2f}, G⁺ {opened:.2f}{contradiction}"


def _seed(words: str, shut: float, opened: float | None, is_odd: bool) -> html.Div:
    marks = [html.I(className="dot", style={"left": _at(shut), "background": tone_name(HEAD_ROLES[0])})]
    if opened is not None:
        low, high = sorted((shut, opened))
        line = html.I(className="dot-line", style={"left": _at(low), "width": _at(high - low)})
        ring = html.I(className="dot ring", style={"left": _at(opened), "borderColor": tone_name(HEAD_ROLES[1])})
        marks = [line, ring, *marks]
    style = "dot-row odd" if is_odd else "dot-row"
    return html.Div(marks, className=style, title=words)


def _at(share: float) -> str:
    return f"{100 * share:.1f}%"


def _scores(task: HeadGates, total: int, by: str) -> html.Table:
    """Needs it, hurts it and does not matter (F, N and R) with their place among all heads."""
    names = (("score", ""), ("Always", "num"), ("Any", "num"), (f"rank of {total:,} by {by}", "num"))
    hint = "Its place in the validation curve's order, by the mean over the seeds or by the one shown alone."
    header = html.Tr(
        [html.Th(name, scope="col", className=style, title=hint * ("rank" in name)) for name, style in names]
    )
    rows = []
    for role in (role for role in HEAD_ROLES if role in task.any):
        cells = [html.Td(_two(column.get(role)), className="num") for column in (task.always, task.any)]
        rank = html.Td(str(task.ranks.get(role, "")), className="num")
        rows.append(html.Tr([html.Th(NAMED_ROLES[role], scope="row", title=role), *cells, rank]))
    return html.Table([html.Thead(header), html.Tbody(rows)], className="gate-scores")


def _contradiction(task: HeadGates) -> list[html.P]:
    """Which seeds say two things at once."""
    words = contradiction_words(task.contradictory)
    if not words:
        return []
    explained = "the gate pushed shut stays open, the one pushed open closes"
    return [html.P(f"{words[0].upper()}{words[1:]}: {explained}.", className="flag")]


def _two(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def _measured(task: HeadGates, total: int) -> list[Any]:
    """What switching the head off did, and what the gradient predicted."""
    said = []
    if task.effect is not None:
        place = f"rank {task.effect_rank} of {total:,} by size"
        said.append(f"Switching it off changes the target's log P by {_signed(task.effect)} ({place}).")
    if task.preview is not None:
        share = f", helpful on {100 * task.preview_share:.0f} % of prompts" if task.preview_share is not None else ""
        said.append(f"Preview (first-order): g = {_signed(task.preview)}{share}.")
    return [html.P(words, className="hint") for words in said]


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


def _provenance(causal: Scores) -> html.Details:
    """Where the gates come from."""
    facts = causal.provenance
    settings: dict[str, list[str]] = {}
    for task in task_names(causal):
        words = _settings_words(evidence.fit_settings(causal, task))
        settings.setdefault(words, []).append(evidence.title(causal, task))
    rows = {
        "tasks": ", ".join(f"{item.title} ({item.hash})" for item in facts.items),
        "method": f"{facts.method} map, version {facts.version}",
        **{f"settings of {', '.join(titles)}": words for words, titles in settings.items()},
        "computed": f"{facts.date} on {facts.device}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.libraries.items()),
    }
    return provenance_table("Provenance of the causal map", rows)


def _settings_words(settings: JsonObject) -> str:
    """Numbers as they are, learning rates from first to last."""
    words = []
    for name, value in settings.items():
        if isinstance(value, (list, tuple)):
            value = " → ".join(f"{rate:g}" for rate in value)
        if isinstance(value, (int, float, str)):
            words.append(f"{name.replace('_', ' ')} {value}")
    return ", ".join(words)
