"""What one layer's heads score for some relations: what a step gives, the store keeps and a map is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from analysis.models.card import ModelCard
from analysis.relations.scores import KINDS
from analysis.results.provenance import Provenance
from analysis.results.scores import ONLY_SAMPLE, Floats, Missing, Scores, part_array, scores_of

PARTS = ("beyond", "copied", "control")


@dataclass(frozen=True)
class RelationLayer:
    """Numbers [applicable relation, kind, head] of a layer; NaN where something was not measured.

    β needs a hit; β and the copied share say nothing about relations of copying; the copied share and the control are
    measured only where the score reaches the floor of `analysis.relations.scores`.
    """

    hits: Floats  # how many pairs have their target among the k
    beyond: Floats  # β: of these, the share whose target outranks the source itself
    copied: Floats  # the share of all pairs whose source itself is among the k
    control: Floats  # the score with the targets shuffled among the relation's pairs: the mean of several draws

    @classmethod
    def of_hits(cls, hits: Floats) -> Self:
        """Hits alone."""
        none = np.full(hits.shape, np.nan)
        return cls(np.asarray(hits, np.float64), none, none, none)

    def to_bytes(self) -> bytes:
        """As the store keeps it."""
        return np.stack([self.hits, self.beyond, self.copied, self.control]).astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, content: bytes, relations: int, card: ModelCard) -> Self:
        """The inverse of `to_bytes`."""
        return cls(*np.frombuffer(content, "<f8").reshape(4, relations, len(KINDS), card.heads))


Layers = Mapping[tuple[str, int], RelationLayer]  # by sample and layer


def scores_of_layers(layers: Layers, samples: Sequence[str], provenance: Provenance) -> Scores:
    """One result of the layers that there are; the others are *not computed*."""
    card, items = provenance.model, provenance.items
    shape = (len(items), len(KINDS), len(samples), len(card.layers), card.heads)
    numbers = {name: np.full(shape, np.nan) for name in ("hits", *PARTS)}
    missing = np.full(shape, Missing.NOT_COMPUTED, dtype=np.int8)
    applicable = [place for place, item in enumerate(items) if item.applicable]
    for (sample, layer), of_layer in layers.items():
        at = (samples.index(sample), card.layers.index(layer))
        for name, values in numbers.items():
            values[applicable, :, *at] = getattr(of_layer, name)
        missing[applicable, :, *at] = Missing.PRESENT
    missing[[place for place in range(len(items)) if place not in applicable]] = Missing.NOT_APPLICABLE
    kept = np.array([max(item.kept, 1) for item in items])[:, None, None, None, None]
    parts = {}
    for name in PARTS:
        if not np.isnan(numbers[name]).all():
            for index, kind in enumerate(KINDS):
                parts[part_name(name, kind)] = part_array(provenance, samples, numbers[name][:, index])
    return scores_of(numbers["hits"] / kept, numbers["hits"], missing, provenance, samples, KINDS, parts)


def part_name(name: str, kind: str) -> str:
    """The name under which a result holds one of `PARTS` of a kind of score."""
    return f"{name} {kind}"


def scores_of_hits(hits: Mapping[int, Floats], provenance: Provenance) -> Scores:
    """The same from the hits of each layer alone, of a method that does not sample."""
    layers = {(ONLY_SAMPLE, layer): RelationLayer.of_hits(of_layer) for layer, of_layer in hits.items()}
    return scores_of_layers(layers, (ONLY_SAMPLE,), provenance)
