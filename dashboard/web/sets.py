"""The API of custom relation sets: list, rename, hide, download, delete."""

from collections.abc import Callable
from typing import Annotated

from fastapi import FastAPI, Request, Response
from fastapi import Path as PathParameter
from pydantic import Field

from analysis.data.relations import as_csv
from analysis.errors import RelationNotFound
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine
from analysis.results.own_sets import LONGEST_NAME, OwnSet
from analysis.results.provenance import JsonObject
from analysis.settings import NamedFields
from dashboard.pairs import own_pairs
from dashboard.web.threaded_route import ThreadedRoute

SetName = Annotated[str, PathParameter(max_length=120, description="its id, or name@id")]
RelationName = Annotated[str, PathParameter(max_length=200)]
MayChange = Callable[[Request], None]  # raises when whoever asks may only look


class SetChange(NamedFields):
    """What is to be different about a set."""

    name: Annotated[str, Field(max_length=LONGEST_NAME)] | None = None
    hidden: bool | None = None


def set_data(one: OwnSet) -> JsonObject:
    """A set as pages and scripts receive it."""
    relations = []
    for item in one.items:
        relations.append({"name": item.name, "title": item.title, "pairs": item.pairs, "hash": item.hash})
    return {
        "id": one.id,
        "name": one.name,
        "hidden": one.hidden,
        "relations": relations,
        "models": list(one.models),
        "computed": one.date,
    }


def add_sets(api: FastAPI, catalogue: Catalogue, engine: Engine, may_change: MayChange) -> None:
    """The addresses below /api/sets."""

    @api.get("/sets")
    def list_sets() -> list[JsonObject]:
        """All custom relation sets, the oldest first."""
        return [set_data(one) for one in catalogue.sets()]

    def change(request: Request, set_id: SetName, wanted: SetChange) -> JsonObject:
        """Rename a set, hide it, or show it again; links to it stay."""
        may_change(request)
        return set_data(catalogue.change_set(catalogue.own_set(set_id), wanted.name, wanted.hidden))

    api.router.add_api_route(
        "/sets/{set_id}", change, methods=["PATCH"], route_class_override=ThreadedRoute,
    )  # fmt: skip

    @api.delete("/sets/{set_id}")
    def delete(request: Request, set_id: SetName) -> JsonObject:
        """Delete a set with its scores, pairs and jobs."""
        may_change(request)
        one = catalogue.own_set(set_id)
        return {**set_data(one), "results": catalogue.delete_set(one)}

    @api.get("/sets/{set_id}/{relation}.csv", response_model=None, responses={200: {"content": {"text/csv": {}}}})
    def pairs(set_id: SetName, relation: RelationName) -> Response:
        """The pairs of one relation of a set, as a file that can be brought again."""
        one = catalogue.own_set(set_id)
        for item in one.items:
            if item.name == relation:
                return Response(as_csv(own_pairs(catalogue, engine, item)), media_type="text/csv; charset=utf-8")
        names = ", ".join(item.name for item in one.items)
        raise RelationNotFound(f"{one.name} has no relation {relation[:80]!r}", f"There are: {names}.")
