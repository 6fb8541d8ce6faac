"""What the causal map shows and how far it can be believed, in words and small tables."""

from typing import Any

import numpy as np
from dash import html

from analysis.methods.causal.plan import FEW_UPDATES, ROLES
from analysis.results.scores import Missing, Scores
from dashboard.maps.causal.gates import COLUMN_NAMES, LETTERS, fitted_seeds, scale_words, shares, shown_tasks
from dashboard.maps.causal.losses import has_curves
from dashboard.maps.causal.orders import validation
from dashboard.maps.function.legend import entry, missing_entries, ramp
from dashboard.maps.function.panels import Panel
from dashboard.palette import Colours, colours
from dashboard.state import ViewState
from dashboard.view import View

_FEW_PROMPTS = 20  # on which an accuracy says little
_SWATCH = 7  # squares a side of the legend's swatch


def causal_sentence(view: View) -> list[Any]:
    """How to read the causal map, in one sentence that follows the controls."""
    state, model = view.state, view.scores.provenance.model.id
    start = f"Each cell is one attention head of {model}; "
    tones = ("green", "red") if state.palette == "paper" else ("blue", "orange")
    if state.gates == "preview":
        what = "a first-order estimate, from gradients alone, of whether opening it helps or hurts the task"
        return [start, "its colour is ", html.B(what), f". Fitted gates may say otherwise. {_PROMPTS[state.columns]}"]
    heads = {
        "both": [f"{tones[0]} light means that the task ", html.B("needs"), " it (facilitation F), ",
                 f"{tones[1]} light that it ", html.B("hurts"), " the task (interference N)"],
        "facilitation": ["the brighter, the more the task ", html.B("needs"), " it (facilitation F)"],
        "interference": ["the brighter, the more it ", html.B("hurts"), " the task (interference N)"],
        "irrelevance": ["the brighter, the ", html.B("less it matters"), " to the task (irrelevance R)"],
    }[state.gates]  # fmt: skip
    return [start, *heads, f". {_seeds_shown(view)}"]


_PROMPTS = {
    "both": "Shown is the mean over the prompts; Always and Any are about prompts here too.",
    "always": "Shown is what holds for every prompt, 0 where prompts disagree.",
    "any": "Shown is the steepest gradient that any prompt gives.",
}


def _seeds_shown(view: View) -> str:
    if view.causal is None:
        return ""
    if view.state.one_seed:
        return f"Shown is seed {view.state.one_seed} alone."
    tasks = shown_tasks(view.causal, view.state)
    counts = {len(fitted_seeds(view.causal, task)) for task in tasks}
    number = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    asked = view.causal.provenance.settings.get("seeds", view.causal.score.sizes["sample"])
    so_far = f" of {asked}, so far" if is_running(view.causal) else ""
    if counts == {0} and not so_far:
        return "Nothing is fitted yet for what is shown; Preview shows the first-order estimate."
    return (
        f"Always: in each of the {number} seeds{so_far}. Any: in at least one."
        if counts != {1}
        else f"One seed{so_far}."
    )


def causal_legend(panels: tuple[Panel, ...], state: ViewState, dark: bool, failure: str = "") -> list[Any]:
    """A square of both channels, or a colour bar; then why there is no score."""
    palette = colours(state.palette, dark)
    missing = missing_entries(panels, palette, failure)
    if all(np.isnan(panel.value).all() for panel in panels):
        return missing
    if state.gates == "preview":
        shades = [palette.slope(share) for share in np.linspace(-1, 1, 9)]
        scale = scale_words(panels)
        words = "gate gradient g = ∂loss/∂gate: below 0 the head seems to help, above 0 to hurt (first-order estimate)"
        return [ramp(shades, f"{words}; full colour at {scale}", ends=("−", "+")), *missing]
    if state.gates in ROLES:
        shades = [palette.glow(state.gates, level) for level in (0, 0.5, 1)]
        words = f"{LETTERS[state.gates]}, {state.gates}; dimmed below θ = {state.role:g}"
        return [ramp(shades, words, ends=("0", "1")), *missing]
    return [_square(palette), *_corners(palette), html.Span(f"dimmed below θ = {state.role:g}"), *missing]


def _square(palette: Colours) -> html.Span:
    """F across, N up: every mixture of the two lights."""
    steps = [i / (_SWATCH - 1) for i in range(_SWATCH)]
    cells = [html.I(style={"background": palette.light(f, n)}) for n in reversed(steps) for f in steps]
    label = "Colours: facilitation F from left to right, interference N from bottom to top"
    square = html.Span(cells, className="channels", role="img", **{"aria-label": label})
    return html.Span(
        [html.Span("N ↑", className="channel-up"), square, html.Span("F →", className="channel-right")],
        className="legend-entry",
    )


def _corners(palette: Colours) -> list[Any]:
    return [
        entry(palette.light(1, 0), "facilitating (F)"),
        entry(palette.light(0, 1), "interfering (N)"),
        entry(palette.light(1, 1), "both", "swatch outlined"),
        entry(palette.light(0, 0), "neither", "swatch outlined"),
    ]


def facts(view: View, dark: bool) -> list[Any]:
    """For each task: what the untouched model can do, how many seeds, how many heads have a role."""
    if view.causal is None:
        return []
    palette, tasks = colours(view.state.palette, dark), shown_tasks(view.causal, view.state)
    return [html.Div([_task(view.causal, task, view.state, palette) for task in tasks], className="tasks")]


def _task(causal: Scores, task: str, state: ViewState, palette: Colours) -> html.Section:
    item = causal.item(task)
    heading = [html.H3(item["title"]), html.P(item.get("sentence", ""), className="hint")]
    return html.Section(
        [
            *heading,
            *_untouched(item),
            _shares(causal, task, state, palette),
            *_agreement(item),
            *_settled(causal, task),
            *_besides(item),
        ],
        className="task",
    )


def _untouched(item: dict[str, Any]) -> list[Any]:
    """Accuracy and NLL without any gate, by kind on request, and a warning when the model can hardly do the task."""
    if item.get("category") == "contrast":
        return []
    if item.get("accuracy") is None:
        return [html.P("The untouched model was not yet measured on this task.", className="hint")]
    nll = f", NLL {item['nll']:.2f}" if item.get("nll") is not None else ""
    count = f" of {item['items']:,} validation prompts" if isinstance(item.get("items"), int) else ""
    said = [html.P(["Untouched model: ", html.B(f"{100 * item['accuracy']:.0f} %"), f"{count} right{nll}."])]
    if isinstance(item.get("items"), int) and item["items"] < _FEW_PROMPTS:
        said.append(html.P("So few prompts say little of what the model can do.", className="flag"))
    elif item.get("flagged"):
        said.append(html.P("The model can hardly do this task, so its gates mean little.", className="flag"))
    kinds = item.get("kinds") or []
    rows = [
        html.Tr(
            [
                html.Th(str(kind.get("kind", "")).replace("_", " "), scope="row"),
                html.Td(_percent(kind.get("accuracy")), className="num"),
                html.Td(_two(kind.get("nll")), className="num"),
            ]
        )
        for kind in kinds
    ]
    if rows:
        names = (("kind", ""), ("right", "num"), ("NLL", "num"))
        header = html.Thead(html.Tr([html.Th(name, scope="col", className=style) for name, style in names]))
        said.append(html.Details([html.Summary("By kind"), html.Table([header, html.Tbody(rows)], className="kinds")]))
    return said


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _two(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def _shares(causal: Scores, task: str, state: ViewState, palette: Colours) -> html.Table:
    """The share of heads with each role, Always and Any."""
    columns = [f"seed {state.one_seed}"] if state.one_seed else ["always", "any"]
    rows, known = [], [shares(causal, task, column, state.role) for column in columns]
    for role in (role for role in ROLES if role in known[-1] or not any(known)):
        found = [of_column.get(role) for of_column in known]
        heads = causal.score.sizes["layer"] * causal.score.sizes["head"]
        cells = [cell for share in found for cell in _share_cells(share, heads, palette.of(role))]
        rows.append(html.Tr([html.Th(f"{LETTERS[role]} {role}", scope="row"), *cells]))
    names = [COLUMN_NAMES.get(column, column.capitalize()) for column in columns]
    header = html.Tr([html.Th(f"share of heads ≥ {state.role:g}", scope="col"), *_spanned(names)])
    return html.Table([html.Thead(header), html.Tbody(rows)], className="shares")


def _spanned(names: list[str]) -> list[Any]:
    return [html.Th(name, scope="col", colSpan=2) for name in names]


def _share_cells(share: float | None, heads: int, colour: str) -> list[Any]:
    bar = html.I(style={"width": f"{100 * (share or 0):.1f}%", "background": colour})
    text = "" if share is None else f"{round(share * heads):,} · {100 * share:.1f} %"
    return [html.Td(html.Span(bar, className="bar")), html.Td(text, className="num")]


def _agreement(item: dict[str, Any]) -> list[Any]:
    """How well the quick preview foretells the fitted gates, as it is."""
    found = item.get("agreement") or {}
    known = {
        role: found[role]
        for role in ROLES[:2]
        if isinstance(found.get(role), (int, float)) and found[role] == found[role]
    }
    if not known:
        return []
    numbers = " and ".join(f"{value:+.2f} with {LETTERS[role]}" for role, value in known.items())
    strength = max(abs(value) for value in known.values())
    verdict = "hardly foretells" if strength < 0.3 else "only roughly foretells" if strength < 0.7 else "foretells well"
    words = f"Gradient preview against fitted gates: rank correlation {numbers}; it {verdict} them."
    return [html.P(words.replace("-", "−"), className="hint")]


def _settled(causal: Scores, task: str) -> list[Any]:
    """Whether the gates came to rest, over the seeds that are there."""
    found = causal.item(task).get("settled") or {}
    parts = [f"{100 * np.mean(found[name]):.0f} % of {words}" for name, words in _SIDES if found.get(name)]
    count = len(fitted_seeds(causal, task))
    seeds = f"{count} {'seed' if count == 1 else 'seeds'}"
    end = f"; {' and '.join(parts)} rest within 0.1 of 0 or 1" if parts else ""
    settings = causal.item(task).get("settings") or {}
    updates = sum(int(settings.get(name, 0)) for name in ("free_updates", "push_updates"))
    words = "So few updates leave most gates near their random beginning: a trial, not a finding."
    trial = [html.P(words, className="flag")] if count and 0 < updates < FEW_UPDATES else []
    return [html.P(f"{seeds}{end}.", className="hint"), *trial]


def _besides(item: dict[str, Any]) -> list[Any]:
    """Other fits of the task, which a longer one hides."""
    others = item.get("besides") or []
    return [html.P(f"Other fits, to be chosen under Fit: {'; '.join(others)}.", className="hint")] * bool(others)


_SIDES = (("open", "G⁺"), ("shut", "G⁻"))


def is_running(causal: Scores | None) -> bool:
    """Some seed is being fitted."""
    return causal is not None and bool((causal.missing == Missing.RUNNING).any())


def has_validation(view: View) -> bool:
    """The effect of switching heads off was measured for a task on the page."""
    causal, state = view.causal, view.state
    return causal is not None and any(validation(causal, task, state.one_seed) for task in shown_tasks(causal, state))


def has_losses(view: View) -> bool:
    """A task on the page has loss curves."""
    return view.causal is not None and any(has_curves(view.causal, t) for t in shown_tasks(view.causal, view.state))


def no_causal_map(view: View) -> list[Any]:
    """What to do when a model has no causal map."""
    model = view.scores.provenance.model.id
    return [
        html.H2(f"No causal map of {model} yet"),
        html.P(
            "The causal map says which heads help or hurt the model while it does a task such as arithmetic. It is "
            "found by fitting one gate for each head, which takes minutes to hours."
        ),
        html.P(["Ask for it under ", html.B("Models and jobs"), " with the method ", html.B("causal"), ", or run"]),
        html.P(html.Code(f"python -m analysis gates {model} --tasks math syntax --seeds 5")),
    ]
