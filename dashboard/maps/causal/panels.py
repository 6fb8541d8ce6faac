"""From the gates and the state to what each panel shows: a row for each task, a column for Always, Any or a seed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from analysis.methods.causal.result import HEAD_ROLES, seed_name
from analysis.results.scores import Bools, Codes, Floats, Missing, Scores
from dashboard.maps.causal import contradictions, evidence
from dashboard.maps.causal.gates import (
    CHANNELS,
    COLUMN_NAMES,
    LETTERS,
    PREVIEW,
    is_of_one_seed,
    known_roles,
    percent,
    reduced,
    shown_tasks,
)
from dashboard.maps.causal.state import CausalState
from dashboard.maps.panel import Panel, PanelLabel, PanelMeasure, Words, without_scores

NO_ROLE, FACILITATING, INTERFERING, BOTH, IRRELEVANT = range(5)
ROLE_WORDS = ("no clear role", "needs it (F)", "hurts it (N)", "needs it and hurts it (F and N)", "does not matter (R)")
SHORT_WORDS = dict(zip(HEAD_ROLES, ("needs it", "hurts it", "does not matter"), strict=True))
NAMED_ROLES = {role: f"{words} ({LETTERS[role]})" for role, words in SHORT_WORDS.items()}  # words before letters
NEAR_ZERO = 0.05  # of the steepest gradient: what is flatter has no role


def panels(causal: Scores, state: CausalState) -> tuple[Panel, ...]:
    """A row of panels for each task, a panel for each column."""
    if not causal.provenance.items:
        return (without_scores("", "Causal map", causal.provenance.model, Missing.NOT_COMPUTED),)
    tasks, columns = shown_tasks(causal, state), shown_columns(causal, state)
    if state.gates == PREVIEW:
        scales = {column: steepest(causal, tasks, column) for column in columns}
        return tuple(_preview_panel(causal, task, column, scales[column]) for task in tasks for column in columns)
    return tuple(_fitted_panel(causal, state, task, column) for task in tasks for column in columns)


def shown_columns(causal: Scores, state: CausalState) -> tuple[str, ...]:
    """Always and Any, one of them, or a seed; of the preview also the mean over the prompts."""
    if state.gates == PREVIEW:
        return ("mean",) if state.columns == "both" else (state.columns,)
    if state.one_seed:
        return (seed_name(int(state.one_seed)),)
    if is_of_one_seed(causal):
        return (str(causal.score.sample.values[0]),)
    return ("always", "any") if state.columns == "both" else (state.columns,)


def _title(causal: Scores, task: str, column: str) -> str:
    return f"{evidence.title(causal, task)} · {COLUMN_NAMES.get(column, column.capitalize())}"


def _without(causal: Scores, task: str, column: str, why: Codes) -> Panel:
    """A panel without a score, and the reason of each head."""
    card, worst = causal.provenance.model, Missing(int(why.max()))
    empty = without_scores(f"{task} {column}", _title(causal, task, column), card, worst)
    return replace(empty, reason=why.astype(np.int8), row=task, column=column)


def _fitted_panel(causal: Scores, state: CausalState, task: str, column: str) -> Panel:
    roles = reduced(causal, task, column)
    measured_roles = known_roles(roles)
    names = tuple(
        role for role in ((state.gates,) if state.gates in HEAD_ROLES else CHANNELS) if role in measured_roles
    )
    why = why_missing(causal, task, column)
    if roles is None or not names:
        return _without(causal, task, column, why)
    strengths = roles[[HEAD_ROLES.index(role) for role in names]]
    with np.errstate(invalid="ignore"):
        flags = strengths >= state.threshold
        helps, hurts, idle = (roles[i] >= state.threshold for i in range(len(HEAD_ROLES)))
    value = strengths.max(axis=0)
    remarks = [f"{SHORT_WORDS[name]} {percent(flag.mean())}" for name, flag in zip(names, flags, strict=True)]
    return Panel(
        key=f"{task} {column}",
        title=_title(causal, task, column),
        value=value,
        member=np.logical_or.reduce(flags),
        reason=np.where(np.isnan(value), why, Missing.PRESENT).astype(np.int8),
        tone=names[0] if len(names) == 1 else "",
        categories=names,
        belongs=flags,
        strengths=strengths,
        measures=tuple(_measure(role, roles) for role in measured_roles),
        label=PanelLabel(ROLE_WORDS, role_codes(helps, hurts, idle)),
        besides=contradictions.remarks(causal, task, column),
        row=task,
        column=column,
        remark=" · ".join(remarks),
    )


def _measure(role: str, roles: Floats) -> PanelMeasure:
    return PanelMeasure(NAMED_ROLES[role], roles[HEAD_ROLES.index(role)], key=role)


def why_missing(causal: Scores, task: str, column: str) -> Codes:  # [layer, head]
    """The worst reason of the seeds that a column stands for."""
    missing = causal.missing.sel(item=task)
    chosen = [column] if column in missing.sample.values else missing.sample.values.tolist()
    codes = missing.sel(sample=chosen).max(("kind", "sample")).values.astype(np.uint8)
    return np.where(codes == Missing.PRESENT, np.uint8(Missing.NOT_COMPUTED), codes).astype(np.uint8)


def role_codes(helps: Bools, hurts: Bools, idle: Bools) -> Words:
    """A role for every head."""
    codes = np.where(helps & hurts, BOTH, np.where(helps, FACILITATING, np.where(hurts, INTERFERING, NO_ROLE)))
    return np.where((codes == NO_ROLE) & idle, IRRELEVANT, codes).astype(np.uint16)


def _preview_panel(causal: Scores, task: str, column: str, scale: float) -> Panel:
    preview = evidence.preview(causal, task)
    value = gradient(preview, column)
    if value is None:
        card = causal.provenance.model
        why = np.full((len(card.layers), card.heads), Missing.NOT_COMPUTED, np.uint8)
        return _without(causal, task, column, why)
    helps, hurts = belongs = signs(preview, column, value, scale)
    return Panel(
        key=f"{task} {column}",
        title=_title(causal, task, column),
        value=value,
        member=helps,
        reason=np.where(np.isnan(value), Missing.NOT_COMPUTED, Missing.PRESENT).astype(np.int8),
        categories=CHANNELS,
        belongs=belongs,
        measures=(PanelMeasure("gradient g", value, digits=4, ranked=False, key=PREVIEW),),
        label=PanelLabel(ROLE_WORDS, role_codes(helps, hurts, np.zeros_like(helps))),
        row=task,
        column=column,
        remark=f"first-order · {SHORT_WORDS[HEAD_ROLES[0]]} {percent(helps.mean())} · "
        f"{SHORT_WORDS[HEAD_ROLES[1]]} {percent(hurts.mean())}",
        steepest=scale,
    )


def gradient(preview: evidence.Preview, column: str) -> Floats | None:
    """The gate gradients: their mean over the prompts, what holds for every one, or the strongest of any."""
    least, most = preview.least, preview.most
    if column == "mean" or least is None or most is None:
        return preview.mean
    if column == "always":
        return np.where(most < 0, most, np.where(least > 0, least, 0.0))
    return np.where(-least > most, least, most)


def steepest(causal: Scores, tasks: Sequence[str], column: str) -> float:
    """The largest gradient of a column, up to which its scale goes; never 0. Means are far below single prompts."""
    most = 0.0
    for task in tasks:
        value = gradient(evidence.preview(causal, task), column)
        if value is not None:
            most = max(most, float(np.nanmax(np.abs(value))))
    return most or 1.0


def signs(
    preview: evidence.Preview, column: str, value: Floats, scale: float
) -> npt.NDArray[np.bool_]:  # [2, layer, head]
    """Facilitating and interfering: by the sign of what is not near 0, for Any of some prompt each, so that a head
    may be both.
    """
    least, most = value, value
    if column == "any" and preview.least is not None and preview.most is not None:
        least, most = preview.least, preview.most
    with np.errstate(invalid="ignore"):
        return np.stack([least <= -NEAR_ZERO * scale, most >= NEAR_ZERO * scale])
