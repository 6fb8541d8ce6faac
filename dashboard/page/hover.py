"""The numbers behind the maps, packed for the browser: hovering asks no server."""

import base64
from typing import Any

import numpy as np

from analysis.results.scores import ONLY_SAMPLE, Floats, Missing, Scores
from dashboard.cache import cached
from dashboard.maps.causal.gates import LETTERS, ROLE_WORDS, role_codes
from dashboard.maps.function.panels import Panel
from dashboard.state import ViewState

BEST = 3  # relations named in a tooltip


def packed(scores: Scores, panels: tuple[Panel, ...], state: ViewState) -> dict[str, Any]:
    """Every panel's values and every head's best relations. Arrays run over layers, then heads."""
    card = scores.provenance.model
    return {
        "model": f"{card.id}@{card.fingerprint[:8]}",
        "layers": list(card.layers),
        "heads": card.heads,
        "across": state.heads_across,
        "upward": state.upward,
        "panels": [_panel(panel, state) for panel in panels],
        "roles": list(ROLE_WORDS),
        "reasons": [reason.words for reason in Missing],
        "relations": [scores.item(name)["title"] for name in scores.items()],
        **_best_relations(scores, state.kinds),
    }


def _panel(panel: Panel, state: ViewState) -> dict[str, Any]:
    """A panel's numbers: the score that decides, or the named ones of the causal map with the role they give."""
    common = {
        "key": panel.key,
        "title": panel.title,
        "reason": _bytes(panel.reason.astype("u1")) if panel.reason.any() else "",
    }
    if not panel.of[1]:
        return {**common, "value": _bytes(panel.value.astype("<f4")), "member": _bytes(panel.member.astype("u1"))}
    return {
        **common,
        "role": _bytes(role_codes(panel, state.role)),
        "measures": [_measure(name, values) for name, values in panel.measures],
    }


def _measure(name: str, values: Floats) -> dict[str, Any]:
    """Numbers in two bytes each, from `low` in steps of `step`."""
    known = np.nan_to_num(values)
    low, high = (0.0, 1.0) if name in LETTERS.values() else (float(known.min()), float(known.max()))
    step = (high - low) / 65535 or 1.0
    return {"name": name, "low": low, "step": step, "value": _bytes(np.rint((known - low) / step).astype("<u2"))}


@cached(32)
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
