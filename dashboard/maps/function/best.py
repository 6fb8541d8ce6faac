"""The relations that every head does best."""

import numpy as np

from analysis.relations.labels import copy_like, unspecific
from analysis.results.scores import Scores
from dashboard.cache import cached
from dashboard.maps.function.labels import COPY_LIKE, UNSPECIFIC, chosen_labels
from dashboard.maps.tooltip import Best

PLACES = 3  # relations named in a tooltip
VERBS = {"promote": "promotes", "suppress": "suppresses"}
RANKED = {"promote": "highest", "suppress": "lowest"}  # where the head ranks a hit


REMARKS = ("", COPY_LIKE, UNSPECIFIC, f"{COPY_LIKE}, {UNSPECIFIC}")  # by whether it is the one, twice whether the other


@cached(16)
def best_relations(scores: Scores, kinds: tuple[str, ...], tau: float) -> Best | None:
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
    remark = copy_like(named.beyond) + 2 * unspecific(named.control, tau)
    return Best(
        titles=tuple(scores.item(name).title for name in names),
        verbs=tuple(VERBS[kind] for kind in kinds),
        item=order.astype(np.uint8),
        verb=verb.astype(np.uint8),
        score=np.take_along_axis(score, order, 0),
        low=named.low,
        high=named.high,
        remarks=REMARKS,
        remark=np.where(named.score > tau, remark, 0).astype(np.uint8),
    )
