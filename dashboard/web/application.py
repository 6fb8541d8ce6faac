"""The web application: one page, its exports, the API. It computes nothing itself."""

import html
import json
from pathlib import Path
from typing import Any

from dash import Dash
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.websockets import WebSocket

from analysis.jobs.engine import Engine
from analysis.models.card import WRITTEN
from analysis.results.catalogue import Library
from dashboard.access import Access
from dashboard.catalogue_adapter import Catalogue
from dashboard.page import callbacks
from dashboard.page.layout import page
from dashboard.setting import MAX_PINS
from dashboard.web import exports
from dashboard.web.api import create_api
from dashboard.web.guard import MAX_UPLOAD, Guard, policy
from dashboard.web.live import Watch, tell

ASSETS = Path(__file__).parent.parent.parent / "assets"

_INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="atlas-rules" content="RULES">
<title>Head Atlas</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<script src="/assets/before/theme.js"></script>
{%css%}
</head>
<body>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>"""


def _index() -> str:
    """The page's frame, with the rules that its scripts share with the server."""
    rules = {"pins": MAX_PINS, "head": WRITTEN.pattern, "upload": MAX_UPLOAD}
    return _INDEX.replace("RULES", html.escape(json.dumps(rules)))


def create_app(library: Library, engine: Engine, access: Access, models: Path | None = None) -> FastAPI:
    """The server, ready for uvicorn."""
    catalogue = Catalogue(library)
    server = FastAPI(title="Head Atlas", docs_url=None, redoc_url=None, openapi_url=None)
    server.include_router(exports.routes(catalogue))
    server.mount("/api", create_api(catalogue, engine, access, models))

    watch = Watch(engine)

    async def live(socket: WebSocket) -> None:
        await tell(socket, watch)

    server.add_api_websocket_route("/live/jobs", live)
    app = dash_app(catalogue, access, models, server)
    server.state.dash = app
    server.add_middleware(GZipMiddleware, minimum_size=500, compresslevel=4)  # 9 takes longer than it saves
    server.add_middleware(Guard, access=access, policy=policy(list(app.csp_hashes())))  # the last is the outermost
    return server


def dash_app(catalogue: Catalogue, access: Access, models: Path | None, server: Any) -> Dash:
    """The page on a server."""
    app = Dash(
        "head-atlas",
        server=server,
        assets_folder=str(ASSETS),
        assets_path_ignore=["before", "pictures"],
        index_string=_index(),
        title="Head Atlas",
        update_title="",
        add_log_handler=False,
    )
    app.layout = page(read_only=access.read_only)
    callbacks.register(app, catalogue, models, access.read_only)
    return app
