"""The results that a page can show: those that ship with the project and those in the store."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import xarray as xr

from analysis.errors import ModelNotFound, StoreError
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.methods.causal import plan as causal
from analysis.methods.function.plan import METHOD, Salience, Settings, stored_salience
from analysis.models.card import HeadId, ModelCard
from analysis.results.provenance import Provenance, now
from analysis.results.scores import DIMS, KINDS, ONLY_SAMPLE, Missing, Scores
from analysis.results.shipped import shipped, shipped_causal, shipped_salience, shipped_sizes
from analysis.results.store import Store

_REMEMBERED = 64  # maps that were put together
_MOMENT = 0.3  # seconds for which the list of results is taken as it was
_WITHOUT: dict[str, Missing] = {"running": Missing.RUNNING, "failed": Missing.FAILED}  # of layers, by a job's state
_log = logging.getLogger(__name__)


class Library:
    """Function and causal maps by model."""

    def __init__(self, store: Store, engine: Engine | None = None) -> None:
        self._store, self._engine = store, engine
        self._read: dict[str, Scores] = {}  # by key; a key stands for its content
        self._found: tuple[float, tuple[Scores, ...]] = (-1e9, ())
        self._partial: dict[tuple[str, str, str, int], tuple[Scores, ...]] = {}  # of jobs as far as they are
        self._failures: dict[str, str] = {}  # by fingerprint: what the newest failed job says
        self._merged: dict[tuple[int, ...], tuple[Scores, tuple[Scores, ...]]] = {}

    def models(self) -> list[ModelCard]:
        """The models that have a map, each once; the same weights under two names are two."""
        cards = {(card.id, card.fingerprint): card for card in (scores.provenance.model for scores in self._all())}
        return sorted(cards.values(), key=lambda card: (card.id, card.fingerprint))

    def scores(self, model: str, fingerprint: str = "") -> Scores:
        """A model's function map, from all its results; a fingerprint, or its beginning, says which checkpoint.

        Results with the published settings come first, then the fullest, then the newest. Relations that only another
        result with the same settings has, somebody's own for example, are added. A model that has only a causal map
        gets a function map without relations.
        """
        found = [
            scores
            for scores in self._all()
            if scores.provenance.model.id == model and scores.provenance.model.fingerprint.startswith(fingerprint)
        ]
        if not found:
            version = f" with the fingerprint {fingerprint[:12]}" if fingerprint else ""
            raise ModelNotFound(
                f"there is no map of {model}{version} here", f"Compute it: python -m analysis map {model}"
            )
        mine = [scores for scores in found if scores.provenance.method == METHOD]
        return self._together(mine) if mine else self._without_function(found[-1])

    def causal(self, card: ModelCard, fit: str = "") -> Scores | None:
        """The causal map of a checkpoint, if there is one, put together from all results; a named fit goes first."""
        found = self._fits(card)
        named = [scores for scores in found if fit and name_of(scores.provenance) == fit]
        return self._together(found, named[-1:]) if found else None

    def fits(self, card: ModelCard) -> dict[str, str]:
        """The fits of a checkpoint by name, each in words."""
        return {name_of(scores.provenance): _fit_words(scores.provenance) for scores in self._fits(card)}

    def _fits(self, card: ModelCard) -> list[Scores]:
        return [
            scores
            for scores in self._all()
            if scores.provenance.method == causal.METHOD
            and (scores.provenance.model.id, scores.provenance.model.fingerprint) == (card.id, card.fingerprint)
        ]

    def _without_function(self, other: Scores) -> Scores:
        key = (id(other),)
        if key not in self._merged:
            self._merged[key] = (no_function_map(other), (other,))
        return self._merged[key][0]

    def _together(self, found: list[Scores], first: Sequence[Scores] = ()) -> Scores:
        best = max(first or found, key=_order(found[0].provenance))
        key = (id(best), *(id(scores) for scores in found))
        if key not in self._merged:
            if len(self._merged) > _REMEMBERED:
                self._merged.clear()
            self._merged[key] = (merged(best, found), tuple(found))  # held, so that the ids stay theirs
        return self._merged[key][0]

    def failure(self, card: ModelCard) -> str:
        """Why the last job that failed on a model did, with its hint."""
        return self._failures.get(card.fingerprint, "")

    def salience(self, card: ModelCard, head: HeadId) -> Salience | None:
        """A head's salient tokens, if they were ever computed."""
        layers = shipped_salience().get(card.fingerprint)
        if layers is not None:
            ours: Salience = layers[str(head.layer)][head.head]
            return ours
        return stored_salience(self._store, card.fingerprint, head)

    def listed(self) -> list[tuple[Provenance, int]]:
        """Where every finished result comes from, and the bytes it takes in the store."""
        found = [(scores.provenance, size) for scores, size in shipped_sizes()]
        for key in self._store.names("result/"):
            scores, content = self._read.get(key) or self._open(key), self._store.get(key)
            if scores is not None and content is not None:
                found.append((scores.provenance, len(content)))
        return sorted(found, key=lambda entry: (entry[0].model.id, entry[0].method, entry[0].date))

    def _all(self) -> tuple[Scores, ...]:
        """Every result there is; looked for anew after a moment, because a page asks several times for each change."""
        when, found = self._found
        if time.monotonic() - when > _MOMENT:
            found = tuple(self._looked_for())
            self._found = (time.monotonic(), found)
        return found

    def _looked_for(self) -> Iterator[Scores]:
        yield from shipped()
        yield from shipped_causal()
        try:
            yield from self._stored()
        except StoreError:  # what ships with the project is shown even when the disk is not well
            _log.exception("the store cannot be read")

    def _stored(self) -> Iterator[Scores]:
        for key in self._store.names("result/"):
            scores = self._read.get(key) or self._open(key)
            if scores is not None:
                yield scores
        yield from self._unfinished()

    def _unfinished(self) -> Iterator[Scores]:
        """What running and failed jobs have so far; put together anew only when they are further on."""
        jobs = [job for job in (self._engine.jobs() if self._engine else ()) if job.state in _WITHOUT]
        failed = (job for job in jobs if job.state == "failed")
        self._failures = {job.fingerprint: f"{job.message}. {job.hint}".strip() for job in failed}
        before = self._partial
        self._partial = {_stage(job): before.get(_stage(job)) or self._so_far(job) for job in jobs}
        yield from (scores for found in self._partial.values() for scores in found)

    def _so_far(self, job: Job) -> tuple[Scores, ...]:
        """The layers and seeds that a job has; the others say that they are running or failed."""
        found = (self._engine.partial(job), self._engine.partial_causal(job)) if self._engine else ()
        return tuple(_waiting(scores, _WITHOUT[job.state]) for scores in found if scores is not None)

    def _open(self, key: str) -> Scores | None:
        """A result of the store; damaged ones and those of another version are passed over."""
        content = self._store.get(key)
        try:
            scores = None if content is None else Scores.from_parquet(content)
        except StoreError:
            return None
        if scores is not None:
            self._read[key] = scores
        return scores


def _waiting(scores: Scores, why: Missing) -> Scores:
    missing = scores.missing.where(scores.missing != Missing.NOT_COMPUTED, int(why))
    return replace(scores, missing=missing.astype("int8"))


def _stage(job: Job) -> tuple[str, str, str, int]:
    return job.id, job.state, job.stage, job.done


def _standing(scores: Scores) -> tuple[bool, bool, int, str]:
    """Any score at all, then published settings, then more scores, then the newer result."""
    computed = int((scores.missing == Missing.NO).sum())
    return computed > 0, _published(scores.provenance), computed, scores.provenance.date


def _published(facts: Provenance) -> bool:
    if facts.method != METHOD:
        return True  # gates are fitted with whatever settings suit the model
    published = asdict(Settings.default(facts.model.vocabulary))
    return {name: facts.settings.get(name) for name in published} == published


def _order(facts: Provenance) -> Callable[[Scores], Any]:
    return _standing if facts.method == METHOD else _longer


def _longer(scores: Scores) -> tuple[bool, bool, int, str]:
    """Any score at all, then one that runs, which is so seen from its first seed on, then the longer fit, the newer."""
    some, running = (bool((scores.missing == state).any()) for state in (Missing.NO, Missing.RUNNING))
    return some, running, _updates(scores.provenance), scores.provenance.date


def _updates(facts: Provenance) -> int:
    return int(facts.settings.get("free_updates", 0)) + int(facts.settings.get("push_updates", 0))


def merged(best: Scores, others: Sequence[Scores]) -> Scores:
    """A result with the relations or tasks that only others, computed in the same way from the same weights, have."""
    provenance, parts = best.provenance, [best]
    names = {item["name"] for item in provenance.items}
    besides: dict[str, list[str]] = {}  # fits of the same tasks that are not shown
    for other in sorted(others, key=_order(provenance), reverse=True):
        facts = other.provenance
        same = facts.model.fingerprint == provenance.model.fingerprint and _settings(facts) == _settings(provenance)
        more = [item["name"] for item in facts.items if item["name"] not in names] if same else []
        if same and facts.method != METHOD and other is not best and (other.missing == Missing.NO).any():
            for item in (item for item in facts.items if item["name"] not in more):
                besides.setdefault(item["name"], []).append(_fit_words(facts))
        if more:
            parts.append(_only(other, more))
            names |= set(more)
    if len(parts) == 1 and not besides:
        return best
    items = tuple(
        {**_told(item, part.provenance), **({"besides": besides[item["name"]]} if item["name"] in besides else {})}
        for part in parts
        for item in part.provenance.items
    )
    samples = list(dict.fromkeys(name for part in parts for name in part.score.sample.values.tolist()))
    missing = float(Missing.NOT_COMPUTED)
    arrays = [
        xr.concat([_sampled(getattr(part, name), samples, fill) for part in parts], "item")
        for name, fill in (("score", np.nan), ("hits", np.nan), ("missing", missing))
    ]
    return Scores(arrays[0], arrays[1], arrays[2].astype("int8"), replace(provenance, items=items))


def _told(item: dict[str, Any], facts: Provenance) -> dict[str, Any]:
    """A task with the settings and the date of its own fit, where those of the whole map may be another's."""
    return item if facts.method == METHOD else {"settings": facts.settings, "computed": facts.date, **item}


def name_of(facts: Provenance) -> str:
    """How addresses name a fit."""
    return causal.fit_name(facts.settings, [(item["name"], item.get("hash", "")) for item in facts.items])


def _fit_words(facts: Provenance) -> str:
    settings, titles = facts.settings, ", ".join(str(item["title"]) for item in facts.items)
    if not settings.get("seeds"):
        return f"{titles}: preview alone"
    updates = "+".join(str(settings[name]) for name in ("free_updates", "push_updates") if name in settings)
    seeds = f"{settings['seeds']} {'seed' if settings['seeds'] == 1 else 'seeds'}"
    return f"{titles}: {updates} updates of {settings.get('batch', '?')}, {seeds}, {facts.date[:10]}"


def _sampled(array: xr.DataArray, samples: list[str], fill: float) -> xr.DataArray:
    """The same numbers with the samples of another result: a task may have fewer seeds than the next."""
    return array if array.sample.values.tolist() == samples else array.reindex(sample=samples, fill_value=fill)


def _settings(facts: Provenance) -> dict[str, Any]:
    """What must be equal for two results to stand in one map; a task says by itself how it was fitted."""
    if facts.method != METHOD:
        return {"version": facts.version}
    return {name: facts.settings.get(name) for name in ("k_copying", "k_standard", "first_mlp")}


def _only(scores: Scores, names: list[str]) -> Scores:
    items = tuple(item for item in scores.provenance.items if item["name"] in names)
    arrays = [getattr(scores, name).sel(item=names) for name in ("score", "hits", "missing")]
    return Scores(arrays[0], arrays[1], arrays[2], replace(scores.provenance, items=items))


def no_function_map(other: Scores) -> Scores:
    """The function map of a model that has only another kind of map: no relation, no score."""
    card = other.provenance.model
    settings = {**asdict(Settings.default(card.vocabulary)), "layers": list(card.layers)}
    facts = replace(other.provenance, method=METHOD, version="", settings=settings, items=(), date=now())
    coords = dict(zip(DIMS, ([], list(KINDS), [ONLY_SAMPLE], list(card.layers), list(range(card.heads))), strict=True))
    shape = (0, len(KINDS), 1, len(card.layers), card.heads)
    empty = xr.DataArray(np.zeros(shape), coords, DIMS)
    return Scores(empty, empty, empty.astype("int8"), facts)
