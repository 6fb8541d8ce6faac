"""What ablation gives: changes of log-probability as scores, of accuracy as parts, curves as records."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from analysis.models.card import HeadId, ModelCard
from analysis.results.intervals import discoveries, t_quantile, t_tail
from analysis.results.provenance import PlainValues, Provenance, ScoredItem
from analysis.results.record import Record
from analysis.results.scores import DIMS, ONLY_SAMPLE, Floats, Missing, Scores, part_array, ranks

NAME = "ablation"
POSITION_WORDS = {"last": "the last token", "all": "every token"}  # where heads are switched off
WORDING_WORDS = {"examples": "after worked examples", "templates": "in neutral phrases"}  # how relations are asked for
VERSION = "1"  # raise whenever a score may come out differently
KINDS = ("zero", "mean")  # what stands in the place of a head's output
BOTH = "both"  # a head matters whichever stands in its place
LEAST_CHANGE = 0.1  # nats: a change of the probability by a tenth, from which a head is said to matter
_LEAST_TIED = 3  # heads in the order of the layers that are no chance
ACCURACY, ERROR = "accuracy", "error"  # parts, one for each kind: "accuracy zero" …


class AblationOrder(Record):
    """Heads that go off one after another, and what is left of the model's answers."""

    name: str  # of the method whose scores give the order, or "random 1" …
    title: str
    prompts: int
    heads: tuple[str, ...]  # in this order
    accuracy: tuple[float, ...]  # with none of them off, with the first, with the first two …
    log_prob: tuple[float, ...]  # mean over the prompts, of the target

    def scored(self, card: ModelCard) -> int:
        """How many heads the scores have put in order: all others have equal ones and follow layer by layer."""
        for start in range(len(self.heads) - _LEAST_TIED + 1):
            before = set(self.heads[:start])
            left = (name for name in _head_names(card) if name not in before)
            if all(name == next(left) for name in self.heads[start:]):
                return start
        return len(self.heads)


def _head_names(card: ModelCard) -> Iterator[str]:
    """All heads of a model, layer by layer."""
    for layer in card.layers:
        for head in range(card.heads):
            yield str(HeadId(layer, head))


class ItemRecord(Record):
    """What was measured on an item beside its heads."""

    prompts: int = 0
    accuracy: float | None = None  # of the untouched model
    log_prob: float | None = None
    curve: tuple[AblationOrder, ...] = ()


def record_of(scores: Scores, item: str) -> ItemRecord:
    """What was measured on an item; empty where nothing was."""
    return ItemRecord.model_validate(scores.records.get(item, {}))


def run_name(settings: PlainValues) -> str:
    """The short name of the results whose heads were switched off in the same way, such as `last-24-examples`."""
    names = ("positions", "prompts", "wording")
    return "-".join(str(settings[name]) for name in names) if set(names) <= set(settings) else ""


def run_words(name: str) -> str:
    """What such a name stands for."""
    if name.count("-") != 2:
        return name
    positions, prompts, wording = name.split("-")
    return f"at {POSITION_WORDS[positions]}, {prompts} prompts, relations {WORDING_WORDS[wording]}"


def part_name(part: str, kind: str) -> str:
    """The name of a part for one kind of ablation."""
    return f"{part} {kind}"


@dataclass(frozen=True)
class VariantAnswers:
    """How well P prompts are answered, with each of V variants and untouched."""

    log_probs: Floats  # [P, V] of the whole target
    right: Floats  # [P, V] 1 where every token of it is the likeliest
    own_log_probs: Floats  # [P]
    own_right: Floats  # [P]

    def to_bytes(self) -> bytes:
        """A compressed file of plain arrays."""
        sink = io.BytesIO()
        np.savez_compressed(
            sink,
            log_probs=self.log_probs.astype(np.float32),
            right=self.right.astype(bool),
            own_log_probs=self.own_log_probs.astype(np.float32),
            own_right=self.own_right.astype(bool),
        )
        return sink.getvalue()

    @classmethod
    def from_bytes(cls, *contents: bytes) -> "VariantAnswers":
        """The inverse of `to_bytes`, of several groups of prompts."""
        groups: dict[str, list[Any]] = {name: [] for name in cls.__dataclass_fields__}
        for content in contents:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                for name, group in groups.items():
                    group.append(arrays[name].astype(np.float64))
        return cls(**{name: np.concatenate(group) for name, group in groups.items()})

    def change(self) -> Floats:  # [V]
        """The change of the target's log-probability, mean over the prompts."""
        mean: Floats = (self.log_probs - self.own_log_probs[:, None]).mean(0)
        return mean

    def error(self) -> Floats:  # [V]
        """The standard error of that mean; none of a single prompt."""
        count = len(self.log_probs)
        if count < 2:
            return np.full(self.log_probs.shape[1], np.nan)
        spread: Floats = (self.log_probs - self.own_log_probs[:, None]).std(0, ddof=1)
        error: Floats = spread / np.sqrt(count)
        return error

    def accuracy_change(self) -> Floats:  # [V]
        """The change of the share of prompts with a correct answer."""
        mean: Floats = self.right.mean(0) - self.own_right.mean()
        return mean


@dataclass(frozen=True)
class ItemResult:
    """All that is known of one item."""

    item: ScoredItem
    answers: Mapping[str, VariantAnswers]  # by kind; V = all heads, layer by layer
    curve: tuple[AblationOrder, ...] = ()

    def record(self) -> ItemRecord:
        """What has not one value per head."""
        some = next(iter(self.answers.values()), None)
        if some is None:
            return ItemRecord(curve=self.curve)
        return ItemRecord(
            prompts=len(some.own_right),
            accuracy=round(float(some.own_right.mean()), 6),
            log_prob=round(float(some.own_log_probs.mean()), 6),
            curve=self.curve,
        )


def ablation_scores(card: ModelCard, results: Sequence[ItemResult], settings: PlainValues, device: str) -> Scores:
    """The result of some items."""
    provenance = Provenance.now(card, NAME, VERSION, settings, tuple(result.item for result in results), device)
    grid = (len(card.layers), card.heads)
    score = np.full((len(results), len(KINDS), 1, *grid), np.nan)
    parts = {
        part_name(part, kind): np.full((len(results), 1, *grid), np.nan) for part in (ACCURACY, ERROR) for kind in KINDS
    }
    for at, result in enumerate(results):
        for kind, answers in result.answers.items():
            score[at, KINDS.index(kind), 0] = answers.change().reshape(grid)
            parts[part_name(ACCURACY, kind)][at, 0] = answers.accuracy_change().reshape(grid)
            parts[part_name(ERROR, kind)][at, 0] = answers.error().reshape(grid)
    missing = np.where(np.isnan(score), Missing.NOT_COMPUTED, Missing.PRESENT).astype(np.int8)
    names = [result.item.name for result in results]
    labels = (names, list(KINDS), [ONLY_SAMPLE], list(card.layers), list(range(card.heads)))
    coords = dict(zip(DIMS, labels, strict=True))
    return Scores(
        score=xr.DataArray(score, coords, DIMS),
        hits=xr.DataArray(np.full_like(score, np.nan), coords, DIMS),
        missing=xr.DataArray(missing, coords, DIMS),
        provenance=provenance,
        parts={name: part_array(provenance, (ONLY_SAMPLE,), values) for name, values in parts.items()},
        records={result.item.name: result.record().model_dump(mode="json") for result in results},
    )


def margin(scores: Scores, item: str, kind: str, cell: tuple[int, int]) -> float | None:
    """Half of a change's 95 % interval: wherever a change stands with ±, it is this; none of a single prompt."""
    error = scores.part(part_name(ERROR, kind), item)
    prompts = record_of(scores, item).prompts
    if error is None or np.isnan(error[cell]) or prompts < 2:
        return None
    return t_quantile(prompts - 1) * float(error[cell])


def place_words(changes: Floats, cell: tuple[int, int]) -> str:
    """A head's rank among all: 1 for the largest loss; of a gain from the other end, which is then said."""
    if np.isnan(changes[cell]):
        return ""
    is_gain = bool(changes[cell] > 0)
    rank = int(ranks(changes if is_gain else -changes)[cell])
    return f"{rank} by gain" if is_gain else str(rank)


def told_from_none(scores: Scores, kind: str) -> xr.DataArray:  # [item, layer, head]
    """Which changes are told from none: by Student's t over the prompts, with false discoveries among all heads."""
    change = scores.score.sel(kind=kind, sample=ONLY_SAMPLE, drop=True)
    error = scores.parts[part_name(ERROR, kind)].sel(sample=ONLY_SAMPLE, drop=True)
    told = xr.zeros_like(change, dtype=bool)
    for item in scores.items():
        freedom = record_of(scores, item).prompts - 1
        if freedom > 0:
            p = change_p(change.sel(item=item).values, error.sel(item=item).values, freedom)
            told.loc[{"item": item}] = discoveries(p)
    return told


def change_p(change: Floats, error: Floats, freedom: int) -> Floats:
    """How likely a change so large is when a head makes no difference; NaN where its error is not known."""
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(change == 0, 0.0, change / error)
    return np.where(np.isnan(error), np.nan, t_tail(t, freedom))


def sure_changes(scores: Scores, replaced: str = KINDS[0]) -> xr.DataArray:  # [item, layer, head]
    """How much the log-probability changes without a head, whichever way; 0 where it may as well not change.

    The head's output is replaced by zero or by its mean; with `both` a change counts that both make in the same
    direction, and the smaller of the two.
    """
    if replaced != BOTH:
        return _sure(scores, replaced)
    first, second = (scores.score.sel(kind=kind, sample=ONLY_SAMPLE, drop=True) for kind in KINDS)
    zeroed, averaged = (_sure(scores, kind) for kind in KINDS)
    smaller = zeroed.where(~(zeroed > averaged), averaged)
    return smaller.where((np.sign(first) == np.sign(second)) | smaller.isnull(), 0.0)


def _sure(scores: Scores, kind: str) -> xr.DataArray:  # [item, layer, head]
    change = abs(scores.score.sel(kind=kind, sample=ONLY_SAMPLE, drop=True))
    return change.where(told_from_none(scores, kind) | change.isnull(), 0.0)
