"""The numbers behind the maps, packed for the browser: hovering asks no server."""

import base64
from typing import Any

import numpy as np

from analysis.scores import ONLY_SAMPLE, Missing, Scores
from dashboard.remember import remembered
from dashboard.select import Panel
from dashboard.state import ViewState

BEST = 3  # relations named in a tooltip


def packed(scores: Scores, panels: tuple[Panel, ...], state: ViewState) -> dict[str, Any]:
    """Every panel's values and every head's best relations. Arrays run over layers, then heads."""
    card = scores.provenance.model
    return {
        "model": f"{card.id}@{card.fingerprint[:8]}",
        "layers": list(card.layers),
        "heads": card.heads,
        "transpose": state.transpose,
        "panels": [
            {
                "key": panel.key,
                "title": panel.title,
                "value": _bytes(panel.value.astype("<f4")),
                "member": _bytes(panel.member.astype("u1")),
                "reason": _bytes(panel.reason.astype("u1")) if panel.reason.any() else "",
            }
            for panel in panels
        ],
        "reasons": [reason.words for reason in Missing],
        "relations": [scores.item(name)["title"] for name in scores.items()],
        **_best_relations(scores, state.kinds),
    }


@remembered(32)
def _best_relations(scores: Scores, kinds: tuple[str, ...]) -> dict[str, str]:
    best, kind = _best(scores, kinds)
    order = np.argsort(-best, axis=0, kind="stable")[:BEST] if len(best) else np.zeros((0, *best.shape[1:]), int)
    return {
        "best": _bytes(order.astype("u1")),
        "best_score": _bytes(np.take_along_axis(best, order, 0).astype("<f4")),
        "best_kind": _bytes(np.take_along_axis(kind, order, 0).astype("u1")),
    }


def _best(scores: Scores, kinds: tuple[str, ...]) -> tuple[Any, Any]:
    """Of each relation and head the larger of its kinds, and which it is; [relation, layer, head]."""
    chosen = scores.score.sel(item=scores.items(), kind=list(kinds), sample=ONLY_SAMPLE).values
    if not len(chosen):
        return chosen[:, 0], chosen[:, 0]
    filled = np.nan_to_num(chosen, nan=-1.0)
    which = filled.argmax(axis=1) if len(kinds) == 2 else np.full_like(filled[:, 0], kinds == ("suppress",))
    return filled.max(axis=1), which


def _bytes(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
