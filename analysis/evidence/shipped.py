"""The results that come with the project, so that its models have maps before anything is computed."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analysis.errors import ModelNotFound
from analysis.method import Method
from analysis.methods import METHODS
from analysis.models import builtin
from analysis.models.card import ModelCard
from analysis.results.scores import Scores


@dataclass(frozen=True, eq=False)
class Shipped:
    """A result that comes with the project."""

    scores: Scores
    bytes: int


@cache
def shipped() -> tuple[Shipped, ...]:
    """All of them, in the order of the methods."""
    results: list[Shipped] = []
    for method in METHODS:
        results += _of(method)
    return tuple(results)


def shipped_scores(method: str, model: str = builtin.ID) -> Scores:
    """The result of a method and a model; there is one."""
    for result in shipped():
        provenance = result.scores.provenance
        if (provenance.method, provenance.model.id) == (method, model):
            return result.scores
    raise ModelNotFound(
        f"no {method} result of {model} comes with the project", "`python -m analysis models` lists them."
    )


def shipped_card(model: str) -> ModelCard | None:
    """The card of a model that has a result here."""
    for result in shipped():
        if result.scores.provenance.model.id == model:
            return result.scores.provenance.model
    return None


def _of(method: Method) -> list[Shipped]:
    """A method's files: data/results/MODEL.METHOD.ENDING, as its own command writes them with --out."""
    folder = files("analysis") / "data" / "results"
    results = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if any(file.name.endswith(f".{method.name}{ending}") for ending in method.outputs):
            content = file.read_bytes()
            results.append(Shipped(method.read(content), len(content)))
    return results
