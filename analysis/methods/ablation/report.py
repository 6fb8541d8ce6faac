"""What ablation says, for scripts and for a terminal."""

from collections.abc import Sequence

import numpy as np

from analysis.methods.ablation.result import (
    ACCURACY,
    BOTH,
    ERROR,
    KINDS,
    LEAST_CHANGE,
    POSITION_WORDS,
    AblationOrder,
    margin,
    part_name,
    place_words,
    record_of,
    sure_changes,
)
from analysis.models.card import HeadId, ModelCard
from analysis.results.intervals import RATE, wilson
from analysis.results.provenance import JsonObject, ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Floats, Scores

SHOWN = 5  # heads of an item
_MARKS = (0, 1, 2, 3, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 250)  # heads off, in a printed curve
_RANDOM = "random"


def ablation_data(scores: Scores) -> JsonObject:
    """A summary as plain data."""
    items = []
    for item in scores.provenance.items:
        record = record_of(scores, item.name)
        ablated = {kind: [_loss(scores, item, kind, head) for head in _largest(scores, item, kind)] for kind in KINDS}
        facts = {"largest": ablated, "matter": matter_counts(scores, item)}
        items.append({**item.to_plain(), **record.model_dump(mode="json"), **facts})
    provenance = scores.provenance
    return {"model": provenance.model.to_dict(), "settings": dict(provenance.settings), "items": items}


def ablation_text(scores: Scores) -> str:
    """The same for a terminal."""
    card, settings = scores.provenance.model, scores.provenance.settings
    positions = POSITION_WORDS[settings["positions"]]
    lines = [
        f"{card.id} {card.revision[:12]} · {len(card.layers)} layers × {card.heads} heads",
        f"heads switched off at {positions} · at most {settings['prompts']} prompts of each",
    ]
    for item in scores.provenance.items:
        record = record_of(scores, item.name)
        lines += ["", f"{item.title}: {record.prompts} prompts"]
        if record.accuracy is not None:
            lines[-1] += f", untouched accuracy {record.accuracy:.3f}, log-probability {record.log_prob:.3f}"
        for kind in KINDS:
            losses = [_loss(scores, item, kind, head) for head in _largest(scores, item, kind)]
            words = [f"{one['head']} {_measured(scores, item, kind, one)}" for one in losses]
            lines.append(f"  {kind:<5} {'  '.join(words)}")
        if record.curve:
            lines += ["", *curve_lines(record.curve, card)]
        lines += [f"  {counted}" for counted in _counts(scores, item)]
    lines += ["", "change of the target's log-probability ± its 95 % interval (and of accuracy) when the head is off"]
    return "\n".join(lines)


def _measured(scores: Scores, item: ScoredItem, kind: str, loss: JsonObject) -> str:
    head = HeadId.parse(loss["head"])
    half = margin(scores, item.name, kind, (scores.provenance.model.layers.index(head.layer), head.head))
    return f"{loss['log_prob']:+.3f}{'' if half is None else f' ± {half:.3f}'} ({loss['accuracy']:+.3f})"


def matter_counts(scores: Scores, item: ScoredItem) -> JsonObject:
    """How many heads change the log-probability by the least that matters, and are told from none; by kind."""
    counts: JsonObject = {}
    for kind in (*KINDS, BOTH):
        sure = sure_changes(scores, kind).sel(item=item.name).values >= LEAST_CHANGE
        values = _values(scores, item, KINDS[0] if kind == BOTH else kind)
        counts[kind] = {"costs": int((sure & (values < 0)).sum()), "gains": int((sure & (values > 0)).sum())}
    return counts


def _counts(scores: Scores, item: ScoredItem) -> list[str]:
    """The same in words; nothing of a single prompt, which has no errors."""
    if record_of(scores, item.name).prompts < 2:
        return []
    parts = []
    for kind, number in matter_counts(scores, item).items():
        parts.append(f"{kind} {number['costs'] + number['gains']} ({number['gains']} of them by gain)")
    least = f"{LEAST_CHANGE:g} nats, {RATE:.0%} false discoveries"
    return [f"heads that matter ({least}): {', '.join(parts)}"]


def mean_of_draws(curve: Sequence[AblationOrder]) -> tuple[Floats, Floats, Floats] | None:
    """Accuracy with random heads off: mean, least and most over the draws, [heads off]."""
    draws = [order.accuracy for order in curve if order.name.startswith(_RANDOM)]
    if not draws:
        return None
    values = np.array(draws)
    return values.mean(0), values.min(0), values.max(0)


def curve_lines(curve: Sequence[AblationOrder], card: ModelCard) -> list[str]:
    """Accuracy by heads off, one column per order with 95 % intervals; a table in Markdown too.

    A dagger stands where some of the heads that are off have equal scores, which follow layer by layer.
    """
    named = [order for order in curve if not order.name.startswith(_RANDOM)]
    random = mean_of_draws(curve)
    titles = [f"by {order.title.lower()}" for order in named]
    header = ["heads off", *titles, *(["random (min–max)"] if random else [])]
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    length = max(len(order.accuracy) for order in curve)
    for mark in _MARKS:
        if mark >= length:
            break
        cells = [_curve_cell(order, mark, card) for order in named]
        if random:
            mean, least, most = (values[mark] for values in random)
            cells.append(f"{mean:.3f} ({least:.3f}–{most:.3f})")
        lines.append(f"| {mark} | {' | '.join(cells)} |")
    for order in named:
        scored = order.scored(card)
        rest = (
            f" († from head {scored + 1} on: equal scores, in the layers' order)" if scored < len(order.heads) else ""
        )
        lines.append(f"{order.title}: {', '.join(order.heads[:8])} …{rest}")
    return lines


def _curve_cell(order: AblationOrder, mark: int, card: ModelCard) -> str:
    if mark >= len(order.accuracy):
        return "–"
    low, high = wilson(order.accuracy[mark] * order.prompts, order.prompts)
    return f"{order.accuracy[mark]:.3f} ({low:.2f}–{high:.2f}){'†' if mark > order.scored(card) else ''}"


def head_losses(scores: Scores, head: HeadId) -> list[JsonObject]:
    """What every item loses without one head, and its rank: 1 for the head whose loss is the largest."""
    listed = []
    for item in scores.provenance.items:
        for kind in KINDS:
            loss = _loss(scores, item, kind, head)
            if loss["log_prob"] is not None:
                listed.append({"item": item.name, "title": item.title, "kind": kind, **loss})
    return listed


def head_lines(scores: Scores, head: HeadId) -> list[str]:
    """The same for a terminal."""
    lines = ["when it is off (change of the target's log-probability ± its 95 % interval, of accuracy)"]
    cell = (scores.provenance.model.layers.index(head.layer), head.head)
    for loss in head_losses(scores, head):
        half = margin(scores, loss["item"], loss["kind"], cell)
        error = "" if half is None else f" ± {half:.3f}"
        place = place_words(_values(scores, scores.item(loss["item"]), loss["kind"]), cell)
        words = f"{loss['log_prob']:+.3f}{error}, {loss['accuracy']:+.3f}, rank {place}"
        lines.append(f"  {loss['title']}, {loss['kind']}: {words}")
    return lines


def _values(scores: Scores, item: ScoredItem, kind: str) -> Floats:  # [layer, head]
    values: Floats = scores.score.sel(item=item.name, kind=kind, sample=ONLY_SAMPLE).values
    return values


def _largest(scores: Scores, item: ScoredItem, kind: str) -> list[HeadId]:
    """The heads without which the target loses most."""
    values, card = _values(scores, item, kind), scores.provenance.model
    if np.isnan(values).all():
        return []
    best = np.argsort(values.ravel(), kind="stable")[:SHOWN]
    return [HeadId(card.layers[at // card.heads], int(at % card.heads)) for at in best]


def _loss(scores: Scores, item: ScoredItem, kind: str, head: HeadId) -> JsonObject:
    values, layer = _values(scores, item, kind), scores.provenance.model.layers.index(head.layer)
    own = values[layer, head.head]
    parts = {}
    for part in (ACCURACY, ERROR):
        array = scores.part(part_name(part, kind), item.name)
        parts[part] = None if array is None or np.isnan(array[layer, head.head]) else float(array[layer, head.head])
    return {
        "head": str(head),
        "log_prob": None if np.isnan(own) else float(own),
        **parts,
        "rank": None if np.isnan(own) else int((values < own).sum()) + 1,
    }
