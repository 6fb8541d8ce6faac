"""Models and jobs: what is there, what is being computed, and a form to ask for more."""

from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
from dash import html

from analysis import methods
from analysis.results.catalogue import Listed
from dashboard.jobs import JobState
from dashboard.maps import map_of_method
from dashboard.page import ids
from dashboard.page.form import form
from dashboard.state import ViewState

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
            html.Section([html.H2("Analyse a model"), _closed() if read_only else form()], className="card"),
            html.Section([html.H2("Jobs"), html.Div(id=ids.JOB_LIST)], className="card"),
            html.Section([html.H2("Models with results"), html.Div(id=ids.MODEL_LIST)], className="card"),
        ],
        className="workshop",
    )


def _closed() -> html.P:
    return html.P(
        "This server is read-only: it can be reached by others and has no auth file, so it takes no analyses. "
        "Compute on its machine with python -m analysis, or start it with --auth-file.",
        className="hint",
    )


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
    for remark in job.remarks:
        parts.append(html.P(f"{remark}.", className="hint"))
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
    if not read_only and not job.active:
        tools.append(html.Button("Delete", className="mate", title="Its results stay", **{"data-forget": job.id}))
    return tools


def model_list(results: list[Listed], folders: list[str]) -> list[Any]:
    """Every result with where its numbers come from and what they take on disk."""
    rows = [_result(entry) for entry in results]
    names = ("Model", "Map", "Family", "Layers × heads", "Fingerprint", "Computed", "Size", "Weights")
    header = html.Tr([html.Th(name, scope="col") for name in names])
    table = html.Table([html.Thead(header), html.Tbody(rows)], className="models")
    pieces: list[Any] = [html.Div(table, className="wide")]
    if folders:
        pieces.append(html.P(f"In the models directory: {', '.join(folders)}", className="hint"))
    return pieces


def _result(entry: Listed) -> html.Tr:
    facts = entry.provenance
    card, shown_by = facts.model, map_of_method(facts.method)
    state = ViewState(model=card.id, fingerprint=card.fingerprint[:8])
    if shown_by is not None and shown_by.own_view:
        state = replace(state, view=shown_by.name).with_part(shown_by.state_of_result(facts))
    return html.Tr(
        [
            html.Th(html.A(card.id, href="/" + state.to_query()), scope="row"),
            html.Td(f"{methods.method(facts.method).title}: {entry.words}"),
            html.Td(card.family),
            html.Td(f"{len(card.layers)} × {card.heads}", className="num"),
            html.Td(html.Code(card.fingerprint[:12])),
            html.Td(facts.date[:10]),
            html.Td(f"{entry.bytes / 1e3:,.0f} kB", className="num"),
            html.Td(card.note or card.dtype),
        ]
    )
