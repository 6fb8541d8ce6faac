"""What a person takes away: tables, a stand-alone page, a figure, a script. Each says where its numbers come from."""

import io
import weakref
from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool

from analysis.errors import ServerBusy
from analysis.evidence.catalogue import Catalogue
from analysis.results.scores import Scores
from analysis.results.tables import csv_pieces
from dashboard.cache import cached
from dashboard.figures.view_figure import view_picture
from dashboard.maps import map_of_method
from dashboard.maps.map import MapView
from dashboard.page import table
from dashboard.state import TABLE, ViewState
from dashboard.view import View, open_view, opened
from dashboard.web.large_answers import LargeAnswers, Made
from dashboard.web.standalone import standalone

_CSV, _PARQUET, _JSON = "text/csv; charset=utf-8", "application/vnd.apache.parquet", "application/json"
_DARK = "dark"  # beside the view in the address of a figure


class NothingThere(Exception):
    """The model has no result of the map that is to be taken away."""


@dataclass(frozen=True)
class Export:
    """A file that is made of a view."""

    name: str
    media: str
    make: Callable[[View, str], Iterator[bytes]]  # of a view and the address of this server


def _shown(view: View) -> MapView[Any]:
    if view.shown is None:
        raise NothingThere(f"There is no {view.map.title.lower()} of {view.card.id} here.")
    return view.shown


def _everything(view: View) -> Scores:
    return view.map.everything(_shown(view))


def view_frame(view: View) -> pd.DataFrame:
    """A map in long format; the table as it is, with a row per head."""
    return table.frame(view) if view.state.view == TABLE else view.map.frame(_shown(view))


@cached(1, one_at_a_time=True)  # a table of a large model takes hundreds of megabytes
def scores_frame(scores: Scores) -> pd.DataFrame:
    """Everything in long format; not to be changed by those who get it."""
    each = map_of_method(scores.provenance.method)
    return each.scores_frame(scores) if each is not None else scores.to_frame()


def reproduce(view: View) -> str:
    """A script that computes this view again, and says whether the weights are the same ones."""
    return view.map.reproduce(_shown(view), view.title, "/" + view.named.to_query())


def _view_parquet(view: View) -> bytes:
    table = pa.Table.from_pandas(view_frame(view), preserve_index=False)
    metadata = {
        b"head-atlas": _shown(view).result.provenance.to_json().encode(),
        b"head-atlas-view": view.named.to_query().encode(),
    }
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue()


def _figure_json(view: View, dark: bool) -> Iterator[bytes]:
    yield view_picture(view, dark=dark).to_json().encode()


def _page(view: View, origin: str) -> Iterator[bytes]:
    """One file that opens without a network; the provenance is in it as JSON."""
    yield standalone(view, origin, _shown(view).result.provenance.to_json()).encode()


def _whole(make: Callable[[View], bytes]) -> Callable[[View, str], Iterator[bytes]]:
    """In one piece."""

    def made(view: View, origin: str) -> Iterator[bytes]:
        yield make(view)

    return made


EXPORTS = (
    Export("view.csv", _CSV, lambda view, _: csv_pieces(view_frame(_without_pins(view)))),
    Export("scores.csv", _CSV, lambda view, _: csv_pieces(scores_frame(_everything(view)))),
    Export("view.parquet", _PARQUET, _whole(_view_parquet)),
    Export("scores.parquet", _PARQUET, _whole(lambda view: _everything(view).to_parquet())),
    Export("page.html", "text/html; charset=utf-8", _page),
    Export("reproduce.py", "text/x-python; charset=utf-8", _whole(lambda view: reproduce(view).encode())),
)


def _without_pins(view: View) -> View:
    return replace(view, state=view.state.shared, notices=())


def routes(catalogue: Catalogue, public_url: str = "") -> APIRouter:
    """The addresses of the exports; each takes the query string of a view. Links lead to the public address, if any."""
    router, answers = APIRouter(prefix="/export", include_in_schema=False), LargeAnswers()
    for export in EXPORTS:
        router.add_api_route(f"/{export.name}", _endpoint(catalogue, answers, export, public_url), methods=["GET"])

    async def figure(request: Request) -> Response:
        read = ViewState.from_query(request.url.query, ignored=(_DARK,))
        view = replace(await run_in_threadpool(opened, catalogue, read), notices=())
        dark = request.query_params.get(_DARK) == "1"
        key = ("figure", _key(view), dark)
        return await _answer(answers, request, key, lambda: _figure_json(view, dark), _JSON, {})

    router.add_api_route("/figure.json", figure, methods=["GET"])
    return router


def _endpoint(
    catalogue: Catalogue, answers: LargeAnswers, export: Export, public_url: str
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        view = await run_in_threadpool(open_view, catalogue, request.url.query)
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in view.state.model)
        headers = {"Content-Disposition": f'attachment; filename="{stem}-{export.name}"'}
        origin = public_url or str(request.base_url).rstrip("/")
        key = (export.name, _key(view), origin)
        return await _answer(answers, request, key, lambda: export.make(view, origin), export.media, headers)

    return endpoint


def _key(view: View) -> Hashable:
    """What stands for a view among the files that are kept, without keeping its results."""
    results = tuple((name, weakref.ref(scores)) for name, scores in view.by_method)
    return replace(view, by_method=()), results


async def _answer(
    answers: LargeAnswers, request: Request, key: Hashable, make: Made, media: str, headers: dict[str, str]
) -> Response:
    try:
        return await answers.answer(request, key, make, media, headers)
    except NothingThere as error:
        return PlainTextResponse(str(error), 404)
    except ServerBusy as error:
        return PlainTextResponse(f"{error}. {error.hint}", 503, {"Retry-After": "5"})
