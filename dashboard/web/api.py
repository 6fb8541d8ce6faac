"""The HTTP API: models, scores, heads, jobs, health. Documented at /api/docs."""

import time
from collections import deque
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from swagger_ui_bundle import swagger_ui_path

from analysis import __version__
from analysis.data.relations import builtin, choose_builtin, parse
from analysis.data.tasks import builtin as builtin_tasks
from analysis.data.tasks import read_contrast, read_task
from analysis.errors import (
    HeadAtlasError,
    HeadError,
    ModelError,
    ModelNotFound,
    QueueFull,
    RelationError,
    SettingError,
    StoreError,
    TaskError,
)
from analysis.jobs import job as jobs
from analysis.jobs.engine import Engine
from analysis.methods.causal.plan import CONTRAST_SEEDS, MAX_SEEDS, SEEDS, GateSettings
from analysis.methods.causal.report import head_gates
from analysis.methods.function import report
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.sources import listed_models
from analysis.results.catalogue import Library
from analysis.results.scores import Scores
from dashboard.access import Access
from dashboard.web.exports import scores_frame

SUBMISSIONS = 10  # a minute and client
CLIENTS = 1000  # whose submissions are counted at a time
_STATUS = {
    ModelNotFound: 404,
    ModelError: 422,
    RelationError: 422,
    HeadError: 404,
    SettingError: 422,
    QueueFull: 503,
    TaskError: 422,
}

Rate = Annotated[float, Field(gt=0, le=10)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\w./-]+$")]


class OwnFile(BaseModel):
    """One's own relation (.csv with two columns, .json list of pairs) or task (.jsonl with prompt and target)."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=80, pattern=r"^[\w][\w .-]*\.(csv|jsonl?)$")]
    content: Annotated[str, Field(max_length=5_000_000)]


class PairsFile(BaseModel):
    """Matched pairs for contrastive gates: lines of {"forget": {"prompt", "target"}, "retain": {…}}."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=80, pattern=r"^[\w][\w .-]*\.jsonl$")]
    content: Annotated[str, Field(max_length=5_000_000)]


class Submission(BaseModel):
    """What to analyse."""

    model_config = ConfigDict(extra="forbid")
    model: Name = Field(examples=[default_model.ID])
    revision: Annotated[str, Field(max_length=100, pattern=r"^[\w./-]*$")] = ""
    methods: Annotated[list[jobs.Method], Field(min_length=1, max_length=3)] = list(jobs.USUAL)
    relations: Annotated[list[str], Field(max_length=50)] | None = Field(
        None, description="built-in relations or categories by name; all of them when left out"
    )
    files: Annotated[list[OwnFile], Field(max_length=5)] = []
    tasks: Annotated[list[str], Field(max_length=5)] | None = Field(
        None, description="for the causal map: built-in tasks by name; math and syntax, or the files', when left out"
    )
    contrast: PairsFile | None = Field(None, description="for the causal map: pairs to contrast, instead of tasks")
    seeds: Annotated[int, Field(ge=0, le=MAX_SEEDS)] | None = Field(
        None, description=f"{SEEDS} when left out ({CONTRAST_SEEDS} for a contrast); 0 for the preview alone"
    )
    updates: Annotated[list[Annotated[int, Field(ge=1, le=10_000)]], Field(min_length=2, max_length=2)] | None = Field(
        None, description="of the two stages of a fit"
    )
    batch: Annotated[int, Field(ge=1, le=1024)] | None = Field(None, description="prompts in an update")
    rates: Annotated[list[Rate], Field(min_length=4, max_length=4)] | None = Field(
        None, description="learning rates: first and last of the free stage, first and last of the pushed one"
    )
    push: Annotated[float, Field(ge=0, le=10)] | None = Field(None, description="λ: how hard gates are pushed")
    clip: Annotated[float, Field(gt=0, le=1000)] | None = Field(None, description="largest norm of a gradient")
    published: bool = Field(False, description="the paper's updates, batch and rates where none are given")
    together: Annotated[int, Field(ge=1, le=MAX_SEEDS)] = Field(1, description="seeds fitted in one batch: faster")

    def request(self) -> jobs.Request:
        """As the engine takes it; a file that is malformed or named like another is refused."""
        found = list(choose_builtin(self.relations) if self.relations is not None else builtin().values())
        for file in self.files:
            if not file.name.endswith(".jsonl"):
                relation = parse(file.content.encode(), file.name)
                if relation.name in {other.name for other in found}:
                    raise RelationError(f"two relations are called {relation.name!r}", "Rename the file.")
                found.append(relation)
        methods = tuple(dict.fromkeys(self.methods))
        if "causal" not in methods and (
            self.tasks or self.contrast or any(f.name.endswith(".jsonl") for f in self.files)
        ):
            raise TaskError("tasks and pairs are for the causal map", "Ask for the method causal too.")
        return jobs.Request(self.model, self.revision, methods, tuple(found), self._causal())

    def _causal(self) -> jobs.CausalRequest:
        own = [read_task(file.name, file.content.encode()) for file in self.files if file.name.endswith(".jsonl")]
        names = self.tasks if self.tasks is not None else ([] if own else ["math", "syntax"])
        unknown = [name for name in names if name not in builtin_tasks()]
        if unknown:
            raise TaskError(f"there is no task {unknown[0][:80]!r}", f"Choose from {', '.join(builtin_tasks())}.")
        numbers = {"batch": self.batch, "push": self.push, "clip": self.clip}
        settings = GateSettings.chosen(self.published, self.updates, self.rates, **numbers)
        pairs = read_contrast(self.contrast.name, self.contrast.content.encode()) if self.contrast else None
        tasks = (*(builtin_tasks()[name] for name in names), *own)
        seeds = self.seeds if self.seeds is not None else CONTRAST_SEEDS if pairs else SEEDS
        settings = settings.of_contrast(self.updates is None) if pairs else settings
        return jobs.CausalRequest(tasks, pairs, seeds, settings, self.together).checked()


class JobState(BaseModel):
    """How far a job is."""

    id: str
    model: str
    revision: str
    state: jobs.State
    stage: str
    done: int
    total: int
    left: float | None
    message: str
    hint: str
    fingerprint: str
    created: str
    finished: str
    link: str = Field(description="the address of its map")


def job_state(job: jobs.Job) -> JobState:
    """A job as the API tells it."""
    fields = {key: getattr(job, key) for key in JobState.model_fields if hasattr(job, key)}
    return JobState(**fields, model=job.request.model, revision=job.request.revision)


class Chosen(BaseModel):
    """Which scores."""

    model_config = ConfigDict(extra="forbid")
    model: Annotated[str, Field(max_length=200)] = default_model.ID
    fingerprint: Annotated[str, Field(max_length=64, pattern="^[0-9a-f]*$")] = ""
    method: Literal["function", "causal"] = "function"
    fit: Annotated[str, Field(max_length=16, pattern="^[0-9a-f]*$")] = Field(
        "", description="of a causal map: the fit that goes first, as a job's link names it"
    )
    item: Annotated[list[str], Field(max_length=100)] = Field(
        [], description="relations, or tasks of the causal map, by name; all when left out"
    )
    kind: Literal["promote", "suppress", "facilitation", "interference", "irrelevance"] | None = None
    layer: Annotated[int, Field(ge=0)] | None = None
    head: Annotated[int, Field(ge=0)] | None = None
    least: Annotated[float, Field(ge=0, le=1)] = Field(0, description="only scores of at least this")

    def frame(self, library: Library) -> pd.DataFrame:
        """The rows."""
        scores = self._scores(library)
        there = [str(item["name"]) for item in scores.provenance.items]
        if unknown := [name for name in self.item if name not in there]:
            raise SettingError(f"there is no item {unknown[0][:80]!r} in this map", f"There are: {', '.join(there)}.")
        if self.kind is not None and self.kind not in scores.score.kind.values:
            kinds = ", ".join(scores.score.kind.values)
            raise SettingError(f"the {self.method} map has no {self.kind}", f"There are: {kinds}.")
        frame = scores_frame(scores)
        if self.item:
            frame = frame[frame["item"].isin(self.item)]
        for column, value in (("kind", self.kind), ("layer", self.layer), ("head", self.head)):
            if value is not None:
                frame = frame[frame[column] == value]
        return frame[frame["score"] >= self.least] if self.least > 0 else frame

    def _scores(self, library: Library) -> Scores:
        scores = library.scores(self.model, self.fingerprint)
        if self.method == "function":
            return scores
        gates = library.causal(scores.provenance.model, self.fit)
        if gates is None:
            raise ModelNotFound(
                f"there is no causal map of {self.model} here", f"Compute it: python -m analysis gates {self.model}"
            )
        return gates


def create_api(library: Library, engine: Engine, access: Access, models: Path | None) -> FastAPI:
    """The API as an application of its own, to be mounted at /api."""
    api = FastAPI(
        title="Head Atlas", version=__version__, docs_url=None, redoc_url=None,
        description="What every attention head of a model does: results as data, analyses as jobs.",
    )  # fmt: skip
    api.mount("/docs/files", StaticFiles(directory=str(swagger_ui_path)))
    api.add_exception_handler(HeadAtlasError, _answer)
    api.add_api_route("/docs", lambda: HTMLResponse(_DOCS), include_in_schema=False)
    shown = {"openapi": "3.0.3"}  # the newest that the packaged Swagger UI takes
    api.add_api_route("/docs/openapi.json", lambda: JSONResponse(api.openapi() | shown), include_in_schema=False)

    @api.get("/health")
    def health() -> dict[str, Any]:
        """Whether the server is well, and whether it takes jobs."""
        active = [job for job in engine.jobs() if job.active]
        return {"status": "ok", "version": __version__, "read_only": access.read_only, "active_jobs": len(active)}

    @api.get("/models")
    def list_models() -> dict[str, Any]:
        """Models that have results, and folders that can be analysed by name."""
        return {"models": [card.to_dict() for card in library.models()], "folders": listed_models(models)}

    _add_results(api, library)
    _add_jobs(api, engine)
    return api


def _add_results(api: FastAPI, library: Library) -> None:
    @api.get("/scores", response_model=None, responses={200: {"content": {"application/json": {}}}})
    def scores_json(chosen: Annotated[Chosen, Query()]) -> Response:
        """Scores in long format as JSON, one row a score."""
        frame = chosen.frame(library)
        return Response(frame.to_json(orient="records"), media_type="application/json")

    @api.get("/scores.csv", response_model=None, responses={200: {"content": {"text/csv": {}}}})
    def scores_csv(chosen: Annotated[Chosen, Query()]) -> Response:
        """The same as CSV: `pandas.read_csv` reads this address."""
        return Response(chosen.frame(library).to_csv(index=False), media_type="text/csv")

    @api.get("/scores.parquet", response_model=None, responses={200: {"content": {"application/octet-stream": {}}}})
    def scores_parquet(chosen: Annotated[Chosen, Query()]) -> Response:
        """The same as Parquet."""
        return Response(chosen.frame(library).to_parquet(index=False), media_type="application/octet-stream")

    @api.get("/head")
    def one_head(
        head: Annotated[str, Query(max_length=40, examples=["L23H4"])],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
    ) -> dict[str, Any]:
        """All that is known of one head."""
        scores = library.scores(model, fingerprint)
        card = scores.provenance.model
        name = card.check(HeadId.parse(head))
        gates = library.causal(card)
        found = report.head_data(scores, name, library.salience(card, name) or [])
        return {**found, "causal": head_gates(gates, name) if gates is not None else []}


def _add_jobs(api: FastAPI, engine: Engine) -> None:
    limits: dict[str, deque[float]] = {}

    @api.get("/jobs")
    def list_jobs() -> list[JobState]:
        """All jobs, the oldest first."""
        return [job_state(job) for job in engine.jobs()]

    @api.post("/jobs", status_code=202)
    def submit(request: Request, wanted: Submission) -> JobState:
        """Analyse a model; asking twice for the same gives the same job."""
        _must_be_analyst(request)
        _limit(limits, request)
        return job_state(engine.submit(wanted.request()))

    @api.get("/jobs/{job_id}")
    def one_job(job_id: str) -> JobState:
        """How far a job is."""
        return job_state(_found(engine, job_id))

    @api.delete("/jobs/{job_id}")
    def cancel(request: Request, job_id: str) -> JobState:
        """Stop a job; what it has computed is kept."""
        _must_be_analyst(request)
        _found(engine, job_id)
        return job_state(engine.cancel(job_id))

    @api.post("/jobs/{job_id}/retry", status_code=202)
    def retry(request: Request, job_id: str) -> JobState:
        """Try a failed or cancelled job again; it goes on from what it had."""
        _must_be_analyst(request)
        _limit(limits, request)
        return job_state(engine.submit(_found(engine, job_id).request))


def _must_be_analyst(request: Request) -> None:
    if request.scope.get("state", {}).get("role") != "analyst":
        raise HTTPException(403, "this server is read-only for you: analyses need the analyst role")


def _limit(limits: dict[str, deque[float]], request: Request) -> None:
    """At most some submissions a minute; clients that were quiet for a minute are forgotten."""
    now, client = time.monotonic(), request.client.host if request.client else ""
    for other, times in list(limits.items()):
        if now - times[-1] > 60 or len(limits) > CLIENTS:
            limits.pop(other, None)
    times = limits.get(client, deque(maxlen=SUBMISSIONS))
    if len(times) >= SUBMISSIONS and now - times[0] <= 60:
        raise HTTPException(429, f"at most {SUBMISSIONS} analyses a minute", {"Retry-After": "60"})
    times.append(now)
    limits[client] = times


def _found(engine: Engine, job_id: str) -> jobs.Job:
    job = engine.job(job_id) if job_id.isascii() and job_id.isalnum() and len(job_id) <= 32 else None
    if job is None:
        raise HTTPException(404, "there is no such job")
    return job


def _answer(request: Request, error: Exception) -> JSONResponse:
    """An error that a person can mend, as the API tells it."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, StoreError):
        status = 507
    told = {"error": type(error).__name__, "message": str(error), "hint": getattr(error, "hint", "")}
    return JSONResponse(told, status)


_DOCS = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Head Atlas API</title>
<link rel="icon" href="/assets/favicon.svg"><link rel="stylesheet" href="/api/docs/files/swagger-ui.css"></head>
<body><div id="swagger-ui"></div><script src="/api/docs/files/swagger-ui-bundle.js"></script>
<script src="/assets/before/docs.js"></script></body></html>"""
