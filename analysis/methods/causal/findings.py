"""What fitted gates support about a head, in words: which tasks need it, which it hurts, in how many seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.methods.causal.result import EFFECT, NAME, ROLE_THRESHOLD, variant_of
from analysis.models.card import HeadId
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Bools, Floats, Scores

_LISTED = 12  # heads of a task and role
_TARGETS = "the targets' log-probability"
_LEAST_EFFECT = 0.01  # nats: heads without any role change the 32 validation prompts by up to about so much
_UNSUPPORTED = 0.05  # strength of a sentence that claims no cause: it comes last


@dataclass(frozen=True)
class _SpokenRole:
    """A role as a person speaks of it."""

    kind: str
    verb: str
    gate: str  # how the gate stays, whichever way it is pushed, in a seed that gives the head this role
    sign: int  # of the change of log-probability without the head
    words: tuple[str, ...]  # in a question


_SPOKEN_ROLES = (
    _SpokenRole(
        "facilitation",
        "Needed for",
        "open",
        -1,
        ("need", "needs", "needed", "helps", "help", "facilitation", "facilitating"),
    ),
    _SpokenRole("interference", "Hurts", "shut", 1, ("hurt", "hurts", "harms", "interference", "interfering")),
)
_FILLERS = ("for", "by", "the", "it", "causal", "heads", "head", "that", "which")


def causal_findings(scores: Scores, head: HeadId) -> list[Finding]:
    """A sentence for each task in which the gate has a role in most of the seeds, the surest first."""
    cell = (scores.provenance.model.layers.index(head.layer), head.head)
    findings = []
    for item in scores.provenance.items:
        fitted = [_gates(scores, item, role)[:, cell[0], cell[1]] for role in _measured(item)]
        if fitted and 2 * int((np.array(fitted) >= ROLE_THRESHOLD).any(axis=0).sum()) > len(fitted[0]):
            findings.append(_finding(scores, item, cell))
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
    effect = scores.part(EFFECT, item.name)
    claimed = np.zeros(gates.shape[1:]) if effect is None else role.sign * np.nan_to_num(effect)
    others = [_gates(scores, item, other) for other in _measured(item) if other is not role]
    is_supported = _is_supported(gates, others, None if effect is None else role.sign * effect)
    strength = np.where(is_supported, (gates >= ROLE_THRESHOLD).mean(axis=0) * gates.mean(axis=0), 0.0)
    findings = []
    for place in np.lexsort((-strength.ravel(), -claimed.ravel(), -strength.ravel().round(2)))[:_LISTED]:
        layer, head = np.unravel_index(place, strength.shape)
        if strength[layer, head] > 0:
            findings.append(_finding(scores, item, (int(layer), int(head))))
    return findings


def _is_supported(gates: Floats, others: Sequence[Floats], claimed: Floats | None) -> Bools:  # [layer, head]
    """Whether a head has a role in most of the seeds, more than have it otherwise, and its effect is what that claims.

    Where that was not measured (NaN, or no effects at all), the seeds decide alone.
    """
    seeds = (gates >= ROLE_THRESHOLD).sum(axis=0)
    in_most = 2 * seeds > len(gates)
    for other in others:
        in_most = in_most & (seeds > (other >= ROLE_THRESHOLD).sum(axis=0))
    if claimed is None:
        return np.asarray(in_most)
    return np.asarray(in_most & (np.isnan(claimed) | (claimed >= _LEAST_EFFECT)))


def _measured(item: ScoredItem) -> list[_SpokenRole]:
    return [role for role in _SPOKEN_ROLES if role.kind in variant_of(item).roles]


def _gates(scores: Scores, item: ScoredItem, role: _SpokenRole) -> Floats:  # [seed, layer, head]
    """The role's score in every seed that was fitted."""
    values = scores.score.sel(item=item.name, kind=role.kind).dropna("sample", how="all").values
    return np.asarray(values, dtype=np.float64)


def _finding(scores: Scores, item: ScoredItem, cell: tuple[int, int]) -> Finding:
    """One sentence for all roles of a head in a task: what the seeds and the measured effect support together."""
    whole = scores.part(EFFECT, item.name)
    effect = float("nan") if whole is None else float(whole[cell])
    fitted = {}
    for role in _measured(item):
        gates = _gates(scores, item, role)[:, cell[0], cell[1]]
        if gates.size:
            fitted[role] = gates
    head = HeadId(scores.provenance.model.layers[cell[0]], cell[1])
    for role, gates in fitted.items():
        others = [each[:, None, None] for other, each in fitted.items() if other is not role]
        if _is_supported(gates[:, None, None], others, np.full((1, 1), role.sign * effect)).all():
            text = f"{_claim(role, item, fitted)}{_cost(effect)}."
            strength = float((gates >= ROLE_THRESHOLD).mean() * gates.mean())
            claimed = 0.0 if np.isnan(effect) else role.sign * effect
            return Finding(head, text, strength, NAME, item.name, role.kind, claimed)
    text = f"{_fits(item, fitted)}, but {_contrary(effect)}."
    return Finding(head, text, _UNSUPPORTED, NAME, item.name, next(iter(fitted)).kind)


def _claim(role: _SpokenRole, item: ScoredItem, fitted: Mapping[_SpokenRole, Floats]) -> str:
    """The role that is supported, and in how many seeds the head has the opposite one."""
    gates = fitted[role]
    words = (
        f"{role.verb} {item.title} in {_seeds(gates)} of {len(gates)} seeds ({role.kind} {gates.mean():.2f} on average"
    )
    for other, of_other in fitted.items():
        if other is not role and _seeds(of_other):
            words += f"; {other.kind} in {_seeds(of_other)}"
    return f"{words})"


def _fits(item: ScoredItem, fitted: Mapping[_SpokenRole, Floats]) -> str:
    """What the gate does in the fits, of which nothing follows."""
    total = len(next(iter(fitted.values())))
    parts = [f"{role.gate} in {_seeds(gates)}" for role, gates in fitted.items() if _seeds(gates)]
    return f"Its gate for {item.title} stays {' and '.join(parts)} of {total} seeds"


def _seeds(gates: Floats) -> int:
    return int((gates >= ROLE_THRESHOLD).sum())


def _cost(change: float) -> str:
    """What the validation measured, which is no ablation of the untouched model."""
    if np.isnan(change):
        return ""
    return (
        f"; with the other gates as fitted in the first seed, closing its own changes {_TARGETS} by {_signed(change)}"
    )


def _contrary(change: float) -> str:
    """What the validation measured where it does not bear out the fits."""
    if np.isnan(change):
        return "the seeds do not agree"
    if abs(change) < _LEAST_EFFECT:
        return f"closing it alone changes nothing measurable ({_signed(change)})"
    return f"closing it alone changes {_TARGETS} by {_signed(change)}"


def _signed(change: float) -> str:
    return f"{change:+.3f}".replace("-", "−")
