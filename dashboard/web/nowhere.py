"""Addresses that are no page: said in words, with a way home."""

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>No such page – Head Atlas</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34em; margin: 18vh auto 0; padding: 0 20px; }
</style>
</head>
<body>
<main>
<h1>There is no such page</h1>
<p>Head Atlas has one page; what it shows stands in its address after the question mark.</p>
<p><a href="/">Go to the maps</a> · <a href="/?view=models">Models and jobs</a> · <a href="/api/docs">API</a></p>
</main>
</body>
</html>
"""


def add_nowhere(server: FastAPI) -> None:
    """Answer every address that nothing else answers; to be added last."""

    def nowhere(request: Request) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(_PAGE, 404)
        answer = {
            "error": "NotFound",
            "message": "there is no such page",
            "hint": "The maps are at /, the API at /api.",
        }
        return JSONResponse(answer, 404)

    server.add_api_route("/{path:path}", nowhere, methods=["GET", "HEAD"], include_in_schema=False)
