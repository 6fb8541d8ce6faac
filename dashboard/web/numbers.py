"""The numbers of a map for the page's scripts, under an address that names their content."""

from fastapi import APIRouter, Request, Response

from analysis.evidence.catalogue import Catalogue
from dashboard.numbers import mark_of, numbers_of
from dashboard.view import open_view

_FOREVER = "public, max-age=31536000, immutable"


def routes(catalogue: Catalogue) -> APIRouter:
    """One address for each view; what it gives never changes, or is not kept."""
    router = APIRouter()

    @router.get("/view/numbers/{mark}", include_in_schema=False)
    def numbers(mark: str, request: Request) -> Response:
        numbers = numbers_of(open_view(catalogue, request.url.query))
        if numbers is None:
            return Response("There are no such numbers.", 404, media_type="text/plain")
        kept = _FOREVER if mark == mark_of(numbers) else "no-store"
        return Response(numbers, media_type="application/octet-stream", headers={"Cache-Control": kept})

    return router
