"""What a causal map has beside its scores: how each task was fitted and measured. All of it may be missing."""

from dataclasses import dataclass, replace

from analysis.methods.causal.result import (
    EFFECT,
    GRADIENT,
    Curves,
    TaskRecord,
    Untouched,
    Variant,
    record_of,
    variant_of,
)
from analysis.results.provenance import JsonObject, ScoredItem
from analysis.results.scores import Floats, Scores
from dashboard.cache import cached


@dataclass(frozen=True, eq=False)
class Preview:
    """Gate gradients over the prompts: their mean, the least and the most, the share that are helpful."""

    mean: Floats | None
    least: Floats | None
    most: Floats | None
    share: Floats | None


def title(causal: Scores, task: str) -> str:
    """A task's name as a person reads it."""
    return causal.item(task).title


def sentence(causal: Scores, task: str) -> str:
    """What the task is."""
    return causal.item(task).sentence


def variant(causal: Scores, task: str) -> Variant:
    """What the gates of the task were fitted to, and so what they can tell."""
    return variant_of(causal.item(task))


def fit_settings(causal: Scores, task: str) -> JsonObject:
    """How the task was fitted; in a map of several results each task has its own settings."""
    return dict(causal.item(task).settings or causal.provenance.settings)


def computed(causal: Scores, task: str) -> str:
    """When the task was fitted."""
    return causal.item(task).computed or causal.provenance.date


def other_fits(causal: Scores, task: str) -> tuple[str, ...]:
    """Other fits of the task in words, which the one that is shown hides."""
    return causal.item(task).besides


@cached(64)
def record(causal: Scores, task: str) -> TaskRecord:
    """What was measured on the task beside its gates."""
    return record_of(causal, task)


def untouched(causal: Scores, task: str) -> Untouched | None:
    """The untouched model on the task, if it was measured."""
    return record(causal, task).untouched


def effect(causal: Scores, task: str) -> Floats | None:  # [layer, head]
    """The change of the target's log-probability when a head's gate goes from 1 to 0, if it was measured."""
    return causal.part(EFFECT, task)


def preview(causal: Scores, task: str) -> Preview:
    """The gate gradients; each part is None where it was not measured."""
    mean, least, most, share = (causal.part(GRADIENT, task, name) for name in ("mean", "least", "most", "share"))
    return Preview(mean, least, most, share)


def curves(causal: Scores, task: str) -> Curves | None:
    """The loss curves, those of fits under way too; None when no seed has one."""
    losses = record(causal, task).curves
    return losses if losses.free or losses.open or losses.shut else None


def settled(causal: Scores, task: str) -> dict[str, tuple[float, ...]]:
    """The share of gates that came to rest near 0 or 1: pushed open and pushed shut, of each seed."""
    return record(causal, task).settled


def agreement(causal: Scores, task: str) -> dict[str, float]:
    """The rank correlation of the preview with fitted facilitation and interference, where it is known."""
    return record(causal, task).agreement


def with_first_seeds(causal: Scores, count: int) -> Scores:
    """The map as it would be had only so many seeds been fitted; how the preview agrees with all is left out."""
    kept = causal.score.sample.values[:count]
    records = {}
    for task in causal.provenance.items:
        of_task = record_of(causal, task.name)
        settled_first = {side: shares[:count] for side, shares in of_task.settled.items()}
        changes = {"curves": of_task.curves.only(range(count)), "settled": settled_first, "agreement": {}}
        records[task.name] = of_task.model_copy(update=changes).model_dump(mode="json")
    items = tuple(_with_seeds(item, count) for item in causal.provenance.items)
    settings = {**causal.provenance.settings, "seeds": count}
    return replace(
        causal,
        score=causal.score.sel(sample=kept),
        hits=causal.hits.sel(sample=kept),
        missing=causal.missing.sel(sample=kept),
        provenance=replace(causal.provenance, items=items, settings=settings),
        records=records,
    )


def _with_seeds(item: ScoredItem, count: int) -> ScoredItem:
    if item.settings is None:
        return item
    return replace(item, settings={**item.settings, "seeds": min(count, item.settings.get("seeds", count))})
