"""The HTTP API: models, scores, heads, jobs, health. Documented at /api/docs."""

import json
import time
from collections import deque
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from swagger_ui_bundle import swagger_ui_path

from analysis import __version__, methods
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
    WorkerBusy,
)
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.jobs.problems import field_of, problem_words
from analysis.jobs.request import NetworkRequest, request_type
from analysis.methods.head_pairs import HeadPairs
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.sources import listed_models
from analysis.results.catalogue import Catalogue
from analysis.results.provenance import Data
from analysis.results.scores import KINDS, Scores
from dashboard.access import Access
from dashboard.jobs import JobState, job_state
from dashboard.maps import MAPS
from dashboard.pairs import PairsQuestion
from dashboard.web.exports import scores_frame
from dashboard.web.sets import add_sets

SUBMISSIONS = 10  # per minute and client
CLIENTS = 1000  # whose submissions are counted at a time
_STATUS = {
    ModelNotFound: 404,
    ModelError: 422,
    RelationError: 422,
    HeadError: 404,
    SettingError: 422,
    QueueFull: 503,
    WorkerBusy: 503,
    TaskError: 422,
}


class Chosen(BaseModel):
    """Which scores."""

    model_config = ConfigDict(extra="forbid")
    model: Annotated[str, Field(max_length=200)] = default_model.ID
    fingerprint: Annotated[str, Field(max_length=64, pattern="^[0-9a-f]*$")] = ""
    method: Annotated[str, Field(max_length=40)] = Field(
        default_factory=lambda: MAPS[0].name, description="the map whose scores are asked for"
    )
    fit: Annotated[str, Field(max_length=16, pattern="^[0-9a-f]*$")] = Field(
        "", description="of several results the one that goes first, as a job's link names it"
    )
    own: Annotated[str, Field(max_length=120)] = Field(
        "", description="a set of people's own relations, by id or name; the built-in ones alone when left out"
    )
    item: Annotated[list[str], Field(max_length=100)] = Field(
        [], description="relations, or tasks, by name; all when left out"
    )
    kind: Annotated[str, Field(max_length=40)] | None = None
    layer: Annotated[int, Field(ge=0)] | None = None
    head: Annotated[int, Field(ge=0)] | None = None
    least: Annotated[float, Field(ge=0, le=1)] = Field(0, description="only scores of at least this")

    def frame(self, catalogue: Catalogue) -> pd.DataFrame:
        """The rows."""
        scores = self._scores(catalogue)
        there = [item.name for item in scores.provenance.items]
        if unknown := [name for name in self.item if name not in there]:
            raise SettingError(f"there is no item {unknown[0][:80]!r} in this map", f"There are: {', '.join(there)}.")
        kinds = scores.score.kind.values.tolist()
        if self.kind is not None and self.kind not in kinds:
            raise SettingError(f"the {self.method} map has no {self.kind[:40]!r}", f"There are: {', '.join(kinds)}.")
        frame = scores_frame(scores)
        if self.item:
            frame = frame[frame["item"].isin(self.item)]
        for column, value in (("kind", self.kind), ("layer", self.layer), ("head", self.head)):
            if value is not None:
                frame = frame[frame[column] == value]
        return frame[frame["score"] >= self.least] if self.least > 0 else frame

    def _scores(self, catalogue: Catalogue) -> Scores:
        card = catalogue.card(self.model, self.fingerprint)
        if self.method not in methods.names():
            there = [name for name in methods.names() if catalogue.result(card, name) is not None]
            raise SettingError(f"there is no method {self.method!r}", f"There are: {', '.join(there)}.")
        scores = catalogue.result(card, self.method, self.fit, _set_id(catalogue, self.own))
        if scores is None:
            one = methods.method(self.method)
            title = one.title.lower()
            raise ModelNotFound(f"there is no {title} of {card.id} here", f"Compute it: {one.command_line(card.id)}")
        return scores


def create_api(catalogue: Catalogue, engine: Engine, access: Access, models: Path | None) -> FastAPI:
    """The API as an application of its own, to be mounted at /api."""
    api = FastAPI(
        title="Head Atlas", version=__version__, docs_url=None, redoc_url=None,
        description="What every attention head of a model does: results as data, analyses as jobs.",
    )  # fmt: skip
    api.mount("/docs/files", StaticFiles(directory=str(swagger_ui_path)))
    api.add_exception_handler(HeadAtlasError, _answer)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(400, _unreadable)
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
        """Models that have results, and folders and GGUF files that can be analysed by name."""
        return {"models": [card.to_dict() for card in catalogue.models()], "folders": listed_models(models)}

    @api.delete("/models/{fingerprint}")
    def delete_model(request: Request, fingerprint: Annotated[str, PathParameter(pattern="^[0-9a-f]{6,64}$")]) -> Data:
        """Delete the results of a model, by its fingerprint, and its jobs that are over."""
        _must_be_analyst(request)
        for card in catalogue.models():
            if card.fingerprint.startswith(fingerprint):
                return {"model": card.to_dict(), "removed": catalogue.delete_model(card)}
        raise ModelNotFound(f"there is no model with the fingerprint {fingerprint}", "See /api/models.")

    _add_results(api, catalogue)
    _add_pairs(api, catalogue, engine)
    _add_jobs(api, engine)
    add_sets(api, catalogue, engine, _must_be_analyst)
    return api


def _set_id(catalogue: Catalogue, own: str) -> str | None:
    """The id of a set that was named; none stands for the default."""
    return catalogue.own_set(own).id if own else None


def _add_results(api: FastAPI, catalogue: Catalogue) -> None:
    @api.get("/scores", response_model=None, responses={200: {"content": {"application/json": {}}}})
    def scores_json(chosen: Annotated[Chosen, Query()]) -> Response:
        """Scores in long format as JSON, a row for each score."""
        frame = chosen.frame(catalogue)
        return Response(frame.to_json(orient="records"), media_type="application/json")

    @api.get("/scores.csv", response_model=None, responses={200: {"content": {"text/csv": {}}}})
    def scores_csv(chosen: Annotated[Chosen, Query()]) -> Response:
        """The same as CSV: `pandas.read_csv` reads this address."""
        return Response(chosen.frame(catalogue).to_csv(index=False), media_type="text/csv")

    @api.get("/scores.parquet", response_model=None, responses={200: {"content": {"application/octet-stream": {}}}})
    def scores_parquet(chosen: Annotated[Chosen, Query()]) -> Response:
        """The same as Parquet."""
        return Response(chosen.frame(catalogue).to_parquet(index=False), media_type="application/octet-stream")

    @api.get("/head")
    def one_head(
        head: Annotated[str, Query(max_length=40, examples=["L23H4"])],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        own: Annotated[str, Query(max_length=120, description="a set of people's own relations")] = "",
    ) -> dict[str, Any]:
        """All that is known of one head."""
        chosen = _set_id(catalogue, own)
        card = catalogue.card(model, fingerprint)
        name = card.check(HeadId.parse(head))
        answer: dict[str, Any] = {"model": card.to_dict(), "head": str(name), "heads": len(card.layers) * card.heads}
        for method in methods.METHODS:
            scores = catalogue.result(card, method.name, own=chosen)
            answer |= method.no_head(card, name) if scores is None else method.head(scores, name)
        return answer


def _add_pairs(api: FastAPI, catalogue: Catalogue, engine: Engine) -> None:
    @api.get("/pairs")
    def pairs(
        request: Request,
        head: Annotated[str, Query(max_length=40, examples=["L23H4"])],
        relation: Annotated[str, Query(max_length=80, examples=["country_capital"])],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        method: Annotated[str, Query(max_length=40, description="whose score; the first map's when left out")] = "",
        kind: Annotated[str, Query(max_length=40)] = KINDS[0],
        sample: Annotated[str, Query(max_length=200, description="the first when left out")] = "",
        own: Annotated[str, Query(max_length=120, description="the set of a relation that somebody brought")] = "",
    ) -> dict[str, Any]:
        """Every pair behind a head's score for a relation, with the target's rank; computed when first asked for."""
        card = catalogue.card(model, fingerprint)
        question = PairsQuestion(relation, HeadId.parse(head), kind, method, sample, own)
        step = question.step(card, catalogue, engine)
        if not engine.knows(step):
            _must_be_analyst(request)
        found = HeadPairs.from_json(engine.ask(card, step))
        return {"model": card.to_dict(), **found.to_plain()}


def _add_jobs(api: FastAPI, engine: Engine) -> None:
    submission = request_type(NetworkRequest)  # with the settings of every method
    limits: dict[str, deque[float]] = {}

    @api.get("/jobs")
    def list_jobs() -> list[JobState]:
        """All jobs, the oldest first."""
        return [job_state(job) for job in engine.jobs()]

    @api.post("/jobs", status_code=202)
    def submit(request: Request, wanted: submission) -> JobState:  # type: ignore[valid-type]
        """Analyse a model; asking twice for the same gives the same job."""
        _must_be_analyst(request)
        _limit(limits, request)
        engine.look_up(wanted)
        return job_state(engine.submit(wanted))

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
        return job_state(engine.retry(_found(engine, job_id).id))


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


def _found(engine: Engine, job_id: str) -> Job:
    job = engine.job(job_id) if job_id.isascii() and job_id.isalnum() and len(job_id) <= 32 else None
    if job is None:
        raise HTTPException(404, "there is no such job")
    return job


def _answer(request: Request, error: Exception) -> JSONResponse:
    """An error that a person can fix, as the API tells it."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, StoreError):
        status = 507
    told = {"error": type(error).__name__, "message": str(error), "hint": getattr(error, "hint", "")}
    if isinstance(error, HeadAtlasError) and error.field:
        told["field"] = error.field
    return JSONResponse(told, status)


def _invalid(request: Request, error: Exception) -> Response:
    """FastAPI's answer to a wrong request, without the input: JSON cannot repeat a NaN or half a character."""
    if not isinstance(error, RequestValidationError):
        raise error
    problems = []
    for problem in error.errors():
        told = {key: problem[key] for key in ("type", "loc", "msg", "ctx") if key in problem}
        place = problem["loc"][1:]  # without "body" or "query"
        words = problem_words(problem, request_type(NetworkRequest).model_fields, place)
        problems.append({**told, "field": field_of(place), "words": words})
    return Response(json.dumps({"detail": problems}, default=str), 422, media_type="application/json")


def _unreadable(request: Request, error: Exception) -> Response:
    """FastAPI's answer to a body that it cannot read; 422, as for any wrong body, where it is no JSON for Python.

    That is text that is not UTF-8, an integer of more than 4,300 digits, or ten thousand brackets.
    """
    status = 422 if isinstance(error.__cause__, ValueError | RecursionError) else 400
    return JSONResponse({"detail": "There was an error parsing the body"}, status)


_DOCS = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Head Atlas API</title>
<link rel="icon" href="/assets/favicon.svg"><link rel="stylesheet" href="/api/docs/files/swagger-ui.css"></head>
<body><div id="swagger-ui"></div><script src="/api/docs/files/swagger-ui-bundle.js"></script>
<script src="/assets/before/docs.js"></script></body></html>"""
