"""What the page's scripts need to draw the causal map for every local setting: steps of scores and of gradients."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.methods.causal.result import HEAD_ROLES
from analysis.results.provenance import JsonObject
from analysis.results.scores import Missing, Scores
from dashboard.cache import cached
from dashboard.maps.causal import evidence
from dashboard.maps.causal.contradictions import remarks
from dashboard.maps.causal.gates import is_of_one_seed, reduced, shown_tasks
from dashboard.maps.causal.panels import gradient, shown_columns, signs, steepest, why_missing
from dashboard.maps.causal.state import CausalState
from dashboard.maps.causal.words import facts
from dashboard.maps.map import MapView, missing_words
from dashboard.maps.packing import pack
from dashboard.maps.steps import score_steps, slope_steps

PROMPT_COLUMNS = ("mean", "always", "any")  # of the preview


def numbers(shown: MapView[CausalState]) -> bytes:
    """The numbers of the tasks and seeds on the page."""
    tasks = shown_tasks(shown.result, shown.state)
    columns = shown_columns(shown.result, CausalState(seed=shown.state.seed))
    wording = {
        **asdict(facts(shown)),
        "reasons": [reason.words for reason in Missing],
        "reason_words": [missing_words(shown, reason) for reason in Missing],
        "alone": bool(shown.state.one_seed) or is_of_one_seed(shown.result),
        "single": is_of_one_seed(shown.whole),
    }
    return _packed(shown.map.name, shown.result, tasks, columns, json.dumps(wording))


@cached(8)
def _packed(name: str, causal: Scores, tasks: tuple[str, ...], columns: tuple[str, ...], wording: str) -> bytes:
    """Arrays run over tasks, columns, roles, layers and heads."""
    card = causal.provenance.model
    previews = [_preview(causal, tasks, task) for task in tasks]
    contents: JsonObject = {
        **json.loads(wording),
        "map": name,
        "layers": list(card.layers),
        "heads": card.heads,
        "tasks": [{"name": task, "title": evidence.title(causal, task)} for task in tasks],
        "columns": list(columns),
        "besides": [_besides(causal, task, columns)[0] for task in tasks],
        "fitted": [_fitted(causal, task, columns) for task in tasks],
        "previewed": [task is not None for task in previews],
        "steepest": {column: steepest(causal, tasks, column) for column in PROMPT_COLUMNS},
        "scales": {column: _scale(causal, tasks, column) for column in PROMPT_COLUMNS},
    }
    arrays = _roles(causal, tasks, columns) if tasks else {}
    if tasks:
        arrays["besides"] = np.stack([_besides(causal, task, columns)[1] for task in tasks])
    there = [preview for preview in previews if preview is not None]
    if there:
        arrays["slopes"] = np.stack([slopes for slopes, _ in there])
        arrays["signs"] = np.stack([flags for _, flags in there])
    return pack(contents, arrays)


def _besides(causal: Scores, task: str, columns: tuple[str, ...]) -> tuple[list[str], npt.NDArray[Any]]:
    """What is to be said of heads below their numbers, and the code of each head; the same for all columns."""
    found = remarks(causal, task, columns[0])
    if found is None:
        card = causal.provenance.model
        return [], np.zeros((len(card.layers), card.heads), np.uint16)
    return list(found.words), found.codes


def _fitted(causal: Scores, task: str, columns: tuple[str, ...]) -> list[bool]:
    """Whether the columns of a task have scores."""
    return [reduced(causal, task, column) is not None for column in columns]


def _roles(causal: Scores, tasks: tuple[str, ...], columns: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """The scores of each column of each task, and why some are missing."""
    card = causal.provenance.model
    nothing = np.full((len(HEAD_ROLES), len(card.layers), card.heads), np.nan)
    roles, why = [], []
    for task in tasks:
        for column in columns:
            values = reduced(causal, task, column)
            roles.append(score_steps(nothing if values is None else values))
            why.append(why_missing(causal, task, column))
    return {"roles": np.stack(roles), "why": np.stack(why)}


def _preview(causal: Scores, tasks: tuple[str, ...], task: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """The gradients of each column, and their signs: 1 facilitating, 2 interfering."""
    preview = evidence.preview(causal, task)
    slopes, flags = [], []
    for column in PROMPT_COLUMNS:
        value = gradient(preview, column)
        if value is None:
            return None
        scale = steepest(causal, tasks, column)
        helps, hurts = signs(preview, column, value, scale)
        slopes.append(slope_steps(value, scale))
        flags.append((helps + 2 * hurts).astype(np.uint8))
    return np.stack(slopes), np.stack(flags)


def _scale(causal: Scores, tasks: tuple[str, ...], column: str) -> str:
    """How far the scale goes, in words; empty where nothing is shown."""
    for task in tasks:
        value = gradient(evidence.preview(causal, task), column)
        if value is not None and np.nan_to_num(value).any():
            return f"±{steepest(causal, tasks, column):.2g}"
    return ""
