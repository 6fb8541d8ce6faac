"""The relations that every head does best."""

import numpy as np

from analysis.results.scores import Scores
from dashboard.cache import cached
from dashboard.maps.function.labels import chosen_labels
from dashboard.maps.tooltip import Best

PLACES = 3  # relations named in a tooltip
VERBS = {"promote": "promotes", "suppress": "suppresses"}
RANKED = {"promote": "highest", "suppress": "lowest"}  # where the head ranks a hit


@cached(16)
def best_relations(scores: Scores, kinds: tuple[str, ...]) -> Best | None:
    """For each head the relations with the highest scores, each by the larger of its kinds."""
    names = scores.items()
    if not names:
        return None
    labels = chosen_labels(scores, tuple(names), kinds)
    filled = np.nan_to_num(labels.score, nan=-1.0)  # [item, kind, layer, head]
    score, larger = filled.max(axis=1), filled.argmax(axis=1)  # [item, layer, head]
    order = np.argsort(-score, axis=0, kind="stable")[:PLACES]
    verb = np.take_along_axis(larger, order, 0)
    places = np.indices(order.shape)
    named = labels.at(order, verb, places[1], places[2])
    return Best(
        titles=tuple(scores.item(name).title for name in names),
        verbs=tuple(VERBS[kind] for kind in kinds),
        item=order.astype(np.uint8),
        verb=verb.astype(np.uint8),
        score=np.take_along_axis(score, order, 0),
        low=named.low,
        high=named.high,
    )
