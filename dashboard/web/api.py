"""The HTTP API: models, scores, heads, jobs, health. Documented at /api/docs."""

import json
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from swagger_ui_bundle import swagger_ui_path

from analysis import __version__, methods
from analysis.errors import (
    HeadAtlasError,
    HeadError,
    ModelError,
    ModelNotFound,
    QueueFull,
    RelationError,
    RelationNotFound,
    ServerBusy,
    SettingError,
    StoreError,
    TaskError,
    WorkerBusy,
)
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import head_evidence, results_of
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.jobs.problems import field_of, problem_words
from analysis.jobs.request import NetworkRequest, request_type
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.sources import listed_models
from analysis.prompt.question import ABLATE, INSTEAD, MAX_CHARACTERS, MAX_HEADS, PromptQuestion
from analysis.prompt.question import PATIENCE as PROMPT_PATIENCE
from analysis.prompt.reading import PromptAblation, PromptReading, reading_data
from analysis.relations.scores import KINDS
from analysis.results.provenance import JsonObject
from analysis.results.scores import OVER_SAMPLES, Scores, check_sample
from analysis.results.tables import csv_pieces, json_pieces
from analysis.settings import NamedFields
from dashboard.access import Access
from dashboard.jobs import JobState, job_state
from dashboard.pairs import PairsQuestion, answered, is_known
from dashboard.web.bodies import BodyRefused, refusal
from dashboard.web.exports import scores_frame
from dashboard.web.findings import add_comparisons, add_findings, add_quantities, result_of_method, set_id
from dashboard.web.guard import NO_ANALYST
from dashboard.web.large_answers import LargeAnswers
from dashboard.web.sets import add_sets
from dashboard.web.threaded_route import threaded_after

JobName = Annotated[str, PathParameter(pattern="^[0-9A-Za-z]{1,32}$", description="as the list of jobs has it")]
Written = Callable[[pd.DataFrame], Iterator[bytes]]  # a table as a file, in pieces

SUBMISSIONS = 10  # per minute and client
TRIES = 30  # the same with those that are refused
PROBLEMS = 20  # of a request that are told
QUESTIONS = 60  # per minute and client, whose answers are not known
CLIENTS = 1000  # whose submissions are counted at a time
_STATUS = {
    ModelNotFound: 404,
    ModelError: 422,
    RelationNotFound: 404,
    RelationError: 422,
    HeadError: 404,
    SettingError: 422,
    QueueFull: 503,
    ServerBusy: 503,
    WorkerBusy: 503,
    TaskError: 422,
}


class Refusal(BaseModel):
    """Why not, and what to do."""

    error: str
    message: str
    hint: str


class Detail(BaseModel):
    """Why not."""

    detail: Any


_REFUSALS: dict[int | str, JsonObject] = {
    400: {"model": Detail, "description": "a body that cannot be read, or another server's name"},
    401: {"model": Detail, "description": "a login is needed"},
    403: {"model": Detail, "description": "the analyst role is needed, or the request comes from another site"},
    404: {"model": Refusal | Detail, "description": "not found"},
    408: {"model": Refusal, "description": "a body that does not arrive"},
    413: {"model": Refusal, "description": "a body that is too large"},
    422: {"model": Refusal | Detail, "description": "invalid values"},
    429: {"model": Detail, "description": "too many at a time"},
    503: {"model": Refusal, "description": "busy; retry later"},
    507: {"model": Refusal, "description": "the store cannot be used"},
}


class ScoresQuery(NamedFields):
    """Which scores."""

    model: Annotated[str, Field(max_length=200)] = default_model.ID
    fingerprint: Annotated[str, Field(max_length=64, pattern="^[0-9a-f]*$")] = ""
    method: Annotated[str, Field(max_length=40)] = Field("", description="whose scores; else of the map that holds")
    result: Annotated[str, Field(max_length=16, pattern="^[0-9a-f]*$")] = Field(
        "", description="which result to prefer if there are several, as a job's link names it"
    )
    fit: Annotated[str, Field(max_length=16, pattern="^[0-9a-f]*$")] = Field(
        "", description="the same under its older name"
    )
    own: Annotated[str, Field(max_length=120)] = Field(
        "", description="a custom relation set, by id or name (default: the built-in relations alone)"
    )
    item: Annotated[list[str], Field(max_length=100)] = Field(
        [], description="relations, or tasks, by name; all when left out"
    )
    kind: Annotated[str, Field(max_length=40)] | None = None
    layer: Annotated[int, Field(ge=0)] | None = None
    head: Annotated[int, Field(ge=0)] | None = None
    sample: Annotated[str, Field(max_length=200)] = Field(
        "", description="one score over all samples: mean, every or some; or those of one sample; all when left out"
    )
    least: Annotated[float, Field(ge=0, le=1)] = Field(0, description="only scores of at least this")

    def scores(self, catalogue: Catalogue) -> Scores:
        """The result; raises what a person can fix."""
        scores = self._result(catalogue)
        there = [item.name for item in scores.provenance.items]
        if unknown := [name for name in self.item if name not in there]:
            raise SettingError(f"there is no item {unknown[0][:80]!r} in this map", f"There are: {', '.join(there)}.")
        kinds = scores.score.kind.values.tolist()
        if self.kind is not None and self.kind not in kinds:
            name = scores.provenance.method
            raise SettingError(f"the {name} map has no {self.kind[:40]!r}", f"There are: {', '.join(kinds)}.")
        if self.sample:
            self._check_sample(scores)
        return scores

    def _check_sample(self, scores: Scores) -> None:
        """Samples are taken together where a report of the method does so; one of them can always be named."""
        check_sample(self.sample, [scores])
        is_one = self.sample not in OVER_SAMPLES or len(scores.samples) == 1
        if not is_one and not methods.method(scores.provenance.method).samples_alike:
            there = ", ".join(scores.samples)
            raise SettingError(f"there is no {self.sample} over the samples of this map", f"There are: {there}.")

    def frame(self, scores: Scores) -> pd.DataFrame:
        """The rows of a result."""
        if self.sample in OVER_SAMPLES and len(scores.samples) > 1:
            frame = scores_frame(scores.over_samples(self.sample)).assign(sample=self.sample)
        else:
            frame = scores_frame(scores)
        if self.sample and self.sample not in OVER_SAMPLES:
            frame = frame[frame["sample"] == self.sample]
        if self.item:
            frame = frame[frame["item"].isin(self.item)]
        for column, value in (("kind", self.kind), ("layer", self.layer), ("head", self.head)):
            if value is not None:
                frame = frame[frame[column] == value]
        return frame[frame["score"] >= self.least] if self.least > 0 else frame

    def _result(self, catalogue: Catalogue) -> Scores:
        card, own = catalogue.card(self.model, self.fingerprint), set_id(catalogue, self.own)
        name = self.method or catalogue.default_method(card, self.item[0] if self.item else "", own).name
        return result_of_method(catalogue, card, name, self.result or self.fit, own)


def create_api(
    catalogue: Catalogue,
    engine: Engine,
    access: Access,
    models: Path | None,
    jobs: Callable[[], Sequence[JobState]],  # as they are now
) -> FastAPI:
    """The API as an application of its own, to be mounted at /api."""
    api = FastAPI(
        title="Head Atlas", version=__version__, docs_url=None, redoc_url=None,
        description="What every attention head of a model does: results as data, analyses as jobs.",
        responses=_REFUSALS,
    )  # fmt: skip
    api.mount("/docs/files", StaticFiles(directory=str(swagger_ui_path)))
    api.add_exception_handler(HeadAtlasError, _answer)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(400, _unreadable)
    api.add_api_route("/docs", lambda: HTMLResponse(_DOCS), include_in_schema=False)
    shown = {"openapi": "3.0.3"}  # the newest that the packaged Swagger UI takes
    api.add_api_route("/docs/openapi.json", lambda: JSONResponse(api.openapi() | shown), include_in_schema=False)

    @api.get("/health")
    async def health() -> JsonObject:  # on the event loop: it waits for no thread
        """Whether the server is well, and whether it takes jobs."""
        return {"status": "ok", "version": __version__, "read_only": access.read_only}

    @api.get("/models")
    def list_models() -> JsonObject:
        """Models that have results, and folders and GGUF files that can be analysed by name."""
        return {"models": [card.to_dict() for card in catalogue.models()], "folders": listed_models(models)}

    @api.delete("/models/{fingerprint}")
    def delete_model(
        request: Request, fingerprint: Annotated[str, PathParameter(pattern="^[0-9a-f]{6,64}$")]
    ) -> JsonObject:
        """Delete the results of a model, by its fingerprint, and its jobs that are over."""
        _must_be_analyst(request)
        for card in catalogue.models():
            if card.fingerprint.startswith(fingerprint):
                return {"model": card.to_dict(), "removed": catalogue.delete_model(card)}
        raise ModelNotFound(f"there is no model with the fingerprint {fingerprint}", "See /api/models.")

    _add_results(api, catalogue)
    add_findings(api, catalogue)
    add_quantities(api, catalogue)
    add_comparisons(api, catalogue)
    questions: dict[str, deque[float]] = {}
    _add_pairs(api, catalogue, engine, questions)
    _add_prompt(api, catalogue, engine, questions)
    _add_jobs(api, engine, jobs)
    add_sets(api, catalogue, engine, _must_be_analyst)
    return api


def _add_results(api: FastAPI, catalogue: Catalogue) -> None:
    large_answers = LargeAnswers()

    async def answer(request: Request, chosen: ScoresQuery, media: str, written: Written) -> Response:
        """The chosen rows, made once for the same results."""
        scores = await run_in_threadpool(chosen.scores, catalogue)
        key = (media, weakref.ref(scores), chosen.model_dump_json())  # those of a job that goes on are others each time
        return await large_answers.answer(request, key, lambda: written(chosen.frame(scores)), media)

    @api.get("/scores", response_model=None, responses={200: {"content": {"application/json": {}}}})
    async def scores_json(request: Request, chosen: Annotated[ScoresQuery, Query()]) -> Response:
        """Scores in long format as JSON, one row per score."""
        return await answer(request, chosen, "application/json", json_pieces)

    @api.get("/scores.csv", response_model=None, responses={200: {"content": {"text/csv": {}}}})
    async def scores_csv(request: Request, chosen: Annotated[ScoresQuery, Query()]) -> Response:
        """The same as CSV: `pandas.read_csv` reads this address."""
        return await answer(request, chosen, "text/csv", csv_pieces)

    @api.get("/scores.parquet", response_model=None, responses={200: {"content": {"application/octet-stream": {}}}})
    async def scores_parquet(request: Request, chosen: Annotated[ScoresQuery, Query()]) -> Response:
        """The same as Parquet."""
        return await answer(request, chosen, "application/octet-stream", _parquet)

    @api.get("/head")
    def one_head(
        head: Annotated[str, Query(max_length=40, examples=["L23H4"])],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        own: Annotated[str, Query(max_length=120, description="a custom relation set")] = "",
        sample: Annotated[str, Query(max_length=200, description="mean, every, some or one sample")] = OVER_SAMPLES[0],
    ) -> JsonObject:
        """All that is known of one head; findings and likeness are by the mean over samples."""
        chosen = set_id(catalogue, own)
        card = catalogue.card(model, fingerprint)
        name = card.check(HeadId.parse(head))
        results = results_of(catalogue, card, chosen)
        answer: JsonObject = {"model": card.to_dict(), "head": str(name), "heads": len(card.layers) * card.heads}
        there = [method for method in methods.METHODS if method.name in results]
        check_sample(sample, [results[method.name] for method in there if method.samples_alike])
        for method in methods.METHODS:
            scores = results.get(method.name)
            answer |= method.no_head(card, name) if scores is None else method.head(method.over(scores, sample), name)
        return answer | head_evidence(results, card, name)


def _parquet(frame: pd.DataFrame) -> Iterator[bytes]:
    yield frame.to_parquet(index=False)


def _add_pairs(api: FastAPI, catalogue: Catalogue, engine: Engine, questions: dict[str, deque[float]]) -> None:
    @api.get("/pairs")
    def pairs(
        request: Request,
        head: Annotated[str, Query(max_length=40, examples=["L23H4"])],
        relation: Annotated[str, Query(max_length=80, examples=["country_capital"])],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        method: Annotated[str, Query(max_length=40, description="whose score; else of the map that holds")] = "",
        kind: Annotated[str, Query(max_length=40)] = KINDS[0],
        sample: Annotated[str, Query(max_length=200, description="the first when left out")] = "",
        result: Annotated[str, Query(max_length=16, pattern="^[0-9a-f]*$", description="as for scores")] = "",
        fit: Annotated[str, Query(max_length=16, pattern="^[0-9a-f]*$", description="an older name of result")] = "",
        own: Annotated[str, Query(max_length=120, description="the set of an uploaded relation")] = "",
    ) -> JsonObject:
        """Every pair behind a head's score for a relation, with the target's rank; computed when first asked for."""
        card = catalogue.card(model, fingerprint)
        question = PairsQuestion(relation, HeadId.parse(head), kind, method, sample, result or fit, own)
        step = question.step(card, catalogue, engine)
        if not is_known(step, engine):
            _must_be_analyst(request)
            _limit(questions, request, QUESTIONS)
        return {"model": card.to_dict(), **answered(step, card, engine).to_plain()}


def _add_prompt(api: FastAPI, catalogue: Catalogue, engine: Engine, questions: dict[str, deque[float]]) -> None:
    @api.get("/prompt")
    def prompt(
        request: Request,
        text: Annotated[str, Query(max_length=MAX_CHARACTERS, examples=["The capital of France is"])],
        head: Annotated[list[str], Query(max_length=MAX_HEADS, description="whose attention is shown")] = [],  # noqa: B006
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        ablate: Annotated[str, Query(max_length=40, description="switch heads off at: all, last, none")] = ABLATE,
        instead: Annotated[str, Query(max_length=40, description="in their place: zero, mean")] = INSTEAD[0],
    ) -> JsonObject:
        """A text as a model reads it: tokens, attention of some heads, next tokens, and every head's effect on them."""
        card = catalogue.card(model, fingerprint)
        question = PromptQuestion(text, tuple(HeadId.parse(one) for one in head), ablate, instead)
        reading, ablation = question.reading(card), question.ablation(card)
        if not all(engine.knows(step) for step in (reading, ablation) if step is not None):
            _must_be_analyst(request)
            _limit(questions, request, QUESTIONS)
        read = PromptReading.from_json(engine.ask(card, reading, PROMPT_PATIENCE))
        ablated = None
        if ablation is not None:
            ablated = PromptAblation.from_json(engine.ask(card, ablation, PROMPT_PATIENCE))
        return {"model": card.to_dict(), **reading_data(read, ablated)}


def _add_jobs(api: FastAPI, engine: Engine, jobs: Callable[[], Sequence[JobState]]) -> None:
    submission = request_type(NetworkRequest)  # with the settings of every method
    limits: dict[str, deque[float]] = {}

    @api.get("/jobs")
    def list_jobs() -> Sequence[JobState]:
        """All jobs, the oldest first."""
        return jobs()

    tries: dict[str, deque[float]] = {}

    def count_try(request: Request) -> None:
        """Before the body is parsed: one that is refused costs as much as one that is taken."""
        _must_be_analyst(request)
        _limit(tries, request, TRIES)

    def submit(request: Request, wanted: submission) -> JobState:  # type: ignore[valid-type]
        """Analyse a model; asking twice for the same gives the same job."""
        _limit(limits, request)
        engine.look_up(wanted)
        return job_state(engine.submit(wanted))

    api.router.add_api_route(
        "/jobs", submit, methods=["POST"], status_code=202, route_class_override=threaded_after(count_try),
    )  # fmt: skip

    @api.get("/jobs/{job_id}")
    def one_job(job_id: JobName) -> JobState:
        """How far a job is."""
        return job_state(_existing_job(engine, job_id))

    @api.delete("/jobs/{job_id}")
    def cancel(
        request: Request,
        job_id: JobName,
        forget: Annotated[bool, Query(description="delete a job that is over instead; its results stay")] = False,
    ) -> JobState:
        """Stop a job; what it has computed is kept."""
        _must_be_analyst(request)
        _existing_job(engine, job_id)
        return job_state(engine.delete(job_id) if forget else engine.cancel(job_id))

    @api.post("/jobs/{job_id}/retry", status_code=202)
    def retry(request: Request, job_id: JobName) -> JobState:
        """Retry a failed or cancelled job; it resumes where it was."""
        _must_be_analyst(request)
        _limit(limits, request)
        return job_state(engine.retry(_existing_job(engine, job_id).id))


def _must_be_analyst(request: Request) -> None:
    if request.scope.get("state", {}).get("role") != "analyst":
        raise HTTPException(403, NO_ANALYST)


def _limit(limits: dict[str, deque[float]], request: Request, most: int | None = None) -> None:
    """At most some submissions a minute; clients that were quiet for a minute are forgotten."""
    now, client = time.monotonic(), request.client.host if request.client else ""
    most = SUBMISSIONS if most is None else most
    for other, times in list(limits.items()):
        if now - times[-1] > 60 or len(limits) > CLIENTS:
            limits.pop(other, None)
    times = limits.get(client, deque(maxlen=most))
    if len(times) >= most and now - times[0] <= 60:
        raise HTTPException(429, f"at most {most} analyses per minute", {"Retry-After": "60"})
    times.append(now)
    limits[client] = times


def _existing_job(engine: Engine, job_id: str) -> Job:
    job = engine.job(job_id)
    if job is None:
        raise HTTPException(404, "there is no such job")
    return job


def _answer(request: Request, error: Exception) -> JSONResponse:
    """An error that a user can fix, as the API returns it."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    if isinstance(error, StoreError):
        status = 507
    answer = {"error": type(error).__name__, "message": str(error), "hint": getattr(error, "hint", "")}
    if isinstance(error, HeadAtlasError) and error.field:
        answer["field"] = error.field
    return JSONResponse(answer, status)


def _invalid(request: Request, error: Exception) -> Response:
    """FastAPI's answer to a wrong request, without the input: JSON can hold neither NaN nor an unpaired surrogate."""
    if not isinstance(error, RequestValidationError):
        raise error
    problems = []
    for problem in error.errors()[:PROBLEMS]:
        answer = {key: problem[key] for key in ("type", "loc", "msg", "ctx") if key in problem}
        place = problem["loc"][1:]  # without "body" or "query"
        words = problem_words(problem, request_type(NetworkRequest).model_fields, place)
        problems.append({**answer, "field": field_of(place), "words": words})
    return Response(json.dumps({"detail": problems}, default=str), 422, media_type="application/json")


def _unreadable(request: Request, error: Exception) -> Response:
    """FastAPI's answer to a body that it cannot read; 422, as for any wrong body, where it is no JSON for Python.

    That is text that is not UTF-8, an integer of more than 4,300 digits, or ten thousand brackets.
    """
    if isinstance(error.__cause__, BodyRefused):
        return refusal(error.__cause__)
    status = 422 if isinstance(error.__cause__, ValueError | RecursionError) else 400
    return JSONResponse({"detail": "There was an error parsing the body"}, status)


_DOCS = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Head Atlas API</title>
<link rel="icon" href="/assets/favicon.svg"><link rel="stylesheet" href="/api/docs/files/swagger-ui.css"></head>
<body><div id="swagger-ui"></div><script src="/api/docs/files/swagger-ui-bundle.js"></script>
<script src="/assets/before/docs.js"></script></body></html>"""
