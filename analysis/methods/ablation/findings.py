"""What ablation supports about a head, in words: what is lost, or gained, when it is switched off."""

import numpy as np

from analysis.methods.ablation.result import (
    ACCURACY,
    KINDS,
    LEAST_CHANGE,
    NAME,
    POSITION_WORDS,
    margin,
    part_name,
    place_words,
    record_of,
    sure_changes,
    told_from_none,
)
from analysis.models.card import HeadId
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.provenance import ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Floats, Scores

_LISTED = 12  # heads of an item
_KIND, _MEAN = KINDS
_NEEDED, _HURTS = "ablation need needs needed for", "ablation hurt hurts"  # words of a question about such heads


def ablation_findings(scores: Scores, head: HeadId) -> list[Finding]:
    """A sentence for each item that changes clearly without the head, the largest change first."""
    cell = (scores.provenance.model.layers.index(head.layer), head.head)
    sure = sure_changes(scores)
    findings = []
    for item in scores.provenance.items:
        if float(sure.sel(item=item.name).values[cell]) >= LEAST_CHANGE:
            findings.append(_finding(scores, item, cell))
    return sorted(findings, key=lambda finding: finding.order)


def ablation_answers(scores: Scores, question: SearchQuestion) -> list[Finding]:
    """The heads without which the items change most that a question names."""
    sure = sure_changes(scores)
    findings = []
    for item in scores.provenance.items:
        changes, sizes = _changes(scores, item), sure.sel(item=item.name).values
        for place in np.argsort(-np.nan_to_num(sizes), axis=None, kind="stable")[:_LISTED]:
            layer, head = (int(at) for at in np.unravel_index(place, sizes.shape))
            words = _NEEDED if changes[layer, head] < 0 else _HURTS
            if sizes[layer, head] >= LEAST_CHANGE and question.is_about(f"{item.title} {item.name} {words}"):
                findings.append(_finding(scores, item, (layer, head)))
    return sorted(findings, key=lambda finding: finding.order)


def _changes(scores: Scores, item: ScoredItem, kind: str = _KIND) -> Floats:  # [layer, head]
    return np.asarray(scores.score.sel(item=item.name, kind=kind, sample=ONLY_SAMPLE).values, dtype=np.float64)


def _finding(scores: Scores, item: ScoredItem, cell: tuple[int, int]) -> Finding:
    changes = _changes(scores, item)
    change = float(changes[cell])
    rank, _, by_gain = place_words(changes, cell).partition(" ")
    among = f"rank {rank} of {changes.size} {by_gain}".strip()
    where = POSITION_WORDS[str(scores.provenance.settings.get("positions", "last"))]
    text = (
        f"Set to zero at {where} it {_verb(change)} {_size(scores, item, _KIND, cell)} nats of log-probability on "
        f"{item.title}{_accuracy(scores, item, _KIND, cell)}, {among}{_with_mean(scores, item, cell, change)}."
    )
    head = HeadId(scores.provenance.model.layers[cell[0]], cell[1])
    return Finding(head, text, float(1 - np.exp(-abs(change))), NAME, item.name, _KIND)


def _verb(change: float) -> str:
    return "costs" if change < 0 else "adds"


def _with_mean(scores: Scores, item: ScoredItem, cell: tuple[int, int], zeroed: float) -> str:
    """What is left of the change when the head's output is replaced by its mean: zero is no output that it ever has."""
    change = float(_changes(scores, item, _MEAN)[cell])
    if np.isnan(change):
        return ""
    verb = f"{_verb(change)} " if _verb(change) != _verb(zeroed) else ""
    numbers = f"{verb}{_size(scores, item, _MEAN, cell)}{_accuracy(scores, item, _MEAN, cell, brief=True)}"
    told = bool(told_from_none(scores, _MEAN).sel(item=item.name).values[cell])
    return f"; set to its mean {numbers}" + ("" if told else ", no clear change")


def _size(scores: Scores, item: ScoredItem, kind: str, cell: tuple[int, int]) -> str:
    """The change without its sign, with its 95 % interval where there is one."""
    half = margin(scores, item.name, kind, cell)
    return f"{abs(float(_changes(scores, item, kind)[cell])):.2f}" + ("" if half is None else f" ± {half:.2f}")


def _accuracy(scores: Scores, item: ScoredItem, kind: str, cell: tuple[int, int], brief: bool = False) -> str:
    """How many answers are right with and without it, of how many prompts."""
    change = scores.part(part_name(ACCURACY, kind), item.name)
    record = record_of(scores, item.name)
    if change is None or record.accuracy is None or np.isnan(change[cell]):
        return ""
    before = round(record.accuracy * record.prompts)
    after = round((record.accuracy + float(change[cell])) * record.prompts)
    return f" ({before} → {after})" if brief else f" ({before} → {after} of {record.prompts} right)"
