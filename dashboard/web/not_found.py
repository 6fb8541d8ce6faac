"""Addresses that are no page: said in words, with a way home."""

from html import escape

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from dashboard.state import MODELS, ViewState

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – Head Atlas</title>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<script src="/assets/before/theme.js"></script>
<link rel="stylesheet" href="/assets/1-base.css">
<link rel="stylesheet" href="/assets/2-header.css">
<link rel="stylesheet" href="/assets/head-page.css">
</head>
<body>
<header class="top"><a class="brand" href="/">Head Atlas</a></header>
<main class="head-page">
<h1>{title}</h1>
<p>{words}</p>
<p>A head's page is at an address such as <a href="/head/L23H4">/head/L23H4</a>; what the maps show stands in their
address after the question mark.</p>
<p><a href="/">Go to the maps</a> · <a href="{models}">Models and jobs</a> · <a href="/search">Search</a> ·
<a href="/api/docs">API</a></p>
</main>
</body>
</html>
"""


def not_found_page(title: str, words: str) -> HTMLResponse:
    """What is not there, and why."""
    models = escape("/" + ViewState(view=MODELS).to_query())
    return HTMLResponse(_PAGE.format(title=escape(title), words=escape(words), models=models), 404)


def add_not_found(server: FastAPI) -> None:
    """Answer every address that nothing else answers; to be added last."""

    def not_found(request: Request) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            return not_found_page("There is no such page", "There is nothing at this address.")
        answer = {
            "error": "NotFound",
            "message": "there is no such page",
            "hint": "The maps are at /, the API at /api.",
        }
        return JSONResponse(answer, 404)

    server.add_api_route("/{path:path}", not_found, methods=["GET", "HEAD"], include_in_schema=False)
