"""What fitted gates support about a head, in words: which tasks need it, which it hurts, in how many seeds."""

from dataclasses import dataclass

import numpy as np

from analysis.methods.causal.result import EFFECT, NAME, ROLE_THRESHOLD, variant_of
from analysis.models.card import HeadId
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Floats, Scores

_LISTED = 12  # heads of a task and role
_TARGETS = "the targets' log-probability"


@dataclass(frozen=True)
class _SpokenRole:
    """A role as a person speaks of it."""

    kind: str
    verb: str
    sign: int  # of the change of log-probability without the head
    words: tuple[str, ...]  # in a question


_SPOKEN_ROLES = (
    _SpokenRole(
        "facilitation", "Needed for", -1, ("need", "needs", "needed", "helps", "help", "facilitation", "facilitating")
    ),
    _SpokenRole("interference", "Hurts", 1, ("hurt", "hurts", "harms", "interference", "interfering")),
)
_FILLERS = ("for", "by", "the", "it", "causal", "heads", "head", "that", "which")


def causal_findings(scores: Scores, head: HeadId) -> list[Finding]:
    """A sentence for each task and role that the head has in at least one seed, the surest first."""
    cell = (scores.provenance.model.layers.index(head.layer), head.head)
    findings = []
    for item in scores.provenance.items:
        for role in _measured(item):
            gates = _gates(scores, item, role)
            if gates.size and (gates[:, cell[0], cell[1]] >= ROLE_THRESHOLD).any():
                findings.append(_finding(scores, item, role, gates, cell))
    return sorted(findings, key=lambda finding: finding.order)


def causal_answers(scores: Scores, question: SearchQuestion) -> list[Finding]:
    """The heads that a task needs, or that hurt it; of all tasks when none is named."""
    roles = [role for role in _SPOKEN_ROLES if any(word in role.words for word in question.words)]
    role_words = [word for role in _SPOKEN_ROLES for word in role.words]
    asked = question.without([*role_words, *_FILLERS])
    findings = []
    for item in scores.provenance.items:
        is_named = asked.is_about(f"{item.title} {item.name}")
        if not is_named and (asked.words or not roles):
            continue
        for role in roles or _SPOKEN_ROLES:
            if role in _measured(item):
                findings += _surest(scores, item, role)
    return sorted(findings, key=lambda finding: finding.order)


def _surest(scores: Scores, item: ScoredItem, role: _SpokenRole) -> list[Finding]:
    """The heads that have a role most surely, by the measured effect where that is equal."""
    gates = _gates(scores, item, role)
    if not gates.size:
        return []
    strength = (gates >= ROLE_THRESHOLD).mean(axis=0) * gates.mean(axis=0)
    effect = scores.part(EFFECT, item.name)
    claimed = np.zeros_like(strength) if effect is None else role.sign * np.nan_to_num(effect)
    findings = []
    for place in np.lexsort((-strength.ravel(), -claimed.ravel(), -strength.ravel().round(2)))[:_LISTED]:
        layer, head = np.unravel_index(place, strength.shape)
        if strength[layer, head] > 0:
            findings.append(_finding(scores, item, role, gates, (int(layer), int(head))))
    return findings


def _measured(item: ScoredItem) -> list[_SpokenRole]:
    return [role for role in _SPOKEN_ROLES if role.kind in variant_of(item).roles]


def _gates(scores: Scores, item: ScoredItem, role: _SpokenRole) -> Floats:  # [seed, layer, head]
    """The role's score in every seed that was fitted."""
    values = scores.score.sel(item=item.name, kind=role.kind).dropna("sample", how="all").values
    return np.asarray(values, dtype=np.float64)


def _finding(scores: Scores, item: ScoredItem, role: _SpokenRole, gates: Floats, cell: tuple[int, int]) -> Finding:
    mine = gates[:, cell[0], cell[1]]
    seeds, total = int((mine >= ROLE_THRESHOLD).sum()), len(mine)
    effect = scores.part(EFFECT, item.name)
    cost = "" if effect is None else _cost(float(effect[cell]))
    text = f"{role.verb} {item.title} in {seeds} of {total} seeds ({role.kind} {mine.mean():.2f} on average){cost}."
    head = HeadId(scores.provenance.model.layers[cell[0]], cell[1])
    claimed = 0.0 if effect is None or np.isnan(effect[cell]) else role.sign * float(effect[cell])
    return Finding(head, text, seeds / total * float(mine.mean()), NAME, item.name, role.kind, claimed)


def _cost(change: float) -> str:
    """What the validation measured, which is no ablation of the untouched model."""
    words = f"{change:+.3f}".replace("-", "−")
    return f"; with the other gates as fitted in the first seed, closing its own changes {_TARGETS} by {words}"
