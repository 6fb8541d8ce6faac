"""Trial fits: gates that were fitted with fewer updates than they need to settle. The map says so above all else."""

from typing import Any

from dash import html

from analysis.methods.causal.settings import CONTRAST_UPDATES, SEEDS, GateSettings
from analysis.results.provenance import JsonObject
from analysis.results.scores import Scores
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import PREVIEW, shown_tasks
from dashboard.maps.causal.state import CausalState
from dashboard.maps.map import MapView

_STAGES = ("free_updates", "push_updates")


def warning(shown: MapView[CausalState]) -> list[Any]:
    """Which of the tasks on the page are trials, and by how much; nothing when none is."""
    found = trials(shown)
    if not found:
        return []
    default = GateSettings()
    full = f"{default.free_updates}+{default.push_updates} updates and {SEEDS} seeds"
    words = f": {', '.join(found)}. The default is {full}; with fewer updates most gates have not settled."
    return [html.B("Trial fit"), words]


def trials(shown: MapView[CausalState]) -> list[str]:
    """The tasks on the page with fewer updates than they need, each with what it was fitted with."""
    if shown.state.gates == PREVIEW:
        return []
    found = []
    for task in shown_tasks(shown.result, shown.state):
        if _is_trial(shown.result, task):
            fitted = _fitted(evidence.fit_settings(shown.result, task))
            found.append(f"{evidence.title(shown.result, task)} ({fitted})")
    return found


def _is_trial(causal: Scores, task: str) -> bool:
    """Fewer updates than the default of its kind."""
    settings = evidence.fit_settings(causal, task)
    if not settings.get("seeds"):
        return False
    updates = sum(int(settings.get(name, 0)) for name in _STAGES)
    default = GateSettings().total if evidence.variant(causal, task).is_task else CONTRAST_UPDATES
    return 0 < updates < default


def _fitted(settings: JsonObject) -> str:
    updates = "+".join(str(settings[name]) for name in _STAGES if name in settings)
    seeds = settings["seeds"]
    return f"{updates} updates, {seeds} {'seed' if seeds == 1 else 'seeds'}"
