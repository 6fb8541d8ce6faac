"""The results that there are of every model: those that ship with the project, those in the store, those under way."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from analysis import methods
from analysis.data.relations import WordPair
from analysis.errors import ModelNotFound, SettingError, StoreError
from analysis.evidence.shipped import shipped
from analysis.jobs.deletion import delete_model, delete_set
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.method import Method
from analysis.models.card import ModelCard
from analysis.results.inventory import stored_models
from analysis.results.own_sets import OwnSet, change_set, own_items, pairs_of, sets_of, the_set, with_set
from analysis.results.provenance import COMPUTED_AS, Provenance, ScoredItem
from analysis.results.scores import Missing, Scores
from analysis.results.store import Store

_MERGED = 64  # cached merges
_CUT = 256  # cached results without the relations of other sets
_MOMENT = 0.3  # seconds for which the list of results is taken as it was
_REASONS: dict[str, Missing] = {"running": Missing.RUNNING, "failed": Missing.FAILED}  # by a job's state
_log = logging.getLogger(__name__)

JobStage = tuple[str, str, str, int]  # how far a job is
PartialStage = tuple[str, str, str, str, int]  # the same of one of its methods


_looks: ContextVar["dict[int, Snapshot] | None"] = ContextVar("looks", default=None)  # by catalogue, of one request


@contextmanager
def one_look() -> Iterator[None]:
    """What is asked within is answered from the results that there are at the first question."""
    token = _looks.set({})
    try:
        yield
    finally:
        _looks.reset(token)


@dataclass(frozen=True)
class Snapshot:
    """The results that there were at a moment."""

    generation: int
    results: tuple[Scores, ...]


@dataclass(frozen=True)
class Listed:
    """A finished result as a list shows it."""

    provenance: Provenance
    bytes: int
    words: str  # what it covers
    choice: str  # the short name under which it can be chosen; may be empty
    shipped: bool = False  # it comes with the project


class Catalogue:
    """Maps by model and method."""

    def __init__(self, store: Store, engine: Engine | None = None) -> None:
        self._store, self._engine = store, engine
        self._read: dict[str, Scores] = {}  # by key; a key stands for its content
        self._seen: tuple[float, tuple[JobStage, ...], tuple[Scores, ...]] = (-1e9, (), ())  # when, jobs then, results
        self._partial: dict[PartialStage, list[Scores]] = {}  # of jobs as far as they are
        self._failures: dict[str, str] = {}  # by fingerprint: what the newest failed job says
        self._generation = 0
        self._lock = threading.RLock()  # the list of results is looked for by one at a time
        self._merged: dict[tuple[int, ...], tuple[Scores, list[Scores]]] = {}
        self._cut: dict[tuple[int, str], tuple[Scores, Scores | None]] = {}  # by result and set
        self._renamed: dict[tuple[int, str], tuple[Scores, Scores]] = {}  # by result and the name that was asked for

    # ---- What others call ------------------------------------------------------------------------------------------

    def models(self) -> list[ModelCard]:
        """The models that have a result, each once; the same weights stand under every name that has one of its own."""
        cards = {}
        for scores in self._all():
            card = scores.provenance.model
            cards[card.id, card.fingerprint] = card
        return [cards[key] for key in sorted(cards)]

    def card(self, model: str, fingerprint: str = "") -> ModelCard:
        """A model by its name; a fingerprint, or its first characters, says which checkpoint."""
        of_name = [scores for scores in self._all() if scores.provenance.model.id == model]
        candidates = []
        for scores in of_name:
            if scores.provenance.model.fingerprint.startswith(fingerprint):
                candidates.append(scores)
        for method in methods.METHODS:
            mine = [scores for scores in candidates if scores.provenance.method == method.name]
            if mine:  # of several checkpoints of one name the one with the best result
                return max(mine, key=method.rank).provenance.model
        version = f" with the fingerprint {fingerprint[:12]}" if fingerprint else ""
        raise ModelNotFound(f"there is no map of {model}{version} here", _instead(model, of_name))

    def result(self, card: ModelCard, method: str, choice: str = "", own: str | None = None) -> Scores | None:
        """A model's result of a method, put together from all that there are; a chosen one goes first.

        Of relations that people brought it has those of one set, named by its id, and none when that is empty. When it
        is left out, a model that has scores for nothing else is shown by its first set.
        """
        sets = self.sets(card)
        wanted = self.default_set(card) if own is None else the_set(sets, own) if own else None
        results = []
        for scores in self._of(card, method):
            cut = self._with_set(scores, wanted)
            if cut is not None:
                results.append(cut)
        if not results:
            return None
        one = methods.method(method)
        chosen = None
        for scores in results:
            if choice and one.choice(scores.provenance) == choice:
                chosen = scores
        return self._together(one, results, chosen)

    def default_method(
        self, card: ModelCard, item: str = "", own: str | None = None, among: Sequence[Method] = ()
    ) -> Method:
        """The method whose map holds, of those that have an item where only some have it; the first without any.

        Of all methods, unless some are named.
        """
        candidates = among or methods.METHODS
        results = {}
        for method in candidates:
            scores = self.result(card, method.name, own=own)
            if scores is not None:
                results[method.name] = scores
        having = {name: scores for name, scores in results.items() if item in scores.items()}
        there = having or results
        if not there:
            return candidates[0]
        return methods.method(next(iter(there))).holding(there, methods.METHODS)

    def choices(self, card: ModelCard, method: str) -> dict[str, str]:
        """The results of a method that one can choose from: short name and words."""
        one = methods.method(method)
        named = {}
        for scores in self._of(card, method):
            name = one.choice(scores.provenance)
            if name:
                named[name] = one.words(scores.provenance)
        return named

    def sets(self, card: ModelCard | None = None) -> list[OwnSet]:
        """The sets of relations that people brought and that this model, or any, has scores for; the oldest first."""
        everything = self._all()
        every_set = sets_of(everything, self._store)  # a set has one name, whichever models have it
        if card is None:
            return every_set
        mine = {one.id for one in sets_of([scores for scores in everything if _is_of(scores, card)], self._store)}
        return [one for one in every_set if one.id in mine]

    def default_set(self, card: ModelCard) -> OwnSet | None:
        """The set that stands for a model whose scores are all for relations that people brought: the first."""
        sets = self.sets(card)
        if not sets:
            return None
        for scores in self._all():
            facts = scores.provenance
            if (
                _is_of(scores, card)
                and facts.method in self._methods_with_sets()
                and len(own_items(facts)) < len(facts.items)
            ):
                return None
        return sets[0]

    def own_set(self, text: str) -> OwnSet:
        """A set by its id, or by its name if only one is called so."""
        return the_set(self.sets(), text)

    def change_set(self, one: OwnSet, name: str | None = None, hidden: bool | None = None) -> OwnSet:
        """Rename a set, hide it, or show it again."""
        changed = change_set(self._store, one, name, hidden)
        self._look_again()
        return changed

    def delete_set(self, one: OwnSet) -> int:
        """Remove a set with its scores, pairs and jobs; says how many results had it."""
        changed = delete_set(self._store, one)
        self._look_again()
        return changed

    def delete_model(self, card: ModelCard) -> int:
        """Remove what the store has of a model; says how many entries went."""
        gone = delete_model(self._store, card)
        self._look_again()
        return gone

    def own_pairs(self, item: ScoredItem) -> tuple[WordPair, ...]:
        """The pairs of an uploaded relation as a result keeps them; none when only older results have it."""
        for scores in self._all():
            if any((one.name, one.hash) == (item.name, item.hash) for one in scores.provenance.items):
                pairs = pairs_of(scores, item)
                if pairs:
                    return pairs
        return ()

    @property
    def generation(self) -> int:
        """A number that changes whenever the results do: what was derived from an older one may be outdated."""
        return self._look().generation

    def failure(self, card: ModelCard) -> str:
        """Why the last job that failed on a model did, with its hint."""
        return self._failures.get(card.fingerprint, "")

    def listed(self) -> list[Listed]:
        """Every finished result."""
        entries = [replace(_entry(result.scores, result.bytes), shipped=True) for result in shipped()]
        for key in self._store.names("result/"):
            scores, size = self._opened(key), self._store.bytes_of(key)
            if scores is not None and size is not None:
                entries.append(_entry(scores, size))
        return sorted(entries, key=lambda entry: _place(entry.provenance))

    # ---- Results, one by one ---------------------------------------------------------------------------------------

    def _of(self, card: ModelCard, method: str) -> list[Scores]:
        results = []
        for scores in self._all():
            if _is_of(scores, card) and scores.provenance.method == method:
                results.append(self._named(scores, card))
        return results

    def _named(self, scores: Scores, card: ModelCard) -> Scores:
        """A result of the same weights under the name that was asked for, which says what it was computed as."""
        facts = scores.provenance
        if facts.model.id == card.id:
            return scores
        key = (id(scores), card.id)
        known = self._renamed.get(key)
        if known is None:
            if len(self._renamed) > _CUT:
                self._renamed.clear()
            settings = {**facts.settings, COMPUTED_AS: facts.model.id}
            named = replace(scores, provenance=replace(facts, model=card, settings=settings))
            known = (scores, named)  # held, so that the id stays its own
            self._renamed[key] = known
        return known[1]

    def _methods_with_sets(self) -> set[str]:
        """The methods that score relations."""
        return {scores.provenance.method for scores in self._all() if own_items(scores.provenance)}

    def _with_set(self, scores: Scores, wanted: OwnSet | None) -> Scores | None:
        """A result without the relations of other sets: the same one for the same question."""
        if not own_items(scores.provenance):
            return scores
        key = (id(scores), wanted.id if wanted is not None else "")
        known = self._cut.get(key)
        if known is None:
            if len(self._cut) > _CUT:
                self._cut.clear()
            members = wanted.members if wanted is not None else frozenset()
            known = (scores, with_set(scores, members))  # held, so that the id stays its own
            self._cut[key] = known
        return known[1]

    def _together(self, method: Method, results: list[Scores], chosen: Scores | None) -> Scores:
        """Merged once: the same results give the same map, which others may derive things from."""
        key = (id(chosen), *(id(scores) for scores in results))
        merged = self._merged.get(key)
        if merged is None:
            if len(self._merged) > _MERGED:
                self._merged.clear()
            merged = (method.merged(results, chosen), results)  # held, so that the ids stay theirs
            self._merged[key] = merged
        return merged[0]

    def _all(self) -> tuple[Scores, ...]:
        """Every result there is."""
        return self._look().results

    def _look(self) -> Snapshot:
        """The results, once per request: a page asks for them many times, and many people ask at once."""
        looks = _looks.get()
        if looks is not None and id(self) in looks:
            return looks[id(self)]
        look = self._look_now()
        if looks is not None:
            looks[id(self)] = look
        return look

    def _look_now(self) -> Snapshot:
        """The results; where no job went on, those of a moment ago."""
        with self._lock:
            when, stages, results = self._seen
            now = self._job_stages()  # before the store is read: what a job adds meanwhile is looked for next time
            if now != stages or time.monotonic() - when > _MOMENT:
                before, failures = results, self._failures
                results = tuple(self._every())
                if not _same(before, results) or failures != self._failures:
                    self._generation += 1
                    self._let_go(results)
                self._seen = (time.monotonic(), now, results)
            return Snapshot(self._generation, results)

    def _let_go(self, results: Sequence[Scores]) -> None:
        """Forget what was derived from results that are there no more, such as those of a job that is further on."""
        there = {id(scores) for scores in results}
        self._renamed = {key: kept for key, kept in list(self._renamed.items()) if key[0] in there}
        there |= {id(named) for _, named in self._renamed.values()}
        self._cut = {key: kept for key, kept in list(self._cut.items()) if key[0] in there}
        there |= {id(cut) for _, cut in self._cut.values()}
        self._merged = {key: kept for key, kept in list(self._merged.items()) if there.issuperset(key[1:])}

    def _job_stages(self) -> tuple[JobStage, ...]:
        jobs = self._engine.jobs() if self._engine else []
        return tuple(_stage(job) for job in jobs)

    def _look_again(self) -> None:
        """Somebody changed what the store has: the next question is answered from it."""
        with self._lock:
            self._generation += 1
            self._seen = (-1e9, *self._seen[1:])
        looks = _looks.get()
        if looks is not None:
            looks.pop(id(self), None)

    def _every(self) -> Iterator[Scores]:
        for result in shipped():
            yield result.scores
        try:
            yield from self._stored()
            yield from self._unfinished()
        except StoreError:  # what ships with the project is shown even when the disk is not well
            _log.exception("the store cannot be read")

    def _stored(self) -> Iterator[Scores]:
        whole, seen = set(), set()
        cards = {(card.id, card.fingerprint): card for card in stored_models(self._store)}
        for key in self._store.names("result/"):
            scores = self._opened(key)
            seen.add(key)
            if scores is not None:
                card = scores.provenance.model
                cards[card.id, card.fingerprint] = card
                whole.add((card.fingerprint, scores.provenance.method))
                yield scores
        for card in cards.values():
            for method in methods.METHODS:
                if (card.fingerprint, method.name) not in whole:
                    name, scores = self._recovered(card, method)
                    seen.add(name)
                    if scores is not None:
                        yield scores
        for name in self._read.keys() - seen:  # of results that are gone, or have more pieces by now
            self._read.pop(name, None)

    def _recovered(self, card: ModelCard, method: Method) -> tuple[str, Scores | None]:
        """What the store has although no result was finished, and its name here; read once for the same pieces."""
        pieces = method.pieces(card, self._store)
        name = f"{card.id} {method.name} {pieces}"
        scores = self._read.get(name)
        if scores is None and pieces:
            scores = method.recovered(card, self._store)
            if scores is not None:
                self._read[name] = scores
        return name, scores

    def _unfinished(self) -> Iterator[Scores]:
        """What running and failed jobs have so far, the oldest first.

        Of failed jobs only the newest of each model and method counts: there may be very many.
        """
        if self._engine is None:
            return
        jobs = [job for job in self._engine.jobs() if job.state in _REASONS]
        before, self._partial = self._partial, {}
        failures: dict[str, str] = {}
        newest_first: list[Scores] = []
        failed: set[tuple[str, str]] = set()  # model and method of what is among them
        for job in reversed(jobs):
            if job.state == "failed":
                failures.setdefault(job.fingerprint, f"{job.message}. {job.hint}".strip())
            for method in reversed(job.methods):
                of_what = job.fingerprint, method
                if of_what not in failed:
                    results = self._partial_results(self._engine, job, method, before)
                    newest_first += results
                    if results and job.state == "failed":
                        failed.add(of_what)
        self._failures = failures
        yield from reversed(newest_first)

    def _partial_results(
        self, engine: Engine, job: Job, method: str, before: dict[PartialStage, list[Scores]]
    ) -> list[Scores]:
        """The parts that a job has of a method; the others say that they are running or failed.

        Put together again only when the job is further on than before.
        """
        stage = (method, *_stage(job))
        if stage in before:
            results = before[stage]
        else:
            results = [_waiting(scores, _REASONS[job.state]) for scores in engine.partial(job, method)]
        self._partial[stage] = results
        return results

    def _opened(self, key: str) -> Scores | None:
        """A result of the store; damaged ones and those of another version are passed over."""
        known = self._read.get(key)
        if known is not None:
            return known
        content = self._store.get(key)
        if content is None:
            return None
        try:
            scores = Scores.from_parquet(content)
            scores = methods.method(scores.provenance.method).upgraded(scores)
        except (StoreError, SettingError):
            return None
        self._read[key] = scores
        return scores


def _is_of(scores: Scores, card: ModelCard) -> bool:
    """Whether a result is one of a model's weights, under whatever name."""
    return scores.provenance.model.fingerprint == card.fingerprint


def _stage(job: Job) -> JobStage:
    return job.id, job.state, job.stage, job.done


def _same(before: Sequence[Scores], now: Sequence[Scores]) -> bool:
    """Whether they are the very same results."""
    return len(before) == len(now) and all(one is other for one, other in zip(before, now, strict=True))


def _instead(model: str, of_name: Sequence[Scores]) -> str:
    """What to do about a model that has no result: compute it, unless other weights of its name have some."""
    if not of_name:
        return f"Compute it: {methods.METHODS[0].command_line(model)}"
    fingerprints = sorted({scores.provenance.model.fingerprint[:8] for scores in of_name})
    return f"The weights with results here are others: {', '.join(fingerprints)}."


def _entry(scores: Scores, size: int) -> Listed:
    provenance = scores.provenance
    method = methods.method(provenance.method)
    return Listed(provenance, size, method.words(provenance), method.choice(provenance))


def _place(provenance: Provenance) -> tuple[str, int, str]:
    return provenance.model.id, methods.names().index(provenance.method), provenance.date


def _waiting(scores: Scores, reason: Missing) -> Scores:
    missing = scores.missing.where(scores.missing != Missing.NOT_COMPUTED, int(reason))
    return replace(scores, missing=missing.astype("int8"))
