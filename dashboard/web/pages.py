"""Pages that are plain HTML: one per head, and the answers to a search. A chat that previews a link reads them."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from analysis.errors import HeadError
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.heads import answers, summary
from analysis.models.card import HeadId
from dashboard.addresses import CompareState, PromptState
from dashboard.page.compare_page import compare_page
from dashboard.page.head_page import head_page, head_title, search_page
from dashboard.page.markup import as_html
from dashboard.page.prompt_page import prompt_page
from dashboard.palette import tone_styles
from dashboard.query import named, read_query
from dashboard.state import Palette, ViewState
from dashboard.view import chosen_model, opened
from dashboard.web.comparison import choices_of
from dashboard.web.not_found import not_found_page

_QUESTION = "q"  # beside the view in the address of a search
_LONGEST = 200  # characters of a question
_NOTHING_COMPUTED = "Nothing was computed. Choose a model below."
_STYLES = ("1-base", "2-header", "5-cards", "6-tasks", "head-page")


def routes(catalogue: Catalogue) -> APIRouter:
    """The addresses of these pages; each takes the query string of a view."""
    router = APIRouter(include_in_schema=False)

    def of_head(name: str, request: Request) -> Response:
        view = opened(catalogue, ViewState.from_query(request.url.query))
        try:
            head = view.card.check(HeadId.parse(name))
        except HeadError as error:
            return not_found_page("There is no such head", f"{error}. {error.hint}")
        body = _notices(view.notices) + as_html(head_page(view, head))
        return _page(head_title(view, head), summary(view.results, head), body, palette=view.state.palette)

    def of_search(request: Request) -> Response:
        view = opened(catalogue, ViewState.from_query(request.url.query, ignored=(_QUESTION,)))
        text = request.query_params.get(_QUESTION, "")[:_LONGEST]
        listed = answers(view.results, view.card, text)
        title = f"{text} – heads of {view.card.id} – Head Atlas"
        return _page(title, f"{len(listed)} heads", _notices(view.notices) + as_html(search_page(view, text, listed)))

    def of_comparison(request: Request) -> Response:
        chosen = choices_of(catalogue, *read_query(CompareState, request.url.query))
        words = "Any number of every attention head against any other, of one model or of two."
        body = _notices(chosen.notices) + as_html(compare_page(chosen))
        return _page("Compare – Head Atlas", words, body, script="compare_page")

    def of_prompt(request: Request) -> Response:
        asked, notices = read_query(PromptState, request.url.query)
        card, more = chosen_model(catalogue, asked.model)
        model_notices = [*more, _NOTHING_COMPUTED] if more else []
        asked = replace(asked, model="" if more else named(card))
        body = _notices([*notices, *model_notices]) + as_html(prompt_page(card, catalogue.models(), asked))
        words = "Where attention heads look on a text, and what each does for the next token."
        return _page(f"{asked.text[:60] or 'On my prompt'} – Head Atlas", words, body, script="prompt_page")

    router.add_api_route("/prompt", of_prompt, methods=["GET"])
    router.add_api_route("/head/{name}", of_head, methods=["GET"])
    router.add_api_route("/compare", of_comparison, methods=["GET"])
    router.add_api_route("/search", of_search, methods=["GET"])
    return router


def _notices(notices: Sequence[str]) -> str:
    return "".join(f'<div class="notice">{escape(notice)}</div>' for notice in notices)


def _page(
    title: str,
    description: str,
    body: str,
    status: int = 200,
    script: str = "head_page",
    palette: Palette = "okabe-ito",
) -> HTMLResponse:
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
        f'<script src="/assets/before/theme.js"></script>{styles}<style>{tone_styles(palette)}</style>'
        f"</head><body>{body}"
        f'<script type="module" src="/assets/atlas/{script}.mjs"></script></body></html>'
    )
    return HTMLResponse(content, status)
