"""The first two answers of a page: its words with the scripts to load, and its layout; both of its own address."""

import re
from pathlib import Path

from dash._utils import to_json
from fastapi import APIRouter, Request, Response

from analysis.evidence.catalogue import Catalogue
from dashboard.cache import cached
from dashboard.page.callbacks import Jobs
from dashboard.page.opening import opening
from dashboard.page.start import started
from dashboard.query import MAX_QUERY
from dashboard.state import MODELS, ViewState
from dashboard.view import open_view

URL = "/_dash-layout"  # where Dash's renderer looks for it; assets/before/start.js adds address and screen
_ENTRY = re.compile(r'<div class="_dash-loading">.*?</div>', re.DOTALL)  # what Dash shows before its scripts run
_THEME = 20  # characters of the name of a theme that are read


def routes(catalogue: Catalogue, models: Path | None, read_only: bool, jobs: Jobs) -> APIRouter:
    """The layout, made for each page that is opened."""
    router = APIRouter(include_in_schema=False)

    def made(address: str, width: int | None, dark: bool, theme: str) -> str:
        screen = {"width": width, "dark": dark}
        text: str = to_json(started(catalogue, models, read_only, address, screen, jobs, theme))
        return text

    @cached(8)  # pages of up to a megabyte
    def made_once(generation: int, address: str, width: int | None, dark: bool, theme: str) -> str:
        """Many who open the same link get the same page, until there are other results."""
        return made(address, width, dark, theme)

    @cached(64, light=True)
    def words_once(generation: int, address: str) -> str:
        return opening(open_view(catalogue, address))

    def index(request: Request) -> Response:
        address = f"?{request.url.query}"[: MAX_QUERY + 2] if request.url.query else ""
        whole: str = request.app.state.dash.index()
        if not ViewState.from_query(address).state.embed:  # there the maps alone are shown
            words = words_once(catalogue.generation, address)
            whole = _ENTRY.sub(lambda _: words, whole, count=1)
        return Response(whole, media_type="text/html", headers={"Cache-Control": "no-store"})

    def layout(request: Request) -> Response:
        asked = request.query_params
        address = asked.get("address", "")[: MAX_QUERY + 2]  # with its ? one more than is read, so that it is said
        theme = asked.get("theme", "")[:_THEME]
        screen = (_width(asked.get("width", "")), asked.get("dark") == "1")
        if ViewState.from_query(address).state.view == MODELS:  # it lists jobs and folders, which change at any time
            text = made(address, *screen, theme)
        else:
            text = made_once(catalogue.generation, address, *screen, theme)
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    router.add_api_route("/", index, methods=["GET"])
    router.add_api_route(URL, layout, methods=["GET"])
    return router


def _width(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else None
