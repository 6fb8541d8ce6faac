"""The first answer behind the page: its layout with the view of the page's own address in it."""

from pathlib import Path

from dash._utils import to_json
from fastapi import APIRouter, Request, Response

from analysis.evidence.catalogue import Catalogue
from dashboard.cache import cached
from dashboard.page.callbacks import Jobs
from dashboard.page.start import started
from dashboard.query import MAX_QUERY
from dashboard.state import MODELS, ViewState

URL = "/_dash-layout"  # where Dash's renderer looks for it; assets/before/start.js adds address and screen
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

    router.add_api_route(URL, layout, methods=["GET"])
    return router


def _width(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else None
