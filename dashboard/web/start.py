"""The first answer behind the page: its layout with the view of the page's own address in it."""

import json
from collections.abc import Callable
from pathlib import Path

from dash._utils import to_json
from fastapi import APIRouter, Request, Response

from analysis.errors import StoreError
from analysis.results.catalogue import Catalogue
from analysis.results.provenance import JsonObject
from dashboard.page.start import started
from dashboard.query import MAX_QUERY
from dashboard.web.live import SentJobs

URL = "/_dash-layout"  # where Dash's renderer looks for it; assets/before/start.js adds address and screen


def routes(catalogue: Catalogue, models: Path | None, read_only: bool, jobs: Callable[[], SentJobs]) -> APIRouter:
    """The layout, made for each page that is opened."""
    router = APIRouter(include_in_schema=False)

    def layout(request: Request) -> Response:
        asked = request.query_params
        screen = {"width": _width(asked.get("width", "")), "dark": asked.get("dark") == "1"}
        address = asked.get("address", "")[: MAX_QUERY + 2]  # with its ? one more than is read, so that it is said
        whole = started(catalogue, models, read_only, address, screen, _sent(jobs), asked.get("theme", ""))
        return Response(to_json(whole), media_type="application/json", headers={"Cache-Control": "no-store"})

    router.add_api_route(URL, layout, methods=["GET"])
    return router


def _width(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else None


def _sent(jobs: Callable[[], SentJobs]) -> list[JsonObject]:
    """The jobs, or none while their store cannot be read: the page asks again."""
    try:
        listed: list[JsonObject] = json.loads(jobs().text)
    except StoreError:
        return []
    return listed
