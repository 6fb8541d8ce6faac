"""What a person takes away: tables, a stand-alone page, a figure, a script. Each says where its numbers come from."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from analysis.results.catalogue import Catalogue
from analysis.results.scores import Scores
from dashboard.cache import cached
from dashboard.figures.numbers import plain
from dashboard.figures.view_figure import view_picture
from dashboard.maps import map_of_method
from dashboard.maps.map import MapView
from dashboard.state import ViewState
from dashboard.view import View, open_view, opened

_CSV, _PARQUET = "text/csv; charset=utf-8", "application/vnd.apache.parquet"
_DARK = "dark"  # beside the view in the address of a figure


class NothingThere(Exception):
    """The model has no result of the map that is to be taken away."""


@dataclass(frozen=True)
class Export:
    """A file that is made of a view."""

    name: str
    media: str
    make: Callable[[View], bytes]


def _shown(view: View) -> MapView[Any]:
    if view.shown is None:
        raise NothingThere(f"There is no {view.map.title.lower()} of {view.card.id} here.")
    return view.shown


def _everything(view: View) -> Scores:
    return view.map.everything(_shown(view))


def view_frame(view: View) -> pd.DataFrame:
    """The view in long format."""
    return view.map.frame(_shown(view))


@cached(8)
def scores_frame(scores: Scores) -> pd.DataFrame:
    """Everything in long format; not to be changed by those who get it."""
    each = map_of_method(scores.provenance.method)
    return each.scores_frame(scores) if each is not None else scores.to_frame()


def reproduce(view: View) -> str:
    """A script that computes this view again, and says whether the weights are the same ones."""
    return view.map.reproduce(_shown(view), view.title, "/" + view.named.to_query())


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


@cached(64)
def _view_csv(view: View) -> bytes:
    return _csv(view_frame(view))


def _view_parquet(view: View) -> bytes:
    table = pa.Table.from_pandas(view_frame(view), preserve_index=False)
    metadata = {
        b"head-atlas": _shown(view).result.provenance.to_json().encode(),
        b"head-atlas-view": view.named.to_query().encode(),
    }
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), sink, compression="zstd")
    return sink.getvalue()


@cached(64)
def _figure_json(view: View, dark: bool) -> str:
    content: str = view_picture(view, dark=dark).to_json()
    return content


def _page(view: View) -> bytes:
    """One file that opens without a network; the provenance is in it as JSON."""
    figure = view_picture(view)
    content = figure.to_html(include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    facts = _shown(view).result.provenance.to_json().replace("<", "\\u003c")
    extra = f'<title>{plain(view.title)}</title><script type="application/json" id="provenance">{facts}</script>'
    page: str = content.replace("<head>", f"<head>{extra}", 1)
    return page.encode()


EXPORTS = (
    Export("view.csv", _CSV, lambda view: _view_csv(_without_pins(view))),
    Export("scores.csv", _CSV, lambda view: _csv(scores_frame(_everything(view)))),
    Export("view.parquet", _PARQUET, _view_parquet),
    Export("scores.parquet", _PARQUET, lambda view: _everything(view).to_parquet()),
    Export("page.html", "text/html; charset=utf-8", _page),
    Export("reproduce.py", "text/x-python; charset=utf-8", lambda view: reproduce(view).encode()),
)


def _without_pins(view: View) -> View:
    return replace(view, state=view.state.shared, notices=())


def routes(catalogue: Catalogue) -> APIRouter:
    """The addresses of the exports; each takes the query string of a view."""
    router = APIRouter(prefix="/export", include_in_schema=False)
    for export in EXPORTS:
        router.add_api_route(f"/{export.name}", _endpoint(catalogue, export), methods=["GET"])

    def figure(request: Request) -> Response:
        view = opened(catalogue, ViewState.from_query(request.url.query, ignored=(_DARK,)))
        dark = request.query_params.get(_DARK) == "1"
        return Response(_figure_json(replace(view, notices=()), dark), media_type="application/json")

    router.add_api_route("/figure.json", figure, methods=["GET"])
    return router


def _endpoint(catalogue: Catalogue, export: Export) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        view = open_view(catalogue, request.url.query)
        stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in view.state.model)
        headers = {"Content-Disposition": f'attachment; filename="{stem}-{export.name}"'}
        try:
            return Response(export.make(view), media_type=export.media, headers=headers)
        except NothingThere as error:
            return PlainTextResponse(str(error), 404)

    return endpoint
