"""From scores and a view's state to what each panel shows: arrays and counts, no pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.models.card import HeadId
from analysis.results.scores import ONLY_SAMPLE, Floats, Missing, Scores, ranks
from dashboard.cache import cached
from dashboard.state import How, ViewState

ALL = "all"  # the panel that shows every category at once

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Panel:
    """One map of heads. Arrays are [layer, head]."""

    key: str  # `all`, a category or a relation
    title: str
    value: Floats  # the score that decides, NaN where there is none
    member: Bools  # above τ (and among the best, when only those are asked for)
    reason: npt.NDArray[np.int8]  # a `Missing` where there is no value
    tone: str = ""  # the category whose colour the panel has
    categories: tuple[str, ...] = ()  # what `belongs` stands for
    belongs: Bools | None = None  # [category, layer, head], of the panel of all categories
    strengths: Floats | None = None  # [category, layer, head], the score that decides for each of them
    measures: tuple[tuple[str, Floats], ...] = ()  # of the causal map: the named numbers behind it
    of: tuple[str, str] = ("", "")  # of the causal map: its task and what stands for the seeds
    remark: str = ""  # after the title, instead of how many belong

    @property
    def note(self) -> str:
        """What stands after the title."""
        return self.remark or f"{self.count} {'head' if self.count == 1 else 'heads'}"

    @property
    def count(self) -> int:
        """Heads that belong."""
        return int(self.member.sum())

    @property
    def strongest(self) -> npt.NDArray[np.intp]:
        """The rank of every head's value."""
        return ranks(self.value)


def panels(scores: Scores, state: ViewState) -> tuple[Panel, ...]:
    """All categories first, then one panel a category; a single panel when one relation is asked for."""
    if state.relation in scores.items():
        value, reason = _value(scores, (state.relation,), state.how, state.kinds)
        item = scores.item(state.relation)
        return (Panel(item["name"], item["title"], value, _member(value, state), reason, item["category"]),)
    names = tuple(scores.categories())
    if not names:
        return (_nothing(scores),)
    found = [_value(scores, tuple(scores.items(name)), state.how, state.kinds) for name in names]
    values, members = [value for value, _ in found], [_member(value, state) for value, _ in found]
    single = [
        Panel(name, name.capitalize(), value, member, reason, name)
        for name, member, (value, reason) in zip(names, members, found, strict=True)
    ]
    best = np.fmax.reduce(values)
    all_ = Panel(
        key=ALL,
        title="All categories",
        value=best,
        member=np.logical_or.reduce(members),
        reason=np.where(np.isnan(best), np.maximum.reduce([reason for _, reason in found]), Missing.NO).astype(np.int8),
        categories=names,
        belongs=np.stack(members),
        strengths=np.stack(values),
    )
    return (all_, *single)


def reasons(panels: Sequence[Panel]) -> list[Missing]:
    """Why panels have no score somewhere, each reason once."""
    return sorted({Missing(code) for panel in panels for code in np.unique(panel.reason) if code})


def _nothing(scores: Scores) -> Panel:
    """The only panel of a model that no relation applies to."""
    shape = (len(scores.provenance.model.layers), scores.provenance.model.heads)
    why = Missing.NOT_APPLICABLE if scores.provenance.items else Missing.NOT_COMPUTED
    reason = np.full(shape, why, np.int8)
    return Panel(ALL, "All categories", np.full(shape, np.nan), np.zeros(shape, bool), reason)


@cached(128)
def _value(
    scores: Scores, items: tuple[str, ...], how: How, kinds: tuple[str, ...]
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """The number that decides for each head, and why there is none: the gravest of its items' reasons.

    Remembered, because a change of τ asks for the same numbers again.
    """
    value = np.asarray(scores.reduced(items, how, kinds).sel(sample=ONLY_SAMPLE).values, dtype=np.float64)
    worst = scores.missing.sel(item=list(items), sample=ONLY_SAMPLE).max(("item", "kind")).values
    return value, np.where(np.isnan(value), worst, Missing.NO).astype(np.int8)


def _member(value: Floats, state: ViewState) -> Bools:
    with np.errstate(invalid="ignore"):
        above = value > state.tau
    if state.top and state.top < above.sum():
        least = np.sort(value[above])[-state.top]
        above &= value >= least
    return above


def layer_profile(panel: Panel) -> Floats:  # [layer], or [category, layer] for all categories
    """The share of each layer's heads that belong; NaN for a layer without any score."""
    flags = panel.member if panel.belongs is None else panel.belongs
    without = (panel.reason != Missing.NO).all(axis=-1)
    return np.where(without, np.nan, flags.mean(axis=-1))


@cached(16)
def _ranks(scores: Scores) -> npt.NDArray[np.intp]:  # [item, kind, layer, head]
    """Each head's rank for each item and kind."""
    values = scores.score.sel(sample=ONLY_SAMPLE).values
    found = [[ranks(one) for one in kinds] for kinds in values]
    return np.array(found, dtype=np.intp).reshape(values.shape)


def head_scores(scores: Scores, head: HeadId) -> list[dict[str, Any]]:
    """Every item's scores of a head with hits and rank, best first, items without a score last."""
    at = scores.provenance.model.layers.index(head.layer)
    score = scores.score.sel(sample=ONLY_SAMPLE).values[:, :, at, head.head]
    hits = scores.hits.sel(sample=ONLY_SAMPLE).values[:, :, at, head.head]
    missing = scores.missing.sel(sample=ONLY_SAMPLE).values[:, :, at, head.head]
    standing = _ranks(scores)[:, :, at, head.head]
    rows = []
    for i, item in enumerate(scores.provenance.items):
        row: dict[str, Any] = {key: item[key] for key in ("name", "title", "category", "kept", "applicable")}
        for j, kind in enumerate(scores.score.kind.values.tolist()):
            row |= {kind: float(score[i, j]), f"{kind}_hits": float(hits[i, j]), f"{kind}_rank": int(standing[i, j])}
        row["best"], row["missing"] = float(score[i].max()), Missing(missing[i].max()).words
        rows.append(row)
    return sorted(rows, key=lambda row: (np.isnan(row["best"]), -row["best"] if not np.isnan(row["best"]) else 0))
