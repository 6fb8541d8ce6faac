"""The relations that every head does best."""

import numpy as np

from analysis.results.scores import ONLY_SAMPLE, Scores
from dashboard.cache import cached
from dashboard.maps.tooltip import Best

PLACES = 3  # relations named in a tooltip
VERBS = {"promote": "promotes", "suppress": "suppresses"}
RANKED = {"promote": "highest", "suppress": "lowest"}  # where the head ranks a hit


@cached(32)
def best_relations(scores: Scores, kinds: tuple[str, ...]) -> Best | None:
    """For each head the relations with the highest scores, each by the larger of its kinds."""
    names = scores.items()
    if not names:
        return None
    chosen = scores.score.sel(item=names, kind=list(kinds), sample=ONLY_SAMPLE).values  # [item, kind, layer, head]
    filled = np.nan_to_num(chosen, nan=-1.0)
    score, verb = filled.max(axis=1), filled.argmax(axis=1)  # [item, layer, head]
    order = np.argsort(-score, axis=0, kind="stable")[:PLACES]
    return Best(
        titles=tuple(scores.item(name).title for name in names),
        verbs=tuple(VERBS[kind] for kind in kinds),
        item=order.astype(np.uint8),
        verb=np.take_along_axis(verb, order, 0).astype(np.uint8),
        score=np.take_along_axis(score, order, 0),
    )
