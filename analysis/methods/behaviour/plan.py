"""Behaviour as steps: one run on random tokens, one on text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from analysis.method import digest
from analysis.methods.behaviour.measures import (
    MEASURED,
    MEASURES,
    NAME,
    RANDOM,
    SCORE,
    TEXT,
    VERSION,
    BehaviourMeasure,
    measures,
)
from analysis.methods.behaviour.paragraphs import PARAGRAPHS
from analysis.methods.behaviour.settings import BehaviourSettings
from analysis.models.card import ModelCard
from analysis.models.open_model import OpenModel
from analysis.models.vocabulary import Vocabulary
from analysis.progress import Progress
from analysis.results.provenance import JsonObject, Provenance, ScoredItem
from analysis.results.scores import DIMS, ONLY_SAMPLE, Floats, Missing, Scores, part_array
from analysis.results.store import Store


@dataclass(frozen=True)
class BehaviourStep:
    """One run of the model."""

    key: str
    on: str  # RANDOM or TEXT
    settings: BehaviourSettings

    @property
    def words(self) -> str:
        """What the model reads."""
        return "reading random tokens" if self.on == RANDOM else "reading text"

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """One piece: float64 [score or measured, measure, layer, head]."""
        from analysis.compute.weights import Weights, memory_of, open_device
        from analysis.methods.behaviour.compute.runs import run_random, run_text

        weights = Weights(model.checkpoint, open_device(model.device))
        model.device_name = weights.device_name
        vocabulary = Vocabulary.open(model.checkpoint.folder)
        run = run_random if self.on == RANDOM else run_text
        with memory_of(weights.device):
            numbers = run(weights, vocabulary, self.settings, progress)
        yield self.key, numbers.astype("<f8").tobytes()


@dataclass(frozen=True)
class BehaviourPlan:
    """All layers of a model."""

    card: ModelCard
    settings: BehaviourSettings

    @property
    def key(self) -> str:
        """The name of the finished result."""
        return f"result/{self.card.fingerprint}/{NAME}/{self._hash('all')}"

    def run_name(self, on: str) -> str:
        """The name of one run's numbers."""
        return f"unit/{self.card.fingerprint}/{NAME}/{self._hash(on)}"

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Runs."""
        return 2

    def left(self, store: Store) -> int:
        """Runs that are not in the store."""
        return len(self.ready(store))

    def ready(self, store: Store, at_once: int = 1) -> Sequence[BehaviourStep]:
        """The runs that are not in the store."""
        steps = []
        for on in (RANDOM, TEXT):
            name = self.run_name(on)
            if not store.contains(name):
                steps.append(BehaviourStep(name, on, self.settings))
        return steps

    def keep(self, step: Any, name: str, content: bytes, store: Store) -> None:
        """Runs stand under their own names."""
        store.put(name, content)

    def assembled(self, store: Store, device: str) -> Scores | None:
        """The runs that are in the store so far; nothing when there is none."""
        heads = (len(self.card.layers), self.card.heads)
        numbers = np.full((2, len(MEASURES), *heads), np.nan)
        for on in (RANDOM, TEXT):
            content = store.get(self.run_name(on))
            if content is not None:
                places = [MEASURES.index(measure) for measure in measures(on)]
                numbers[:, places] = np.frombuffer(content, "<f8").reshape(2, len(places), *heads)
        return None if np.isnan(numbers).all() else self._scores(numbers, device)

    def remarks(self, store: Store) -> tuple[str, ...]:
        """There are no remarks."""
        return ()

    def _scores(self, numbers: Floats, device: str) -> Scores:  # [2, measure, layer, head]
        settings = {**self.settings.model_dump(), "paragraphs": len(PARAGRAPHS)}
        items = tuple(_item(measure) for measure in MEASURES)
        provenance = Provenance.now(self.card, NAME, VERSION, settings, items, device)
        names = [item.name for item in items]
        labels = (names, [SCORE], [ONLY_SAMPLE], list(self.card.layers), list(range(self.card.heads)))
        coords = dict(zip(DIMS, labels, strict=True))
        score = numbers[0][:, None, None]
        missing = np.where(np.isnan(score), Missing.NOT_COMPUTED, Missing.PRESENT).astype(np.int8)
        arrays = [xr.DataArray(values, coords, DIMS) for values in (score, np.full(score.shape, np.nan), missing)]
        parts = {MEASURED: part_array(provenance, [ONLY_SAMPLE], numbers[1])}
        records = {measure.name: _record(measure) for measure in MEASURES}
        return Scores(arrays[0], arrays[1], arrays[2], provenance, parts, records)

    def _hash(self, part: str) -> str:
        content = [self.card.fingerprint, NAME, VERSION, self.settings.model_dump(), PARAGRAPHS, part]
        return digest(content)


def _item(measure: BehaviourMeasure) -> ScoredItem:
    return ScoredItem(measure.name, measure.title, NAME, measure.sentence)


def _record(measure: BehaviourMeasure) -> JsonObject:
    return {"unit": measure.unit, "threshold": measure.threshold, "on": measure.on}
