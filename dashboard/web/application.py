"""The web application: one page, its exports, the API. It computes nothing itself."""

from pathlib import Path
from typing import Any

from dash import Dash
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.websockets import WebSocket

from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from dashboard.access import Access
from dashboard.page import callbacks
from dashboard.page.layout import page
from dashboard.web import exports, numbers, pages, scripts, start
from dashboard.web.api import create_api
from dashboard.web.dash_requests import DashRequests
from dashboard.web.guard import Guard, policy
from dashboard.web.heavy_routes import HeavyRoutes
from dashboard.web.live import JobWatch, tell
from dashboard.web.not_found import add_not_found
from dashboard.web.one_look import OneLook

ASSETS = Path(__file__).parent.parent.parent / "assets"

_INDEX = f"""<!DOCTYPE html>
<html lang="en">
<head>
{{%metas%}}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Head Atlas</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<script src="/assets/before/theme.js"></script>
<script src="/assets/before/start.js"></script>
{{%css%}}
{scripts.preloads()}
</head>
<body>
{{%app_entry%}}
<footer>{{%config%}}{{%scripts%}}{{%renderer%}}</footer>
</body>
</html>"""


def create_app(catalogue: Catalogue, engine: Engine, access: Access, models: Path | None = None) -> FastAPI:
    """The server, ready for uvicorn."""
    server = FastAPI(title="Head Atlas", docs_url=None, redoc_url=None, openapi_url=None)
    server.include_router(exports.routes(catalogue, access.public_url))
    server.include_router(pages.routes(catalogue))
    server.include_router(numbers.routes(catalogue))

    watch = JobWatch(engine)
    server.mount("/api", create_api(catalogue, engine, access, models, watch.now))

    async def live(socket: WebSocket) -> None:
        await tell(socket, watch)

    server.add_api_websocket_route("/live/jobs", live)
    server.mount(scripts.URL, scripts.Modules())  # before Dash's own assets
    server.include_router(start.routes(catalogue, models, access.read_only, watch.now))  # before Dash's own layout
    app = dash_app(catalogue, access, models, server, watch.last)
    server.state.dash = app
    add_not_found(server)
    server.add_middleware(OneLook)  # a request that waited for its turn sees the results of then
    server.add_middleware(HeavyRoutes)
    server.add_middleware(DashRequests, dash=app)
    server.add_middleware(GZipMiddleware, minimum_size=500, compresslevel=4)  # 9 takes longer than it saves
    server.add_middleware(Guard, access=access, policy=policy(list(app.csp_hashes())))  # the last is the outermost
    return server


def dash_app(catalogue: Catalogue, access: Access, models: Path | None, server: Any, jobs: callbacks.Jobs) -> Dash:
    """The page on a server."""
    app = Dash(
        "head-atlas",
        server=server,
        assets_folder=str(ASSETS),
        assets_path_ignore=["before", "pictures", "head-page.css", scripts.IGNORED],
        index_string=_INDEX,
        meta_tags=[scripts.rules()],
        title="Head Atlas",
        update_title="",
        suppress_callback_exceptions=True,  # the table's grid is not on every page
        add_log_handler=False,
    )
    app.backend.websocket_capability = False  # else every page opens Dash's own WebSocket, again and again; unused
    app.renderer = scripts.RENDERER
    app.layout = page(read_only=access.read_only)
    callbacks.register(app, catalogue, models, access.read_only, jobs)
    return app
