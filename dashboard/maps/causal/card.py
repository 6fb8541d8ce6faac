"""The causal part of a head's card: its gates in every seed, for each task."""

from typing import Any

from dash import html

from analysis.methods.causal.plan import ROLES
from analysis.models.card import HeadId
from analysis.results.scores import Scores
from dashboard.maps.causal.gates import LETTERS
from dashboard.maps.causal.head import head_gates
from dashboard.palette import Colours
from dashboard.state import ViewState
from dashboard.view import View


def roles_of_head(causal: Scores, head: HeadId, state: ViewState) -> str:
    """What the tasks say of it, in one line."""
    return " · ".join(f"{task['title']}: {task['role']}" for task in head_gates(causal, head, state.role))


def gates_of_head(view: View, head: HeadId, palette: Colours) -> list[Any]:
    """A part for each task; nothing when there is no causal map."""
    if view.causal is None:
        return []
    found = head_gates(view.causal, head, view.state.role, view.state.one_seed)
    hints = [words for contrasted, words in _HINTS.items() if any(task["contrasted"] == contrasted for task in found)]
    by = f"seed {view.state.one_seed}" if view.state.one_seed else "mean"
    tasks = [_task(task, view.causal, by, palette) for task in found]
    return [html.H3("Gates"), html.P(" ".join(hints), className="hint"), *tasks]


_HINTS = {
    False: "Every row is a seed: the filled dot is the gate pushed shut (G⁻ = F), the ring the gate pushed open "
    "(G⁺ = 1 − N). Both at 1: the task needs the head. Both at 0: it hurts. Far apart: it does not matter.",
    True: "Of contrasted pairs there is one gate a seed: at 0, only what is to be forgotten needs the head.",
}


def _task(task: dict[str, Any], causal: Scores, by: str, palette: Colours) -> html.Div:
    heading = html.P([html.B(task["title"]), html.Span(f" {task['role']}", className="roles")], className="gate-task")
    if not task["seeds"]:
        return html.Div([heading, html.P(task["missing"] or "no seed was fitted", className="hint")], className="gates")
    total = causal.score.sizes["layer"] * causal.score.sizes["head"]
    words = html.Div([_scores(task, total, by), *_measured(task, total)], className="gate-words")
    return html.Div([heading, html.Div([_dots(task, palette), words], className="gate-body")], className="gates")


def _dots(task: dict[str, Any], palette: Colours) -> html.Div:
    """The gates on an axis from 0 to 1."""
    opened = task["open"] or [None] * len(task["shut"])
    gates = list(zip(task["seeds"], task["shut"], opened, strict=True))
    rows = [_seed(*gate, palette) for gate in gates]
    label = "; ".join(_gate_words(*gate) for gate in gates)
    axis = html.Div([html.Span("0"), html.Span("gate"), html.Span("1")], className="dot-axis")
    return html.Div([*rows, axis], className="dots", role="img", **{"aria-label": f"Gates of {task['title']}: {label}"})


def _gate_words(seed: str, shut: float, opened: float | None) -> str:
    return f"{seed}: G {shut:.2f}" if opened is None else f"{seed}: G⁻ {shut:.2f}, G⁺ {opened:.2f}"


def _seed(name: str, shut: float, opened: float | None, palette: Colours) -> html.Div:
    marks = [html.I(className="dot", style={"left": _at(shut), "background": palette.of(ROLES[0])})]
    if opened is not None:
        low, high = sorted((shut, opened))
        line = html.I(className="dot-line", style={"left": _at(low), "width": _at(high - low)})
        ring = html.I(className="dot ring", style={"left": _at(opened), "borderColor": palette.of(ROLES[1])})
        marks = [line, ring, *marks]
    return html.Div(marks, className="dot-row", title=_gate_words(name, shut, opened))


def _at(share: float) -> str:
    return f"{100 * share:.1f}%"


def _scores(task: dict[str, Any], total: int, by: str) -> html.Table:
    """F, N and R with their place among all heads."""
    names = (("", ""), ("Always", "num"), ("Any", "num"), (f"rank of {total:,} by {by}", "num"))
    hint = "Its place in the validation curve's order, by the mean over the seeds or by the one shown alone."
    header = html.Tr(
        [html.Th(name, scope="col", className=style, title=hint * ("rank" in name)) for name, style in names]
    )
    rows = []
    for role in (role for role in ROLES if role in task["columns"]["any"]):
        cells = [html.Td(_two(task["columns"][column].get(role)), className="num") for column in ("always", "any")]
        rank = html.Td(str(task["ranks"].get(role, "")), className="num")
        rows.append(html.Tr([html.Th(LETTERS[role], scope="row", title=role), *cells, rank]))
    return html.Table([html.Thead(header), html.Tbody(rows)], className="gate-scores")


def _two(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def _measured(task: dict[str, Any], total: int) -> list[Any]:
    """What switching the head off did, and what the gradient foretold."""
    said = []
    if task["effect"] is not None:
        place = f"{task['effect_rank']} of {total:,} by size"
        said.append(f"Switched off, log P of the target changes by {_signed(task['effect'])} ({place}).")
    if task["preview"] is not None:
        share = (
            f", helpful on {100 * task['preview_share']:.0f} % of prompts" if task["preview_share"] is not None else ""
        )
        said.append(f"Preview (first-order): g = {_signed(task['preview'])}{share}.")
    return [html.P(words, className="hint") for words in said]


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


def causal_provenance(causal: Scores) -> html.Details:
    """Where the gates come from."""
    facts = causal.provenance
    settings: dict[str, list[str]] = {}
    for item in facts.items:
        settings.setdefault(_settings_words(item.get("settings") or facts.settings), []).append(item["title"])
    rows = {
        "tasks": ", ".join(f"{item['title']} ({item.get('hash', '')})" for item in facts.items),
        "method": f"{facts.method} map, version {facts.version}",
        **{f"settings of {', '.join(titles)}": words for words, titles in settings.items()},
        "computed": f"{facts.date} on {facts.device}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.libraries.items()),
    }
    body = [html.Tr([html.Th(name, scope="row"), html.Td(value)]) for name, value in rows.items()]
    return html.Details(
        [html.Summary("Provenance of the causal map"), html.Table(html.Tbody(body), className="provenance")]
    )


def _settings_words(settings: dict[str, Any]) -> str:
    """Numbers as they are, learning rates from first to last."""
    told = {
        name: " → ".join(f"{rate:g}" for rate in value) if isinstance(value, (list, tuple)) else value
        for name, value in settings.items()
        if isinstance(value, (int, float, str, list, tuple))
    }
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in told.items())
