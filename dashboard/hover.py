"""The numbers behind the maps, packed for the browser: hovering asks no server. Arrays run over layers, then heads."""

import base64
from typing import Any

import numpy as np

from analysis.results.scores import ONLY_SAMPLE, Floats, Missing, Scores
from dashboard.gates import LETTERS, ROLE_WORDS, role_codes
from dashboard.remember import remembered
from dashboard.select import ALL, Panel
from dashboard.state import ViewState

BEST = 3  # relations named in a tooltip
VERBS = {"promote": "promotes", "suppress": "suppresses"}
NO_CATEGORY = "Unclassified"


def packed(scores: Scores, panels: tuple[Panel, ...], state: ViewState) -> dict[str, Any]:
    """Every panel's labels and measures, and every head's best relations."""
    card = scores.provenance.model
    labels, label_of_panel = _labels(panels, state)
    sent = []
    for panel, label in zip(panels, label_of_panel, strict=True):
        sent.append(_panel(panel, label))
    return {
        "model": f"{card.id}@{card.fingerprint[:8]}",
        "layers": list(card.layers),
        "heads": card.heads,
        "across": state.heads_across,
        "upward": state.upward,
        "reasons": [reason.words for reason in Missing],
        "labels": labels,
        "panels": sent,
        "best": _best_relations(scores, state.kinds),
    }


def _labels(panels: tuple[Panel, ...], state: ViewState) -> tuple[list[dict[str, Any]], list[int | None]]:
    """What heads are called, and by which of these labels each panel calls them."""
    if not panels[0].of[1]:
        return [_categories(panels)], [0] * len(panels)
    labels: list[dict[str, Any]] = []
    numbers: list[int | None] = []
    for panel in panels:
        numbers.append(len(labels) if panel.measures else None)
        if panel.measures:
            labels.append({"words": list(ROLE_WORDS), "codes": _text(role_codes(panel, state.role))})
    return labels, numbers


def _categories(panels: tuple[Panel, ...]) -> dict[str, Any]:
    """The categories that each head belongs to, as words."""
    single = [panel for panel in panels if panel.key != ALL]
    combined = np.zeros(panels[0].value.shape, np.int64)
    for bit, panel in enumerate(single):
        combined |= panel.member.astype(np.int64) << bit
    present, codes = np.unique(combined, return_inverse=True)
    words = []
    for combination in present.tolist():
        titles = [panel.title for bit, panel in enumerate(single) if combination >> bit & 1]
        words.append(" · ".join(titles) or NO_CATEGORY)
    return {"words": words, "codes": _text(codes.astype("u1"))}


def _panel(panel: Panel, label: int | None) -> dict[str, Any]:
    measures = [_exact(panel.value)]
    if panel.of[1]:
        measures = [_rounded(name, values) for name, values in panel.measures]
    return {
        "key": panel.key,
        "title": panel.title,
        "reason": _text(panel.reason.astype("u1")) if panel.reason.any() else "",
        "label": label,
        "measures": measures,
    }


def _exact(values: Floats) -> dict[str, Any]:
    """A nameless measure in four bytes."""
    value = _text(values.astype("<f4"))
    return {"name": "", "type": "f4", "low": 0, "step": 1, "digits": 2, "ranked": True, "value": value}


def _rounded(name: str, values: Floats) -> dict[str, Any]:
    """A measure in two bytes, from `low` in steps of `step`: a score of a role, or a gradient."""
    filled = np.nan_to_num(values)
    is_score = name in LETTERS.values()
    low, high = (0.0, 1.0) if is_score else (float(filled.min()), float(filled.max()))
    step = (high - low) / 65535 or 1.0
    return {
        "name": name, "type": "u2", "low": low, "step": step, "digits": 2 if is_score else 4, "ranked": is_score,
        "value": _text(np.rint((filled - low) / step).astype("<u2")),
    }  # fmt: skip


@remembered(32)
def _best_relations(scores: Scores, kinds: tuple[str, ...]) -> dict[str, Any] | None:
    names = scores.items()
    if not names:
        return None
    best, kind = _best(scores, kinds)
    order = np.argsort(-best, axis=0, kind="stable")[:BEST]
    return {
        "count": len(order),
        "titles": [scores.item(name)["title"] for name in names],
        "verbs": list(VERBS.values()),
        "item": _text(order.astype("u1")),
        "verb": _text(np.take_along_axis(kind, order, 0).astype("u1")),
        "score": _text(np.take_along_axis(best, order, 0).astype("<f4")),
    }


def _best(scores: Scores, kinds: tuple[str, ...]) -> tuple[Any, Any]:
    """Of each relation and head the larger of its kinds, and which it is; [relation, layer, head]."""
    chosen = scores.score.sel(item=scores.items(), kind=list(kinds), sample=ONLY_SAMPLE).values
    filled = np.nan_to_num(chosen, nan=-1.0)
    which = filled.argmax(axis=1) if len(kinds) == 2 else np.full_like(filled[:, 0], kinds == ("suppress",))
    return filled.max(axis=1), which


def _text(array: Any) -> str:
    """An array in base64."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
