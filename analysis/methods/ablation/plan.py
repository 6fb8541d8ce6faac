"""Ablation of a model on some items as steps: a few prompts with every head off in turn, and a relation's curves."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from analysis import methods
from analysis.method import Step, digest
from analysis.methods.ablation.items import AblationItem, PromptItem, RelationItem, TaskItem
from analysis.methods.ablation.result import (
    KINDS,
    NAME,
    VERSION,
    AblationOrder,
    ItemResult,
    VariantAnswers,
    ablation_scores,
)
from analysis.models.card import HeadId, ModelCard
from analysis.models.open_model import OpenModel
from analysis.progress import Progress
from analysis.relations.plan import RelationPlan
from analysis.results.scores import Scores
from analysis.results.store import Store

CURVE_PROMPTS = 64  # at most, of a relation
CHUNK = 8  # prompts that are done at once: what a killed worker loses
DRAWS = 5  # of random heads
_DRAW_BASE = 20251118  # with the number of the draw it determines the order of random heads
_INSTEAD = {"zero": "zero", "mean": "its mean"}
_LONGEST = ((300, 30), (500, 50), (1_000, 100), (1_500, 150))  # a curve's heads for models of fewer heads than …


def curve_length(heads: int) -> int:
    """How many heads go off one after another in a model of so many."""
    for below, length in _LONGEST:
        if heads < below:
            return min(heads, length)
    return 250


@dataclass(frozen=True)
class CountStep:
    """Which prompts of an item a model can read."""

    key: str
    item: AblationItem
    most: int
    kind: str = "count"
    work: float = 0
    doing: str = ""

    @property
    def words(self) -> str:
        """Nothing to wait for."""
        return ""

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Their number, and that of all that could be used."""
        from analysis.methods.ablation.compute.steps import prompts_of

        prompts = prompts_of(model, self.item, self.most)
        yield self.key, json.dumps({"prompts": len(prompts.encoded), "kept": prompts.kept}).encode()


@dataclass(frozen=True)
class HeadsStep:
    """Some prompts of an item with each head off in turn."""

    key: str
    item: AblationItem
    instead: str  # one of KINDS
    positions: str
    most: int
    start: int
    prompts: int = 0  # of the item, of which this step has the next few
    kind: str = "heads"

    @property
    def words(self) -> str:
        """Which item."""
        return f"{self.item.title}: every head off (replaced by {_INSTEAD[self.instead]})"

    @property
    def doing(self) -> str:
        """The same, with how far it is."""
        first, last = self.start + 1, min(self.start + CHUNK, self.prompts)
        which = f"prompts {first}–{last}" if first < last else f"prompt {first}"
        return f"{self.words}, {which} of {self.prompts}"

    @property
    def work(self) -> float:
        """Prompts, in full steps."""
        return min(CHUNK, self.prompts - self.start) / CHUNK

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """The model stays open for the next."""
        from analysis.methods.ablation.compute.steps import worker

        yield self.key, worker(model).heads_off(self).to_bytes()


@dataclass(frozen=True)
class CurveStep:
    """A relation's prompts with more and more heads off where the target is predicted."""

    key: str
    item: AblationItem
    most: int
    heads: tuple[HeadId, ...]
    counted: str = ""  # which order of how many
    work: float = 1
    kind: str = "curve"

    @property
    def words(self) -> str:
        """Which item."""
        return f"{self.item.title}: one head after another off"

    @property
    def doing(self) -> str:
        """The same, with how far it is."""
        return f"{self.words}{self.counted}"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """The model stays open for the next."""
        from analysis.methods.ablation.compute.steps import worker

        yield self.key, worker(model).more_and_more_off(self).to_bytes()


@dataclass(frozen=True)
class AblationPlan:
    """Every head of a model off in turn on some items."""

    card: ModelCard
    items: tuple[AblationItem, ...]
    positions: str
    most: int  # prompts of an item
    wording: str
    curve: bool

    # ---- Names in the store ----------------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        """The name of the finished result."""
        items = [[item.name, item.hash] for item in self.items]
        return f"result/{self.card.fingerprint}/{NAME}/{self._hash('result', items, self.positions, self.curve)}"

    def _name(self, item: AblationItem, *part: Any) -> str:
        return f"unit/{self.card.fingerprint}/{NAME}/{self._hash(item.hash, *part)}"

    def _hash(self, *part: Any) -> str:
        return digest([VERSION, self.most, *part])

    def _heads_name(self, item: AblationItem, kind: str, start: int) -> str:
        return self._name(item, "heads", kind, self.positions, start)

    # ---- Steps -----------------------------------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Steps of all items, if every prompt can be read."""
        total = 0
        for item in self.items:
            total += 1 + len(KINDS) * len(range(0, self._available(item), CHUNK))
            if self._has_curve(item):
                total += sum(plan.total for _, plan in self._ordering(item)) + self._curves(item)
        return total

    def left(self, store: Store) -> int:
        """Steps that are still to be done."""
        left = 0
        for item in self.items:
            count = self._count(item, store)
            prompts = self._available(item) if count is None else count["prompts"]
            left += count is None
            for start in range(0, prompts, CHUNK):
                left += sum(not store.contains(self._heads_name(item, kind, start)) for kind in KINDS)
            if self._has_curve(item):
                left += self._curve_left(item, store)
        return left

    def ready(self, store: Store, at_once: int = 1) -> Sequence[Step]:
        """The steps that can be done now; none when all are done."""
        steps: list[Step] = []
        for item in self.items:
            count = self._count(item, store)
            if count is None:
                steps.append(CountStep(self._name(item, "count"), item, self.most))
                continue
            for kind in KINDS:
                for start in range(0, count["prompts"], CHUNK):
                    name = self._heads_name(item, kind, start)
                    if not store.contains(name):
                        step = HeadsStep(name, item, kind, self.positions, self.most, start, count["prompts"])
                        steps.append(step)
        for item in self.items:
            if self._has_curve(item) and self._count(item, store) is not None:
                steps += self._curve_steps(item, store, at_once)
        return steps

    def keep(self, step: Any, name: str, content: bytes, store: Store) -> None:
        """Everything stands under its own name."""
        store.put(name, content)

    def _count(self, item: AblationItem, store: Store) -> dict[str, int] | None:
        content = store.get(self._name(item, "count"))
        return None if content is None else json.loads(content)

    def _available(self, item: AblationItem) -> int:
        match item:
            case TaskItem():
                return min(self.most, len(item.task.validation))
            case RelationItem():
                return min(self.most, len(item.relation.pairs))
            case PromptItem():
                return 1

    # ---- Curves ----------------------------------------------------------------------------------------------------

    def _has_curve(self, item: AblationItem) -> bool:
        return self.curve and item.relation is not None

    def _ordering(self, item: AblationItem) -> list[tuple[str, RelationPlan]]:
        """The relation alone by every method whose map is read first, with the words for it."""
        if item.relation is None:
            return []
        plans = []
        for method in methods.relation_methods():
            if not method.judges:
                continue
            plan = method.plan(self.card, method.settings())
            plans.append((method.basis, replace(cast(RelationPlan, plan), relations=(item.relation,))))
        return plans

    def _curves(self, item: AblationItem) -> int:
        return len(self._ordering(item)) + DRAWS

    def _curve_left(self, item: AblationItem, store: Store) -> int:
        plans = self._ordering(item)
        left = sum(plan.left(store) for _, plan in plans)
        if left:
            return left + self._curves(item)
        return sum(not store.contains(self._curve_name(item, heads)) for _, _, heads in self._rankings(item, store))

    def _curve_steps(self, item: AblationItem, store: Store, at_once: int) -> list[Step]:
        """What the order needs, then the curves."""
        steps: list[Step] = []
        for _, plan in self._ordering(item):
            steps += plan.ready(store, at_once)
        if steps:
            return steps
        rankings = list(self._rankings(item, store))
        for number, (_, _, heads) in enumerate(rankings, start=1):
            name = self._curve_name(item, heads)
            if not store.contains(name):
                counted, work = f", order {number} of {len(rankings)}", self._curve_work(item)
                steps.append(CurveStep(name, item, CURVE_PROMPTS, heads, counted, work))
        return steps

    def _curve_work(self, item: AblationItem) -> float:
        """A curve in units of a full step of `HeadsStep`, in which every head is off in turn."""
        heads = len(self.card.layers) * self.card.heads
        prompts = min(CURVE_PROMPTS, len(item.relation.pairs)) if item.relation is not None else 0
        return prompts / CHUNK * curve_length(heads) / heads

    def pending(self, store: Store) -> dict[str, float]:
        """The work of every kind of step that is left."""
        work = {"count": 0.0, "heads": 0.0, "curve": 0.0}
        for item in self.items:
            count = self._count(item, store)
            prompts = self._available(item) if count is None else count["prompts"]
            for kind in KINDS:
                for start in range(0, prompts, CHUNK):
                    if not store.contains(self._heads_name(item, kind, start)):
                        work["heads"] += min(CHUNK, prompts - start) / CHUNK
            if self._has_curve(item):
                self._add_curve_work(item, store, work)
        return work

    def _add_curve_work(self, item: AblationItem, store: Store, work: dict[str, float]) -> None:
        """What the orders of a relation's heads need, and its curves."""
        waiting = 0
        for _, plan in self._ordering(item):
            waiting += plan.left(store)
            for kind, more in plan.pending(store).items():
                work[kind] = work.get(kind, 0.0) + more
        curves = self._curves(item) if waiting else self._curve_left(item, store)
        work["curve"] += curves * self._curve_work(item)

    def _curve_name(self, item: AblationItem, heads: Sequence[HeadId]) -> str:
        content = [VERSION, item.hash, "curve", CURVE_PROMPTS, [str(head) for head in heads]]
        return f"unit/{self.card.fingerprint}/{NAME}/{digest(content)}"

    def _rankings(self, item: AblationItem, store: Store) -> Iterator[tuple[str, str, tuple[HeadId, ...]]]:
        """Name, title and heads of each ranking, as far as the scores are there."""
        length = curve_length(len(self.card.layers) * self.card.heads)
        for title, plan in self._ordering(item):
            scores = plan.assembled(store, "")
            if scores is not None and not scores.score.isnull().all():
                best = scores.over_samples("mean").top(item.name, length)
                yield plan.name, title, tuple(head for head, _, _ in best)
        every = [HeadId(layer, head) for layer in self.card.layers for head in range(self.card.heads)]
        for draw in range(1, DRAWS + 1):
            drawn = np.random.default_rng([_DRAW_BASE, draw]).permutation(len(every))[:length]
            yield f"random {draw}", f"Random heads, draw {draw}", tuple(every[at] for at in drawn)

    # ---- The result ------------------------------------------------------------------------------------------------

    def assembled(self, store: Store, device: str) -> Scores:
        """The items that are finished; the others are not computed."""
        results = [self._item_result(item, store) for item in self.items]
        settings = {"positions": self.positions, "prompts": self.most, "wording": self.wording}
        return ablation_scores(self.card, results, settings, device)

    def remarks(self, store: Store) -> tuple[str, ...]:
        """Items on which the untouched model is never right, so that its accuracy cannot fall."""
        remarks = []
        for item in self.items:
            record = self._item_result(item, store).record()
            if record.accuracy == 0:
                title = item.described(0).title
                remarks.append(f"the untouched model is never right on {title}: read the log-probabilities alone")
        return tuple(remarks)

    def _item_result(self, item: AblationItem, store: Store) -> ItemResult:
        count = self._count(item, store) or {"prompts": 0, "kept": 0}
        answers = {}
        for kind in KINDS:
            names = [self._heads_name(item, kind, start) for start in range(0, count["prompts"], CHUNK)]
            contents = [content for content in map(store.get, names) if content is not None]
            if names and len(contents) == len(names):
                answers[kind] = VariantAnswers.from_bytes(*contents)
        curve = tuple(self._curve(item, store)) if self._has_curve(item) else ()
        return ItemResult(item.described(count["kept"]), answers, curve)

    def _curve(self, item: AblationItem, store: Store) -> Iterator[AblationOrder]:
        """Those that are there; nothing before the scores that give their order are complete."""
        if any(plan.left(store) for _, plan in self._ordering(item)):
            return
        for name, title, heads in self._rankings(item, store):
            content = store.get(self._curve_name(item, heads))
            if content is not None:
                answers = VariantAnswers.from_bytes(content)
                accuracy = [answers.own_right.mean(), *answers.right.mean(0)]
                log_prob = [answers.own_log_probs.mean(), *answers.log_probs.mean(0)]
                yield AblationOrder(
                    name=name,
                    title=title,
                    prompts=len(answers.own_right),
                    heads=tuple(str(head) for head in heads),
                    accuracy=tuple(round(float(value), 4) for value in accuracy),
                    log_prob=tuple(round(float(value), 4) for value in log_prob),
                )
