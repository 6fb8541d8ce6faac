"""Pages that are plain HTML: one per head, and the answers to a search. A chat that previews a link reads them."""

from html import escape

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from analysis.errors import HeadError
from analysis.models.card import HeadId
from analysis.results.catalogue import Catalogue
from analysis.results.evidence import answers
from dashboard.page.head_page import head_page, head_title, search_page, summary
from dashboard.page.markup import as_html
from dashboard.state import ViewState
from dashboard.view import View, opened

_QUESTION = "q"  # beside the view in the address of a search
_LONGEST = 200  # characters of a question
_STYLES = ("1-base", "2-header", "5-cards", "6-tasks", "head-page")


def routes(catalogue: Catalogue) -> APIRouter:
    """The addresses of these pages; each takes the query string of a view."""
    router = APIRouter(include_in_schema=False)

    def of_head(name: str, request: Request) -> Response:
        view = opened(catalogue, ViewState.from_query(request.url.query))
        try:
            head = view.card.check(HeadId.parse(name))
        except HeadError as error:
            return _page(
                "No such head – Head Atlas",
                f"{error}. {error.hint}",
                f'<main><p>{escape(str(error))}. {escape(error.hint)}</p><p><a href="/">The maps</a></p></main>',
                404,
            )
        return _page(head_title(view, head), summary(view, head), _notices(view) + as_html(head_page(view, head)))

    def of_search(request: Request) -> Response:
        view = opened(catalogue, ViewState.from_query(request.url.query, ignored=(_QUESTION,)))
        text = request.query_params.get(_QUESTION, "")[:_LONGEST]
        listed = answers(view.results, view.card, text)
        title = f"{text} – heads of {view.card.id} – Head Atlas"
        return _page(title, f"{len(listed)} heads", _notices(view) + as_html(search_page(view, text, listed)))

    router.add_api_route("/head/{name}", of_head, methods=["GET"])
    router.add_api_route("/search", of_search, methods=["GET"])
    return router


def _notices(view: View) -> str:
    return "".join(f'<div class="notice">{escape(notice)}</div>' for notice in view.notices)


def _page(title: str, description: str, body: str, status: int = 200) -> HTMLResponse:
    """A whole page; title and description are what a preview shows."""
    styles = "".join(f'<link rel="stylesheet" href="/assets/{name}.css">' for name in _STYLES)
    meta = (
        f'<meta property="og:title" content="{escape(title)}">'
        f'<meta property="og:description" content="{escape(description[:300])}">'
        f'<meta name="description" content="{escape(description[:300])}"><meta property="og:type" content="article">'
    )
    content = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>{meta}"
        '<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">'
        f'<script src="/assets/before/theme.js"></script>{styles}</head><body>{body}'
        '<script type="module" src="/assets/atlas/head_page.mjs"></script></body></html>'
    )
    return HTMLResponse(content, status)
