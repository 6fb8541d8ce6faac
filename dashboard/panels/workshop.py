"""Models and jobs: what is there, what is being computed, and a form to ask for more."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import dash_mantine_components as dmc
from dash import dcc, html

from analysis.data.tasks import TITLES
from analysis.jobs.job import USUAL, Job
from analysis.methods.causal.plan import MAX_SEEDS, SEEDS, GateSettings
from analysis.models.vocabulary import MIN_PAIRS
from analysis.results.catalogue import name_of
from analysis.results.provenance import Provenance
from dashboard import ids

Kind = Literal["text", "number", "numbers", "flag", "choices", "files", "file"]  # of a field's value

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


def field(name: str, kind: Kind, component: Any, missing: str = "") -> html.Div:
    """A control of the form with the name and kind of its value; `missing` is said when a needed one is empty."""
    told = {"data-field": name, "data-type": kind}
    if missing:
        told["data-missing"] = missing
    return html.Div(component, **told)


def _form() -> html.Div:
    fields = [
        _text("model", "Model", "org/name, or a folder of the models directory", 320, "Which model? Type its name."),
        _text("revision", "Revision", "main", 140),
        _choices("methods", "Methods", _METHOD_NAMES, USUAL, "Which method? Tick at least one."),
        _files("files", "files", "Your own relations (CSV or JSON) or tasks (JSONL), optional"),
        html.Button("Analyse", id=ids.NEW_SUBMIT, className="button strong"),
    ]
    hint = "The weights are read on the worker and sent nowhere else. Closing this page changes nothing."
    return html.Div(
        [html.Div(fields, className="form"), _causal_settings(), html.P(hint, className="hint")], id=ids.NEW_FORM
    )


def _causal_settings() -> html.Details:
    """How the causal map is to be computed; a setting that is left empty has its default."""
    default = GateSettings()
    updates = f"{default.free_updates} {default.push_updates}"
    fields = [
        _choices("tasks", "Tasks", TITLES),
        _number("seeds", "Seeds", SEEDS, MAX_SEEDS, least=0),
        _text("updates", "Updates: free, pushed", updates, 150, kind="numbers"),
        _number("batch", "Prompts an update", default.batch, 1024),
        _number("together", "Seeds in one batch", 1, MAX_SEEDS),
        _text("rates", "Learning rates", _rates(default), 130, kind="numbers"),
        _number("push", "Push λ", default.push, 10),
        _number("clip", "Gradient clip", default.clip, 1000),
        field("published", "flag", dmc.Checkbox(label="Published settings", size="xs", mt=24)),
        _files("contrast", "file", "Pairs to contrast (JSONL)"),
    ]
    hint = (
        "With no task ticked: Math and Syntax, or your own alone. Pairs to contrast are fitted instead of tasks. "
        "0 seeds: the preview alone, in about a minute. Updates: of the free stage and of the pushed one. Learning "
        "rates: first and last of the free stage, first and last of the pushed one. "
        f"Published are {_words(GateSettings.published())}. Seeds in one batch are faster and take more memory."
    )
    parts = [
        html.Summary("Settings of the causal map"),
        html.Div(fields, className="form"),
        html.P(hint, className="hint"),
    ]
    return html.Details(parts, className="settings", **{"data-method": "causal"})


def _words(settings: GateSettings) -> str:
    updates = f"{settings.free_updates} and {settings.push_updates} updates of {settings.batch} prompts"
    return f"{updates} with {_rates(settings)}"


def _rates(settings: GateSettings) -> str:
    return " ".join(f"{rate:g}" for rate in (*settings.free_rate, *settings.push_rate))


def _text(
    name: str, label: str, placeholder: str, width: int, missing: str = "", kind: Literal["text", "numbers"] = "text"
) -> html.Div:
    return field(name, kind, dmc.TextInput(label=label, placeholder=placeholder, size="xs", w=width), missing)


def _number(name: str, label: str, default: float, most: float, least: int = 1) -> html.Div:
    whole = isinstance(default, int)
    component = dmc.NumberInput(
        label=label, placeholder=f"{default:g}", min=least if whole else 0, max=most,
        size="xs", w=118, hideControls=True, allowDecimal=not whole, allowNegative=False,
    )  # fmt: skip
    return field(name, "number", component)


def _choices(
    name: str, label: str, choices: Mapping[str, str], ticked: Iterable[str] = (), missing: str = ""
) -> html.Div:
    boxes = [dmc.Checkbox(label=words, value=value, size="xs") for value, words in choices.items()]
    group = dmc.CheckboxGroup(dmc.Stack(boxes, gap=6), label=label, value=list(ticked), size="xs")
    return field(name, "choices", group, missing)


def _files(name: str, kind: Literal["files", "file"], label: str) -> html.Div:
    upload = dcc.Input(type="file", multiple=kind == "files")
    return field(name, kind, html.Label([html.Span(label), upload], className="files"))


def job_list(jobs: list[Job], read_only: bool) -> list[Any]:
    """The newest first."""
    if not jobs:
        return [html.P("No analysis was asked for yet.", className="hint")]
    return [html.Ul([_job(job, read_only) for job in reversed(jobs)], className="jobs")]


def _job(job: Job, read_only: bool) -> html.Li:
    share = 100 * job.done / job.total if job.total else (100 if job.state == "done" else 0)
    own = _own(job)
    parts: list[Any] = [
        html.Div(
            [
                html.B(job.request.model),
                html.Span(f" {job.request.revision}" if job.request.revision else "", className="hint"),
                html.Span(_STATES[job.state], className=f"state {job.state}"),
                html.Span(_progress(job), className="hint"),
            ],
            className="job-head",
        ),
    ]
    if job.active:
        label = {"aria-label": f"Progress of {job.request.model}"}
        parts.append(dmc.Progress(value=share, size="sm", animated=job.state == "running", **label))
    if own:
        parts.append(html.P(f"with {', '.join(own)}", className="hint"))
    if job.state == "failed":
        parts.append(html.P([job.message + ". ", html.Span(job.hint, className="hint")], className="failure"))
    parts.append(html.Div(_tools(job, read_only), className="job-tools"))
    return html.Li(parts, **{"data-job": job.id, "data-state": job.state})


def _own(job: Job) -> list[str]:
    """One's own relations and tasks, and those that are of no use for this model."""
    kept = dict(zip((relation.name for relation in job.request.relations), job.kept, strict=False))
    told = []
    for relation in (relation for relation in job.request.relations if relation.category == "custom"):
        usable = kept.get(relation.name, len(relation.pairs))
        few = f" (not applicable: {usable} of {len(relation.pairs)} pairs are single tokens of this model)"
        told.append(relation.title + (few if usable < MIN_PAIRS else ""))
    if "causal" in job.request.methods:
        causal = job.request.causal
        names = [causal.contrast.title] if causal.contrast else [task.title for task in causal.tasks]
        settings = causal.settings
        updates = f"{settings.free_updates}" + ("" if causal.contrast else f"+{settings.push_updates}")
        seeds = f"{causal.seeds} {'seed' if causal.seeds == 1 else 'seeds'}, {updates} updates of {settings.batch}"
        told.append(f"{', '.join(names)} ({seeds if causal.seeds else 'preview alone'})")
    return told


def _progress(job: Job) -> str:
    if not job.active:
        return job.finished.replace("T", " ").removesuffix("Z")
    counted = f", {job.done} of {job.total}" if job.total else ""
    left = f", about {_time(job.left)} left" if job.left is not None else ""
    return f"{job.stage}{counted}{left}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tools(job: Job, read_only: bool) -> list[Any]:
    tools: list[Any] = []
    if job.fingerprint and job.state in {"done", "running", "failed"}:
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


def _covered(facts: Provenance) -> str:
    """Which map, and of what."""
    if facts.method != "causal":
        return f"function: {len(facts.items)} {'relation' if len(facts.items) == 1 else 'relations'}"
    seeds, titles = facts.settings.get("seeds", 0), ", ".join(str(item["title"]) for item in facts.items)
    if not seeds:
        return f"causal: {titles}, preview alone"
    updates = "+".join(str(facts.settings[name]) for name in ("free_updates", "push_updates") if name in facts.settings)
    return f"causal: {titles}, {seeds} {'seed' if seeds == 1 else 'seeds'}, {updates} updates"


def _result(facts: Provenance, size: int) -> html.Tr:
    card = facts.model
    causal = facts.method == "causal"
    part = f"&view=causal&fit={name_of(facts)}" if causal else ""
    link = f"/?model={card.id}@{card.fingerprint[:8]}{part}"
    return html.Tr(
        [
            html.Th(html.A(card.id, href=link), scope="row"),
            html.Td(_covered(facts)),
            html.Td(card.family),
            html.Td(f"{len(card.layers)} × {card.heads}", className="num"),
            html.Td(html.Code(card.fingerprint[:12])),
            html.Td(facts.date[:10]),
            html.Td(f"{size / 1e3:,.0f} kB", className="num"),
            html.Td(card.note or card.dtype),
        ]
    )
