"""The part of the HTTP API about what results say: reports, agreement, search, numbers side by side."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite, isnan
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import Field

from analysis import methods
from analysis.errors import ModelNotFound, SettingError
from analysis.evidence.agreement import agreements, checked_replacement, chosen_thresholds, replacements
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.comparison import compared_models
from analysis.evidence.heads import answers, matched_heads, results_of
from analysis.evidence.quantities import sources, unit_of, values
from analysis.models import builtin as default_model
from analysis.models.card import ModelCard
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores, used_results
from dashboard.cache import cached
from dashboard.quantities import listed_quantities

Name = Annotated[str, Field(max_length=200)]
Threshold = Annotated[str, Field(max_length=60)]
_THRESHOLD = "METHOD=NUMBER: minimum strength that counts as a label (default: the method's own)"
_OWN = "a custom relation set, whose scores count, too"
_REPLACED = f"what replaces an ablated head's output: {', '.join(replacements())} (default: the first)"


def set_id(catalogue: Catalogue, own: str) -> str | None:
    """The id of a named set; None means the default."""
    return catalogue.own_set(own).id if own else None


def result_of_method(catalogue: Catalogue, card: ModelCard, name: str, choice: str, own: str | None) -> Scores:
    """A model's result of a method; raises what a person can fix."""
    if name not in methods.names():
        there = [name for name in methods.names() if catalogue.result(card, name) is not None]
        raise SettingError(f"there is no method {name!r}", f"There are: {', '.join(there)}.")
    scores = catalogue.result(card, name, choice, own)
    if scores is None:
        method = methods.method(name)
        title, command = method.title.lower(), method.command_line(card.id)
        raise ModelNotFound(f"there is no {title} of {card.id} here", f"Compute it: {command}")
    return scores


def add_findings(api: FastAPI, catalogue: Catalogue) -> None:
    """The addresses of what one model's results say: a report by method, agreement, search."""

    @api.get("/report")
    def report(
        method: Annotated[str, Query(max_length=40, description="whose report, by its name")],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        result: Annotated[str, Query(max_length=16, pattern="^[0-9a-f]*$", description="as for scores")] = "",
        own: Annotated[str, Query(max_length=120, description="a custom relation set")] = "",
    ) -> JsonObject:
        """What a method's command prints of a model, as data and as text, and its records, such as curves."""
        card = catalogue.card(model, fingerprint)
        scores = result_of_method(catalogue, card, method, result, set_id(catalogue, own))
        one = methods.method(method)
        answer = {"report": _finite(one.report(scores)), "records": _finite(scores.records)}
        text = one.report_text(scores)
        return {"model": card.to_dict(), "results": used_results({method: scores}), **answer, "text": text}

    @api.get("/agreement")
    def agreement(
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        threshold: Annotated[list[Threshold], Query(max_length=20, description=_THRESHOLD)] = [],  # noqa: B006
        beyond: Annotated[bool, Query(description="labels beyond copying alone count")] = False,
        replaced: Annotated[str, Query(max_length=40, description=_REPLACED)] = "",
        heads: Annotated[bool, Query(description="name the heads of each class")] = False,
        own: Annotated[str, Query(max_length=120, description=_OWN)] = "",
    ) -> JsonObject:
        """How many heads that have a label of what they do also matter for a task."""
        least = chosen_thresholds(threshold)
        card = catalogue.card(model, fingerprint)
        results = results_of(catalogue, card, set_id(catalogue, own))
        found = agreements(results, least, beyond, checked_replacement(replaced))
        listed = [each.to_plain(heads) for each in found]
        return {"model": card.to_dict(), "results": used_results(results), "agreements": listed}

    @api.get("/search")
    def search(
        q: Annotated[str, Query(max_length=200, examples=["capital", "Paris", "needed for math", "L23H4"])],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        own: Annotated[str, Query(max_length=120, description=_OWN)] = "",
    ) -> JsonObject:
        """The heads that words are about: a relation, a token, a task, a head's name. The strongest first."""
        card = catalogue.card(model, fingerprint)
        results = results_of(catalogue, card, set_id(catalogue, own))
        listed = [answer.to_plain() for answer in answers(results, card, q)]
        return {"model": card.to_dict(), "results": used_results(results), "answers": listed}


def add_comparisons(api: FastAPI, catalogue: Catalogue) -> None:
    """The addresses of maps and models side by side."""

    @api.get("/correlations")
    def correlations(
        model: Annotated[list[Name], Query(max_length=20, description="only these; else all with two maps")] = [],  # noqa: B006
    ) -> JsonObject:
        """How far the maps of relations agree, model by model: labels, Pearson's r over all and for each relation."""
        return {"models": _compared(catalogue, catalogue.generation, tuple(model))}

    _add_matches(api, catalogue)


def add_quantities(api: FastAPI, catalogue: Catalogue) -> None:
    """The addresses of numbers with one value per head."""

    @api.get("/quantities")
    def list_quantities(
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        own: Annotated[str, Query(max_length=120, description=_OWN)] = "",
    ) -> JsonObject:
        """Every number that there is one value per head of: scores, effects, gradients, classes."""
        card = catalogue.card(model, fingerprint)
        listed = listed_quantities(catalogue, card, set_id(catalogue, own))
        return {"model": card.to_dict(), "quantities": [asdict(each) for each in listed]}

    @api.get("/quantity")
    def one_quantity(
        key: Annotated[str, Query(max_length=200, description="as /quantities lists them; @ and a sample may follow")],
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        own: Annotated[str, Query(max_length=120, description=_OWN)] = "",
    ) -> JsonObject:
        """One of them, layer by layer; null where a head has none."""
        card = catalogue.card(model, fingerprint)
        results = results_of(catalogue, card, set_id(catalogue, own))
        numbers = values(results, key)
        rows = [[None if isnan(value) else round(value, 6) for value in row] for row in numbers.tolist()]
        made = sources(results, key)
        titles = [
            {"method": methods.method(one.method).title, "version": one.version, "date": one.date, "atlas": one.atlas}
            for one in made
        ]
        used = used_results({one.method: results[one.method] for one in made})
        answer: JsonObject = {"model": card.to_dict(), "results": used, "sources": titles}
        return answer | {"key": key, "unit": unit_of(results, key), "values": rows}


def _add_matches(api: FastAPI, catalogue: Catalogue) -> None:
    @api.get("/matches")
    def matches(
        model: Annotated[str, Query(max_length=200)] = default_model.ID,
        fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        other: Annotated[str, Query(max_length=200)] = default_model.ID,
        other_fingerprint: Annotated[str, Query(max_length=64, pattern="^[0-9a-f]*$")] = "",
        own: Annotated[str, Query(max_length=120, description=f"{_OWN}, of both")] = "",
    ) -> JsonObject:
        """The heads of two models whose scores are most alike."""
        card, second = catalogue.card(model, fingerprint), catalogue.card(other, other_fingerprint)
        chosen = set_id(catalogue, own)
        results, others = results_of(catalogue, card, chosen), results_of(catalogue, second, chosen)
        listed = matched_heads(results, card, others, second)
        pairs = [{"head": str(m.head), "other": str(m.other), "cosine": round(m.cosine, 3)} for m in listed]
        return {
            "model": card.to_dict(),
            "results": used_results(results),
            "other": second.to_dict(),
            "other_results": used_results(others),
            "matches": pairs,
        }


@cached(8)
def _compared(catalogue: Catalogue, generation: int, names: tuple[str, ...]) -> list[JsonObject]:
    """What `compare` prints, until there are other results."""
    return compared_models(catalogue, names)


def _finite(value: Any) -> Any:
    """The same with None in place of NaN, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value if not isinstance(value, float) or isfinite(value) else None
