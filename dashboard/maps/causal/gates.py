"""From a causal map and a view's state to what each of its panels shows: arrays and counts; no pictures."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from analysis.methods.causal.plan import ROLES, seed_name
from analysis.models.card import ModelCard
from analysis.results.scores import Floats, Missing, Scores, always_of, any_of
from dashboard.cache import cached
from dashboard.maps.function.panels import Panel
from dashboard.state import ViewState

LETTERS = dict(zip(ROLES, "FNR", strict=True))
CHANNELS = ROLES[:2]  # facilitation and interference: the two colours
PREVIEW = "preview"
USUAL_TASKS = 2  # rows, when none are chosen
COLUMN_NAMES = {"always": "Always", "any": "Any", "mean": "Mean"}
NO_ROLE, FACILITATING, INTERFERING, BOTH, IRRELEVANT = range(5)
ROLE_WORDS = ("no clear role", "facilitating", "interfering", "facilitating and interfering", "irrelevant")

Codes = npt.NDArray[np.uint8]


def task_names(causal: Scores) -> tuple[str, ...]:
    """The tasks of a causal map, in its order."""
    return tuple(str(item["name"]) for item in causal.provenance.items)


def shown_tasks(causal: Scores, state: ViewState) -> tuple[str, ...]:
    """The rows: the chosen tasks that there are, else the first two."""
    there = task_names(causal)
    return tuple(name for name in state.tasks if name in there) or there[:USUAL_TASKS]


def seeds(causal: Scores) -> list[str]:
    """The numbers of the seeds, as text."""
    return [str(name).removeprefix("seed ") for name in causal.score.sample.values]


@cached(8)
def first_seeds(causal: Scores, count: int) -> Scores:
    """The map as it would be had only so many seeds been fitted."""
    kept = causal.score.sample.values[:count]
    facts = causal.provenance
    items = tuple(_with_seeds(item, count) for item in facts.items)
    return replace(
        causal,
        score=causal.score.sel(sample=kept),
        hits=causal.hits.sel(sample=kept),
        missing=causal.missing.sel(sample=kept),
        provenance=replace(facts, items=items, settings={**facts.settings, "seeds": count}),
    )


def _with_seeds(item: dict[str, Any], count: int) -> dict[str, Any]:
    """A task's facts for its first seeds; how the preview agrees with all of them is left out."""
    curves, settled = item.get("curves") or {}, item.get("settled") or {}
    first = [at for at, seed in enumerate(curves.get("seeds", [])) if seed < count]
    settings = item.get("settings") or {}
    return {
        **{name: value for name, value in item.items() if name != "agreement"},
        "curves": {name: [of_seeds[at] for at in first if at < len(of_seeds)] for name, of_seeds in curves.items()},
        "settled": {side: shares[:count] for side, shares in settled.items()},
        **({"settings": {**settings, "seeds": min(count, settings.get("seeds", count))}} if settings else {}),
    }


def fitted_seeds(causal: Scores, task: str) -> list[str]:
    """The samples of which a task has scores: while a fit runs some have none."""
    some = causal.score.sel(item=task).notnull().any(("kind", "layer", "head"))
    return [str(name) for name in causal.score.sample.values[some.values]]


def shown_columns(state: ViewState) -> tuple[str, ...]:
    """The columns: Always and Any, one of them, a seed; of the preview also the mean over the prompts."""
    if state.gates == PREVIEW:
        return ("mean",) if state.columns == "both" else (state.columns,)
    if state.one_seed:
        return (seed_name(int(state.one_seed)),)
    return ("always", "any") if state.columns == "both" else (state.columns,)


def gate_panels(causal: Scores | None, state: ViewState, card: ModelCard) -> tuple[Panel, ...]:
    """A row of panels for each task, a panel for each column; one empty panel when there is no causal map."""
    shape = (len(card.layers), card.heads)
    if causal is None or not causal.provenance.items:
        return (_no_panel("", "", "Causal map", shape, Missing.NOT_COMPUTED),)
    make = _preview_panel if state.gates == PREVIEW else _fitted_panel
    return tuple(
        make(causal, state, task, column) for task in shown_tasks(causal, state) for column in shown_columns(state)
    )


def _title(causal: Scores, task: str, column: str) -> str:
    return f"{causal.item(task)['title']} · {COLUMN_NAMES.get(column, column.capitalize())}"


def _no_panel(task: str, column: str, title: str, shape: tuple[int, ...], why: Missing | Codes) -> Panel:
    reason = np.broadcast_to(np.asarray(why, np.int8), shape)
    nothing = np.full(shape, np.nan)
    words = Missing(int(reason.max())).words
    return Panel(f"{task} {column}", title, nothing, np.zeros(shape, bool), reason, of=(task, column), remark=words)


def _fitted_panel(causal: Scores, state: ViewState, task: str, column: str) -> Panel:
    title = _title(causal, task, column)
    roles = reduced(causal, task, column)
    known = known_roles(roles)
    names = tuple(role for role in ((state.gates,) if state.gates in ROLES else CHANNELS) if role in known)
    if roles is None or not names:
        why = _why(causal, task, column)
        return _no_panel(task, column, title, why.shape, why)
    strengths = roles[[ROLES.index(role) for role in names]]
    with np.errstate(invalid="ignore"):
        flags = strengths >= state.role
    value = strengths.max(axis=0)
    return Panel(
        key=f"{task} {column}",
        title=title,
        value=value,
        member=np.logical_or.reduce(flags),
        reason=np.where(np.isnan(value), _why(causal, task, column), Missing.NO).astype(np.int8),
        tone=names[0] if len(names) == 1 else "",
        categories=names,
        belongs=flags,
        strengths=strengths,
        measures=tuple((LETTERS[role], roles[i]) for i, role in enumerate(ROLES) if role in known),
        of=(task, column),
        remark=" · ".join(f"{LETTERS[name]} {_percent(flag.mean())}" for name, flag in zip(names, flags, strict=True)),
    )


def known_roles(roles: Floats | None) -> tuple[str, ...]:
    """The roles that were measured: contrasted pairs have no interference."""
    return () if roles is None else tuple(role for i, role in enumerate(ROLES) if not np.isnan(roles[i]).all())


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.1f} %"


@cached(128)
def reduced(causal: Scores, task: str, column: str) -> Floats | None:  # [role, layer, head]
    """F, N and R of a task: of one seed, or the least or largest over the seeds that are there."""
    there = fitted_seeds(causal, task)
    chosen = [column] if column not in {"always", "any"} else there
    if not set(chosen) <= set(there) or not chosen:
        return None
    found = causal.score.sel(item=task, sample=chosen, kind=list(ROLES))
    folded: xr.DataArray = always_of(found, "sample") if column == "always" else any_of(found, "sample")
    return np.asarray(folded.transpose("kind", "layer", "head").values, dtype=np.float64)


def _why(causal: Scores, task: str, column: str) -> Codes:  # [layer, head]
    """The gravest reason of the seeds that a column stands for."""
    missing = causal.missing.sel(item=task)
    chosen = [column] if column in missing.sample.values else missing.sample.values.tolist()
    codes = missing.sel(sample=chosen).max(("kind", "sample")).values.astype(np.uint8)
    return np.where(codes == Missing.NO, np.uint8(Missing.NOT_COMPUTED), codes).astype(np.uint8)


def preview(item: dict[str, Any], column: str, shape: tuple[int, ...]) -> Floats | None:
    """The gate gradients of a task: their mean over the prompts, what holds for every one, or the strongest of any."""
    found = item.get("preview") or {}
    least, most, mean = (grid_of(found.get(name), shape) for name in ("least", "most", "mean"))
    if column == "mean" or least is None or most is None:
        return mean
    if column == "always":
        return np.where(most < 0, most, np.where(least > 0, least, 0.0))
    return np.where(-least > most, least, most)


def grid_of(values: Any, shape: tuple[int, ...]) -> Floats | None:
    """Numbers of a result's provenance as an array; what has another shape is passed over."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return found if found.shape == shape else None


def _preview_panel(causal: Scores, state: ViewState, task: str, column: str) -> Panel:
    title, shape = _title(causal, task, column), shape_of(causal)
    value = preview(causal.item(task), column, shape)
    if value is None:
        return _no_panel(task, column, title, shape, Missing.NOT_COMPUTED)
    belongs = _preview_roles(causal.item(task), column, value)
    return Panel(
        key=f"{task} {column}",
        title=title,
        value=value,
        member=belongs[0],
        reason=np.where(np.isnan(value), Missing.NOT_COMPUTED, Missing.NO).astype(np.int8),
        categories=CHANNELS,
        belongs=belongs,
        measures=(("g", value),),
        of=(task, column),
        remark=f"first-order · F {_percent(belongs[0].mean())} · N {_percent(belongs[1].mean())}",
    )


def _preview_roles(item: dict[str, Any], column: str, value: Floats) -> npt.NDArray[np.bool_]:  # [2, layer, head]
    """Facilitating and interfering: by the sign, for Any of some prompt each, so that a head may be both."""
    found = item.get("preview") or {}
    least, most = (grid_of(found.get(name), value.shape) for name in ("least", "most"))
    if column != "any" or least is None or most is None:
        least = most = value
    return np.stack([least < 0, most > 0])


def shape_of(causal: Scores) -> tuple[int, int]:
    """Layers and heads."""
    card = causal.provenance.model
    return len(card.layers), card.heads


def role_codes(panel: Panel, role: float) -> Codes:
    """A role for every head of a panel."""
    measures = dict(panel.measures)
    if not measures:
        return np.zeros(panel.value.shape, np.uint8)
    with np.errstate(invalid="ignore"):
        helps, hurts, idle = (measures.get(letter, np.zeros(panel.value.shape)) >= role for letter in "FNR")
    if "g" in measures and panel.belongs is not None:
        helps, hurts = panel.belongs
    codes = np.where(helps & hurts, BOTH, np.where(helps, FACILITATING, np.where(hurts, INTERFERING, NO_ROLE)))
    return np.where((codes == NO_ROLE) & idle, IRRELEVANT, codes).astype(np.uint8)


def steepest(panels: Sequence[Panel]) -> dict[str, float]:
    """Of each column the largest gradient, up to which its scale goes; never 0. Means are far below single prompts."""
    scales: dict[str, float] = {}
    for panel in panels:
        most = 0.0 if np.isnan(panel.value).all() else float(np.nanmax(np.abs(panel.value)))
        scales[panel.of[1]] = max(scales.get(panel.of[1], 0.0), most)
    return {column: scale or 1.0 for column, scale in scales.items()}


def scale_words(panels: Sequence[Panel]) -> str:
    """How far each column's scale goes, of those that show anything."""
    scales = {column: scale for column, scale in steepest(panels).items() if _shows(panels, column)}
    if len(scales) == 1:
        return f"±{next(iter(scales.values())):.2g}"
    return ", ".join(f"{COLUMN_NAMES[column]} ±{scale:.2g}" for column, scale in scales.items())


def _shows(panels: Sequence[Panel], column: str) -> bool:
    return any(np.nan_to_num(panel.value).any() for panel in panels if panel.of[1] == column)


def shares(causal: Scores, task: str, column: str, role: float) -> dict[str, float]:
    """The share of heads whose F, N and R reach the threshold; nothing when there is no score."""
    roles = reduced(causal, task, column)
    if roles is None:
        return {}
    with np.errstate(invalid="ignore"):
        return {name: float((roles[ROLES.index(name)] >= role).mean()) for name in known_roles(roles)}
