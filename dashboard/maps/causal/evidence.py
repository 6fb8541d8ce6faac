"""What a causal map has beside its scores: how each task was fitted and measured. All of it may be missing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.methods.causal.plan import ROLES, STAGES
from analysis.results.scores import Floats, Scores


@dataclass(frozen=True)
class Kind:
    """The untouched model on one kind of prompt."""

    name: str
    accuracy: float | None
    nll: float | None


@dataclass(frozen=True)
class Untouched:
    """What the model can do without any gate."""

    accuracy: float
    nll: float | None
    prompts: int | None
    flagged: bool  # it can hardly do the task
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, eq=False)
class Preview:
    """Gate gradients over the prompts: their mean, the least and the most, the share that are helpful."""

    mean: Floats | None
    least: Floats | None
    most: Floats | None
    share: Floats | None


@dataclass(frozen=True)
class Curves:
    """The losses of every seed, update by update, by stage."""

    seeds: tuple[int, ...]
    losses: Mapping[str, list[list[float]]]

    def of(self, stage: str) -> list[list[float]]:
        """A curve for each seed that has reached the stage."""
        return self.losses.get(stage, [])


@dataclass(frozen=True)
class Settled:
    """Of each seed the share of gates that came to rest near 0 or 1."""

    opened: tuple[float, ...]
    shut: tuple[float, ...]


def title(causal: Scores, task: str) -> str:
    """A task's name as a person reads it."""
    return str(causal.item(task)["title"])


def sentence(causal: Scores, task: str) -> str:
    """What the task is."""
    return str(causal.item(task).get("sentence", ""))


def is_contrast(causal: Scores, task: str) -> bool:
    """Matched pairs are contrasted: there is one gate for each seed, and no interference."""
    return bool(causal.item(task).get("category") == "contrast")


def fit_settings(causal: Scores, task: str) -> dict[str, Any]:
    """How the task was fitted; in a map of several results each task has its own settings."""
    return dict(causal.item(task).get("settings") or causal.provenance.settings)


def computed(causal: Scores, task: str) -> str:
    """When the task was fitted."""
    return str(causal.item(task).get("computed", causal.provenance.date))


def other_fits(causal: Scores, task: str) -> tuple[str, ...]:
    """Other fits of the task in words, which the one that is shown hides."""
    return tuple(causal.item(task).get("besides") or ())


def untouched(causal: Scores, task: str) -> Untouched | None:
    """The untouched model on the task, if it was measured."""
    item = causal.item(task)
    if item.get("accuracy") is None:
        return None
    kinds = []
    for kind in item.get("kinds") or ():
        kinds.append(Kind(str(kind.get("kind", "")), kind.get("accuracy"), kind.get("nll")))
    prompts = item["items"] if isinstance(item.get("items"), int) else None
    return Untouched(item["accuracy"], item.get("nll"), prompts, bool(item.get("flagged")), tuple(kinds))


def effect(causal: Scores, task: str) -> Floats | None:  # [layer, head]
    """The change of the target's log-probability when a head's gate goes from 1 to 0, if it was measured."""
    return _grid(causal.item(task).get("effect"), causal)


def preview(causal: Scores, task: str) -> Preview:
    """The gate gradients; each part is None where it was not measured."""
    stored = causal.item(task).get("preview") or {}
    mean, least, most, share = (_grid(stored.get(name), causal) for name in ("mean", "least", "most", "share"))
    return Preview(mean, least, most, share)


def curves(causal: Scores, task: str) -> Curves | None:
    """The loss curves, those of fits under way too; None when no seed has one."""
    stored = causal.item(task).get("curves") or {}
    losses = {stage: list(stored.get(stage) or ()) for stage in STAGES}
    if not any(losses.values()):
        return None
    most = max(len(of_seeds) for of_seeds in losses.values())
    return Curves(tuple(stored.get("seeds", range(most))), losses)


def settled(causal: Scores, task: str) -> Settled:
    """How many gates came to rest."""
    stored = causal.item(task).get("settled") or {}
    return Settled(tuple(stored.get("open") or ()), tuple(stored.get("shut") or ()))


def agreement(causal: Scores, task: str) -> dict[str, float]:
    """The rank correlation of the preview with fitted facilitation and interference, where it is known."""
    stored = causal.item(task).get("agreement") or {}
    correlations = {}
    for role in ROLES[:2]:
        value = stored.get(role)
        if isinstance(value, (int, float)) and not np.isnan(value):
            correlations[role] = float(value)
    return correlations


def of_first_seeds(causal: Scores, count: int) -> tuple[dict[str, Any], ...]:
    """The tasks as they would be had only so many seeds been fitted; the preview's agreement is left out."""
    items = []
    for item in causal.provenance.items:
        losses, rested = item.get("curves") or {}, item.get("settled") or {}
        first = [at for at, seed in enumerate(losses.get("seeds", [])) if seed < count]
        kept = {name: value for name, value in item.items() if name != "agreement"}
        kept["curves"] = {name: [each[at] for at in first if at < len(each)] for name, each in losses.items()}
        kept["settled"] = {side: shares[:count] for side, shares in rested.items()}
        if item.get("settings"):
            seeds = min(count, item["settings"].get("seeds", count))
            kept["settings"] = {**item["settings"], "seeds": seeds}
        items.append(kept)
    return tuple(items)


def with_first_seeds(causal: Scores, count: int) -> Scores:
    """The map as it would be had only so many seeds been fitted."""
    kept = causal.score.sample.values[:count]
    facts = causal.provenance
    settings = {**facts.settings, "seeds": count}
    return replace(
        causal,
        score=causal.score.sel(sample=kept),
        hits=causal.hits.sel(sample=kept),
        missing=causal.missing.sel(sample=kept),
        provenance=replace(facts, items=of_first_seeds(causal, count), settings=settings),
    )


def _grid(values: Any, causal: Scores) -> Floats | None:
    """Numbers as an array [layer, head]; what has another shape is passed over."""
    card = causal.provenance.model
    try:
        grid = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return grid if grid.shape == (len(card.layers), card.heads) else None
