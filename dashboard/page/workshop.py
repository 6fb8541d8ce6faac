"""Models and jobs: what is there, what is being computed, and a form to ask for more."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import dash_mantine_components as dmc
from dash import html

from analysis import methods
from analysis.evidence.catalogue import Catalogue, Listed
from analysis.models.card import ModelCard
from analysis.results.own_sets import OwnSet
from analysis.results.provenance import Provenance
from dashboard.jobs import JobState
from dashboard.maps import map_of_method
from dashboard.page import ids
from dashboard.page.form import form
from dashboard.query import is_view
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


def job_list(jobs: Sequence[JobState], read_only: bool) -> list[Any]:
    """The newest first."""
    if not jobs:
        return [html.P("No analyses yet.", className="hint")]
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
    parts.append(html.P(_what(job), className="hint"))
    for remark in job.remarks:
        parts.append(html.P(f"{remark}.", className="hint"))
    if job.state == "failed":
        parts.append(html.P([job.message + ". ", html.Span(job.hint, className="hint")], className="failure"))
    parts.append(html.Div(_tools(job, read_only), className="job-tools"))
    return html.Li(parts, **{"data-job": job.id, "data-state": job.state})


def _what(job: JobState) -> str:
    """The methods of a job, and what was asked for beside their defaults."""
    titles = [methods.method(name).title for name in job.methods if name in methods.names()]
    words = " · ".join(titles)  # some have a comma
    return f"{words}; with {', '.join(job.asked)}" if job.asked else words


def _progress(job: JobState) -> str:
    if not job.active:
        return job.finished.replace("T", " ").removesuffix("Z")
    if job.left is None:
        return job.stage
    of_what = " in this part" if job.part else ""
    return f"{job.stage}, about {_time(job.left)} left{of_what}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tools(job: JobState, read_only: bool) -> list[Any]:
    tools: list[Any] = []
    has_map = job.state in {"done", "failed"} or (job.state == "running" and job.done > 0)
    links = [link for link in job.links if is_view(link.address)] if has_map else []
    verb = "Watch" if job.state == "running" else "Open"
    for link in links:
        words = f"{verb} the map" if len(links) == 1 else f"{verb} {link.title}"
        tools.append(html.A(words, href=link.address))
    if not read_only and job.active:
        tools.append(html.Button("Cancel", className="mate", **{"data-cancel": job.id}))
    if not read_only and job.state in {"failed", "cancelled"}:
        tools.append(html.Button("Try again", className="mate", **{"data-retry": job.id}))
    if not read_only and not job.active:
        tools.append(html.Button("Delete", className="mate", title="Its results are kept", **{"data-forget": job.id}))
    return tools


def model_list(catalogue: Catalogue, folders: list[str], read_only: bool) -> list[Any]:
    """Every model with its results, then the relations that people brought."""
    by_model: dict[tuple[str, str], list[Listed]] = {}
    for entry in catalogue.listed():
        card = entry.provenance.model
        by_model.setdefault((card.id, card.fingerprint), []).append(entry)
    rows = [_model(entries[0].provenance.model, entries, read_only) for entries in by_model.values()]
    names = ("Model", "Maps", "Family", "Layers × heads", "Fingerprint", "Computed", "Size", "Weights", "")
    header = html.Tr([html.Th(name, scope="col") if name else html.Td() for name in names])
    table = html.Table([html.Thead(header), html.Tbody(rows)], className="models")
    pieces: list[Any] = [html.Div(table, className="wide")]
    if folders:
        pieces.append(html.P(f"In the models directory: {', '.join(folders)}", className="hint"))
    sets = catalogue.sets()
    if sets:
        pieces += [html.H3("Your own relations"), html.Ul([_set(one, read_only) for one in sets], className="jobs")]
    return pieces


def _model(card: ModelCard, entries: list[Listed], read_only: bool) -> html.Tr:
    state = ViewState(model=card.id, fingerprint=card.fingerprint[:8])
    tools: list[Any] = []
    if not read_only and not all(entry.shipped for entry in entries):
        words = f"Delete the results of {card.id}? Those that ship with Head Atlas are kept."
        attributes = {"data-erase": card.fingerprint, "data-sure": words}
        tools.append(html.Button("Delete", className="mate", **attributes))
    return html.Tr(
        [
            html.Th(html.A(card.id, href="/" + state.to_query()), scope="row"),
            html.Td([html.Div(link) for link in _map_links(entries, state)]),
            html.Td(card.family),
            html.Td(f"{len(card.layers)} × {card.heads}", className="num"),
            html.Td(html.Code(card.fingerprint[:12])),
            html.Td(max(entry.provenance.date for entry in entries)[:10]),
            html.Td(f"{sum(entry.bytes for entry in entries) / 1e3:,.0f} kB", className="num"),
            html.Td(card.note or card.dtype),
            html.Td(tools),
        ]
    )


def _map_links(entries: list[Listed], state: ViewState) -> list[Any]:
    """The results by what they cover, each with a link to its map where it has one; equal ones once."""
    links: dict[tuple[str, str], Any] = {}
    for entry in entries:
        words = f"{methods.method(entry.provenance.method).title}: {entry.words}"
        address = _map_address(entry.provenance, state)
        links[words, address] = html.A(words, href=address) if address else words
    return list(links.values())


def _map_address(facts: Provenance, state: ViewState) -> str:
    """Where a result has a map of its own; empty where it has none."""
    shown_by = map_of_method(facts.method)
    if shown_by is None or not shown_by.own_view:
        return ""
    there = replace(state, view=shown_by.name).with_part(shown_by.state_of_result(facts))
    return "/" + there.to_query()


def _set(one: OwnSet, read_only: bool) -> html.Li:
    """A set of somebody's own relations: what is in it, and what can be done to it."""
    head = [html.B(one.name), html.Span(f"scored on {', '.join(one.models)}", className="hint")]
    if one.hidden:
        head.append(html.Span("Hidden", className="state"))
    files: list[Any] = []
    for item in one.items:
        address = f"/api/sets/{one.id}/{quote(item.name, safe='')}.csv"
        files.append(html.A(f"{item.title} ({item.pairs} pairs, CSV)", href=address, download=f"{item.name}.csv"))
    parts: list[Any] = [html.Div(head, className="job-head"), html.Div(files, className="job-tools")]
    if not read_only:
        sure = f"Delete {one.name} with its scores and pairs? Links to it will stop working."
        hide = {"data-hide": one.id, "data-hidden": "0" if one.hidden else "1"}
        tools = [
            html.Button("Rename", className="mate", **{"data-rename": one.id, "data-name": one.name}),
            html.Button("Show" if one.hidden else "Hide", className="mate", **hide),
            html.Button("Delete", className="mate", **{"data-drop": one.id, "data-sure": sure}),
        ]
        parts.append(html.Div(tools, className="job-tools"))
    return html.Li(parts, **{"data-own-set": one.id})
