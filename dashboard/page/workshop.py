"""Models and jobs: what is there, what is being computed, and a form to ask for more."""

from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from analysis.data.tasks import TITLES
from analysis.jobs.job import METHODS, USUAL
from analysis.methods.causal.plan import MAX_SEEDS, SEEDS, GateSettings
from analysis.results.provenance import Provenance
from dashboard.jobs import JobState
from dashboard.maps import map_of
from dashboard.page import ids
from dashboard.state import ViewState

_METHOD_NAMES = {"function": "Function map", "salience": "Salient tokens", "causal": "Causal map (hours on a CPU)"}
_STATES = {
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def workshop(read_only: bool) -> html.Div:
    """The empty view; its lists come with the first look at the jobs."""
    return html.Div(
        [
            html.Section([html.H2("Analyse a model"), _closed() if read_only else _form()], className="card"),
            html.Section([html.H2("Jobs"), html.Div(id=ids.JOB_LIST)], className="card"),
            html.Section([html.H2("Models with results"), html.Div(id=ids.MODEL_LIST)], className="card"),
        ],
        className="workshop",
    )


def _closed() -> html.P:
    return html.P(
        "This server is read-only: it can be reached by others and has no auth file, so it takes no analyses. "
        "Compute on its machine with python -m analysis map, or start it with --auth-file.",
        className="hint",
    )


def _form() -> html.Div:
    methods = [dmc.Checkbox(label=_METHOD_NAMES[method], value=method, size="xs") for method in METHODS]
    return html.Div(
        [
            html.Div(
                [
                    dmc.TextInput(
                        id=ids.NEW_MODEL, label="Model", placeholder="org/name, or a folder of the models directory",
                        size="xs", w=320,
                    ),
                    dmc.TextInput(id=ids.NEW_REVISION, label="Revision", placeholder="main", size="xs", w=140),
                    html.Div(
                        dmc.CheckboxGroup(dmc.Stack(methods, gap=6), label="Methods", value=list(USUAL), size="xs"),
                        id=ids.NEW_METHODS,
                    ),
                    html.Label(
                        [
                            html.Span("Your own relations (CSV or JSON) or tasks (JSONL), optional"),
                            dcc.Input(id=ids.NEW_FILES, type="file", multiple=True),
                        ],
                        className="files",
                    ),
                    html.Button("Analyse", id=ids.NEW_SUBMIT, className="button strong"),
                ],
                className="form",
            ),
            _gate_form(),
            html.P(
                "The weights are read on the worker and sent nowhere else. Closing this page changes nothing.",
                className="hint",
            ),
        ]
    )  # fmt: skip


def _gate_form() -> html.Details:
    """How the causal map is to be computed; what is left empty is as usual."""
    tasks = [dmc.Checkbox(label=title, value=name, size="xs") for name, title in TITLES.items()]
    group = dmc.CheckboxGroup(dmc.Stack(tasks, gap=6), size="xs", label="Tasks")
    pairs = [html.Span("Pairs to contrast (JSONL)"), dcc.Input(id=ids.NEW_PAIRS, type="file")]
    fields = [html.Div(group, id=ids.NEW_TASKS), *_gate_fields(), html.Label(pairs, className="files")]
    hint = (
        "With no task ticked: Math and Syntax, or your own alone. Pairs to contrast are fitted instead of tasks. "
        "0 seeds: the preview alone, in about a minute. Learning rates: first and last of the free stage, first and "
        f"last of the pushed one. Published are {_words(GateSettings.published())}. Seeds in one batch are faster and "
        "take more memory."
    )
    parts = [
        html.Summary("Settings of the causal map"),
        html.Div(fields, className="form"),
        html.P(hint, className="hint"),
    ]
    return html.Details(parts, className="gate-form")


def _words(settings: GateSettings) -> str:
    updates = f"{settings.free_updates} and {settings.push_updates} updates of {settings.batch} prompts"
    return f"{updates} with {_rates(settings)}"


def _rates(settings: GateSettings) -> str:
    return " ".join(f"{rate:g}" for rate in (*settings.free_rate, *settings.push_rate))


def _gate_fields() -> list[Any]:
    usual = GateSettings()
    rates = {"label": "Learning rates", "placeholder": _rates(usual), "size": "xs", "w": 130}
    return [
        _number("seeds", "Seeds", SEEDS, MAX_SEEDS, least=0),
        _number("free", "Free updates", usual.free_updates, 10_000),
        _number("pushed", "Pushed updates", usual.push_updates, 10_000),
        _number("batch", "Prompts an update", usual.batch, 1024),
        _number("together", "Seeds in one batch", 1, MAX_SEEDS),
        dmc.TextInput(id=f"{ids.NEW_GATES}rates", **rates),
        _number("push", "Push λ", usual.push, 10),
        _number("clip", "Gradient clip", usual.clip, 1000),
        dmc.Checkbox(id=f"{ids.NEW_GATES}published", label="Published settings", size="xs", mt=24),
    ]


def _number(name: str, label: str, usual: float, most: float, least: int = 1) -> dmc.NumberInput:
    whole = isinstance(usual, int)
    return dmc.NumberInput(
        id=f"{ids.NEW_GATES}{name}", label=label, placeholder=f"{usual:g}", min=least if whole else 0, max=most,
        size="xs", w=118, hideControls=True, allowDecimal=not whole, allowNegative=False,
    )  # fmt: skip


def job_list(jobs: list[JobState], read_only: bool) -> list[Any]:
    """The newest first."""
    if not jobs:
        return [html.P("No analysis was asked for yet.", className="hint")]
    return [html.Ul([_job(job, read_only) for job in reversed(jobs)], className="jobs")]


def _job(job: JobState, read_only: bool) -> html.Li:
    head = [
        html.B(job.model),
        html.Span(f" {job.revision}" if job.revision else "", className="hint"),
        html.Span(_STATES[job.state], className=f"state {job.state}"),
        html.Span(_progress(job), className="hint"),
    ]
    parts: list[Any] = [html.Div(head, className="job-head")]
    if job.active:
        share = 100 * job.done / job.total if job.total else 0
        label = {"aria-label": f"Progress of {job.model}"}
        parts.append(dmc.Progress(value=share, size="sm", animated=job.state == "running", **label))
    if job.asked:
        parts.append(html.P(f"with {', '.join(job.asked)}", className="hint"))
    if job.state == "failed":
        parts.append(html.P([job.message + ". ", html.Span(job.hint, className="hint")], className="failure"))
    parts.append(html.Div(_tools(job, read_only), className="job-tools"))
    return html.Li(parts, **{"data-job": job.id, "data-state": job.state})


def _progress(job: JobState) -> str:
    if not job.active:
        return job.finished.replace("T", " ").removesuffix("Z")
    counted = f", {job.done} of {job.total}" if job.total else ""
    left = f", about {_time(job.left)} left" if job.left is not None else ""
    return f"{job.stage}{counted}{left}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tools(job: JobState, read_only: bool) -> list[Any]:
    tools: list[Any] = []
    if job.link.startswith("/?") and job.state in {"done", "running", "failed"}:
        words = "Watch the map" if job.state == "running" else "Open the map"
        tools.append(html.A(words, href=job.link))
    if not read_only and job.active:
        tools.append(html.Button("Cancel", className="mate", **{"data-cancel": job.id}))
    if not read_only and job.state in {"failed", "cancelled"}:
        tools.append(html.Button("Try again", className="mate", **{"data-retry": job.id}))
    return tools


def model_list(results: list[tuple[Provenance, int]], folders: list[str]) -> list[Any]:
    """Every result with where its numbers come from and what they take on disk."""
    rows = [_result(facts, size) for facts, size in results]
    names = ("Model", "Map", "Family", "Layers × heads", "Fingerprint", "Computed", "Size", "Weights")
    header = html.Tr([html.Th(name, scope="col") for name in names])
    listed = [html.P(f"In the models directory: {', '.join(folders)}", className="hint")] if folders else []
    return [html.Div(html.Table([html.Thead(header), html.Tbody(rows)], className="models"), className="wide"), *listed]


def _result(facts: Provenance, size: int) -> html.Tr:
    card, each = facts.model, map_of(facts.method)
    state = ViewState(model=card.id, fingerprint=card.fingerprint[:8])
    if each is not None and each.own_view:
        state = replace(state, view=each.name).with_part(each.state_of_result(facts))
    return html.Tr(
        [
            html.Th(html.A(card.id, href="/" + state.to_query()), scope="row"),
            html.Td(each.covered(facts) if each is not None else facts.method),
            html.Td(card.family),
            html.Td(f"{len(card.layers)} × {card.heads}", className="num"),
            html.Td(html.Code(card.fingerprint[:12])),
            html.Td(facts.date[:10]),
            html.Td(f"{size / 1e3:,.0f} kB", className="num"),
            html.Td(card.note or card.dtype),
        ]
    )
