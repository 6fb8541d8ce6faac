"""From scores and a view's state to what each panel shows: arrays and counts, no pictures."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.heads import HeadId
from analysis.scores import ONLY_SAMPLE, Missing, Scores
from dashboard.state import How, ViewState

ALL = "all"  # the panel that shows every category at once

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Panel:
    """One map of heads. Arrays are [layer, head]."""

    key: str  # `all`, a category or a relation
    title: str
    value: Floats  # the score that decides, NaN where there is none
    member: Bools  # above τ (and among the best, when only those are asked for)
    reason: npt.NDArray[np.int8]  # a `Missing` where there is no value
    categories: tuple[str, ...] = ()  # what `belongs` stands for
    belongs: Bools | None = None  # [category, layer, head], of the panel of all categories
    strengths: Floats | None = None  # [category, layer, head], the score that decides for each of them

    @property
    def count(self) -> int:
        """Heads that belong."""
        return int(self.member.sum())

    @property
    def strongest(self) -> npt.NDArray[np.intp]:
        """The rank of every head's value, 1 for the largest; equal values share the better rank, NaN comes last."""
        flat = np.where(np.isnan(self.value), -1.0, self.value).ravel()
        order = np.sort(flat)[::-1]
        ranks = np.searchsorted(-order, -flat, side="left") + 1
        return ranks.reshape(self.value.shape)


def panels(scores: Scores, state: ViewState) -> tuple[Panel, ...]:
    """All categories first, then one panel a category; a single panel when one relation is asked for."""
    if state.relation in scores.items():
        value, reason = _value(scores, (state.relation,), state.how, state.kinds)
        return (Panel(state.relation, scores.item(state.relation)["title"], value, _member(value, state), reason),)
    names = tuple(scores.categories())
    if not names:
        return ()
    found = [_value(scores, tuple(scores.items(name)), state.how, state.kinds) for name in names]
    values, members = [value for value, _ in found], [_member(value, state) for value, _ in found]
    single = [
        Panel(name, name.capitalize(), value, member, reason)
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


@lru_cache(maxsize=128)
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
    """The share of each layer's heads that belong."""
    flags = panel.member if panel.belongs is None else panel.belongs
    return np.asarray(flags.mean(axis=-1), dtype=np.float64)


def head_at(scores: Scores, row: int, column: int) -> HeadId:
    """The head in a panel's cell; layers keep their own numbers."""
    return HeadId(scores.provenance.model.layers[row], column)


def head_scores(scores: Scores, head: HeadId) -> list[dict[str, Any]]:
    """Every item's scores of a head, best first, items without a score last."""
    rows = []
    for item in scores.provenance.items:
        where = {"item": item["name"], "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
        row: dict[str, Any] = {key: item[key] for key in ("name", "title", "category", "kept", "applicable")}
        for kind in scores.score.kind.values.tolist():
            row[kind] = float(scores.score.sel(where | {"kind": kind}))
            row[f"{kind}_hits"] = float(scores.hits.sel(where | {"kind": kind}))
        row["best"] = max(row[kind] for kind in scores.score.kind.values.tolist())
        rows.append(row)
    return sorted(rows, key=lambda row: (np.isnan(row["best"]), -row["best"] if not np.isnan(row["best"]) else 0))
