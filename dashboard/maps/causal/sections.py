"""What stands below the causal map: its tasks, the validation curve, the loss curves."""

import json

from analysis.methods.causal.result import STAGES
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import is_running, shown_tasks
from dashboard.maps.causal.losses import loss_curves
from dashboard.maps.causal.ranking import validation
from dashboard.maps.causal.state import CausalState
from dashboard.maps.causal.tasks import tasks
from dashboard.maps.causal.validation import validation_curves
from dashboard.maps.map import MapView
from dashboard.maps.section import Content, Section

_PADDING = 34  # of a card, in pixels
_VALIDATION = (
    "How the target's log-probability changes when a head is switched off, with heads in descending order of each "
    "score (the mean over the seeds, or the seed that is shown). A running mean over 5 % of the heads; the other heads "
    "stay at the first seed's G⁺. Below 0: the task needs these heads. Near 0: they do not matter. Above 0: the task "
    "does better without them."
)
_LOSSES = (
    "One line per seed, the mean of ten updates: free gates first, then pushed open and pushed shut. Dotted: the "
    "untouched model on validation prompts. The first updates, from random gates, may lie above the frame."
)


SECTIONS = (
    Section("facts", "Tasks"),
    Section("validation", "Validation", _VALIDATION, is_figure=True),
    Section("losses", "Loss curves", _LOSSES, is_figure=True, folded=True),
)


def contents(shown: MapView[CausalState], width: int, dark: bool) -> dict[str, Content]:
    """Tasks, and the curves of those that have some."""
    causal, state, palette = shown.result, shown.state, shown.palette(dark)
    names = shown_tasks(causal, state)
    drawn_from, inner = _drawn_from(shown, width, dark), width - _PADDING
    below = {"facts": Content(drawn_from, lambda: tasks(causal, state))}
    if any(validation(causal, task, state.one_seed) for task in names):
        below["validation"] = Content(drawn_from, lambda: validation_curves(causal, state, inner, palette))
    if any(evidence.curves(causal, task) is not None for task in names):
        curves = Content(drawn_from, lambda: loss_curves(causal, state, inner, palette), open=is_running(causal))
        below["losses"] = curves
    return below


def _drawn_from(shown: MapView[CausalState], width: int, dark: bool) -> str:
    """All that the curves depend on, so that moving θ draws none of them again."""
    causal, state = shown.result, shown.state
    measured = []
    for task in shown_tasks(causal, state):
        curves = evidence.curves(causal, task)
        points = [len(losses) for stage in STAGES for losses in curves.of(stage)] if curves is not None else []
        has_effect, fitted = evidence.effect(causal, task) is not None, evidence.fit_settings(causal, task)
        more = [bool(evidence.untouched(causal, task)), evidence.agreement(causal, task)]
        measured.append([task, points, has_effect, evidence.computed(causal, task), fitted, *more])
    seeds = [state.seed, causal.score.sizes["sample"], is_running(causal)]
    facts = [shown.card.fingerprint, state.fit, dark, width]
    return json.dumps([facts, seeds, measured])
