"""A causal map as plain data for scripts and as text for a terminal."""

import math
from collections.abc import Sequence

import numpy as np

from analysis.methods.causal.fits import LIMIT
from analysis.methods.causal.result import (
    EFFECT,
    FEW_UPDATES,
    GRADIENT,
    HEAD_ROLES,
    ROLE_THRESHOLD,
    STAGES,
    TaskRecord,
    record_of,
    variant_of,
)
from analysis.models.card import HeadId
from analysis.results.provenance import JsonObject, PlainValues, ScoredItem
from analysis.results.scores import Floats, Scores, always_of, any_of

_TOP = 5
UNPUSHED = 1 / (1 + math.exp(-LIMIT))  # a gate beyond this, pushed shut, feels no push


def causal_data(scores: Scores) -> JsonObject:
    """How many heads help or hurt, which do most, how well the untouched model does the task."""
    return {
        "model": scores.provenance.model.to_dict(),
        "settings": dict(scores.provenance.settings),
        "seeds": len(scores.score.sample) if _is_fitted(scores) else 0,
        "tasks": [_task(scores, item) for item in scores.provenance.items],
    }


def _is_fitted(scores: Scores) -> bool:
    return not bool(np.isnan(scores.score.values).all())


def shares(scores: Scores, task: str, role: str, threshold: float = ROLE_THRESHOLD) -> dict[str, float]:
    """The share of heads that have a role in every seed, and in at least one."""
    score = scores.score.sel(item=task, kind=role).dropna("sample", how="all")
    both = {"always": always_of(score, "sample"), "any": any_of(score, "sample")}
    return {how: round(float((values >= threshold).mean()), 6) for how, values in both.items()}


def _task(scores: Scores, item: ScoredItem) -> JsonObject:
    record = record_of(scores, item.name)
    data: JsonObject = {"name": item.name, "title": item.title, "category": item.category}
    if record.untouched is not None:
        data |= record.untouched.model_dump(mode="json")
    data["settled"] = {side: list(values) for side, values in record.settled.items()}
    if record.agreement:
        data["agreement"] = dict(record.agreement)
    if not np.isnan(scores.score.sel(item=item.name).values).all():
        for role in _counted_roles(item):
            mean = scores.score.sel(item=item.name, kind=role).mean("sample").values
            data[role] = {**shares(scores, item.name, role), "heads": _top(scores, mean)}
        data["evidence"] = _evidence(scores, item, record)
    gradient = scores.part(GRADIENT, item.name, "mean")
    if gradient is not None:
        data["preview"] = {"prompts": record.prompts, "heads": _top(scores, -gradient)}
    return data


def _counted_roles(item: ScoredItem) -> list[str]:
    """Facilitation and interference, as far as they were measured."""
    return [role for role in HEAD_ROLES[:2] if role in variant_of(item).roles]


def _evidence(scores: Scores, item: ScoredItem, record: TaskRecord) -> JsonObject:
    """Whether the fits have come to rest, and whether switching heads off bears them out."""
    evidence: JsonObject = {"last_nll": {}, "still_falling": {}}
    for stage in STAGES:
        curves = record.curves.of(stage)
        evidence["last_nll"][stage] = [round(float(np.mean(losses[-20:])), 2) for losses in curves]
        if stage != "free":
            evidence["still_falling"][stage] = [_drift(losses) for losses in curves]
    for side, values in record.settled.items():
        evidence[f"settled_{side}"] = float(np.mean(values)) if values else float("nan")
    if not variant_of(item).is_task:
        return evidence
    role = scores.score.sel(item=item.name, kind=["facilitation", "interference"])
    evidence["some_role"] = round(float((role.max(["kind", "sample"]) >= ROLE_THRESHOLD).mean()), 4)
    least = role.sel(kind="facilitation").min("sample", skipna=False).values
    always = int((least >= ROLE_THRESHOLD).sum())
    evidence["unpushed"] = round(float((least > UNPUSHED).sum()) / max(always, 1), 4)
    return evidence | _effect_of_highest_tenth(scores, item)


def _effect_of_highest_tenth(scores: Scores, item: ScoredItem) -> dict[str, float]:
    """The mean effect of switching off the tenth of the heads with the highest score of each role."""
    effect = scores.part(EFFECT, item.name)
    if effect is None:
        return {}
    flat = effect.ravel()
    tenth = max(1, len(flat) // 10)
    mean = scores.score.sel(item=item.name).mean("sample")
    effects = {}
    for role in HEAD_ROLES:
        best = np.argsort(-mean.sel(kind=role).values, axis=None, kind="stable")[:tenth]
        effects[f"effect_{role}"] = round(float(flat[best].mean()), 3)
    return effects


def _drift(losses: Sequence[float]) -> float:
    """By how much the mean loss of a stage's last quarter differs from that of the quarter before it."""
    quarter = max(1, len(losses) // 4)
    before = losses[-2 * quarter : -quarter] or losses
    return round(float(np.mean(losses[-quarter:]) - np.mean(before)), 3)


def _top(scores: Scores, values: Floats) -> list[JsonObject]:
    layers = scores.provenance.model.layers
    top = []
    for place in np.argsort(-values, axis=None, kind="stable")[:_TOP]:
        layer, head = np.unravel_index(place, values.shape)
        name = HeadId(layers[int(layer)], int(head))
        top.append({"head": str(name), "value": round(float(values[layer, head]), 4)})
    return top


def head_gates(scores: Scores, head: HeadId) -> list[JsonObject]:
    """One head in every task: its gates of every seed, its preview and what toggling it does."""
    cell = (scores.provenance.model.layers.index(head.layer), head.head)
    tasks = []
    for item in scores.provenance.items:
        roles = scores.score.sel(item=item.name, layer=head.layer, head=head.head).dropna("sample", how="all")
        gradient, effect = scores.part(GRADIENT, item.name, "mean"), scores.part(EFFECT, item.name)
        tasks.append(
            {
                "task": item.name,
                "seeds": roles.sample.values.tolist(),
                **{role: _rounded(roles.sel(kind=role).values) for role in HEAD_ROLES},
                "preview": None if gradient is None else float(gradient[cell]),
                "effect": None if effect is None else float(effect[cell]),
            }
        )
    return tasks


def _rounded(values: Floats) -> list[float] | None:
    """Nothing where a role was not measured."""
    return None if np.isnan(values).all() else [float(value) for value in np.round(values, 4)]


def head_lines(scores: Scores, head: HeadId) -> list[str]:
    """One head in every task, its mean over the seeds."""
    lines = ["task                  F     N     R  (mean over the seeds)"]
    for task in head_gates(scores, head):
        means = []
        for role in HEAD_ROLES:
            means.append("    –" if task[role] is None else f"{np.mean(task[role]):5.2f}")
        lines.append(f"{scores.item(task['task']).title:18} {' '.join(means)}")
    return lines


def causal_text(scores: Scores) -> str:
    """The summary for a terminal."""
    data = causal_data(scores)
    card, settings = data["model"], data["settings"]
    size = f"{len(card['layers'])} layers × {card['heads']} heads"
    lines = [f"{card['id']} {card['revision'][:12]} · {size} · {_fitted(data['seeds'], settings)}"]
    updates = settings["free_updates"] + settings.get("push_updates", 0)
    if data["seeds"] and updates < FEW_UPDATES:
        lines.append("so few updates leave most gates near their random initialisation: a trial, not a finding")
    for task in data["tasks"]:
        lines += ["", *_task_lines(task)]
    return "\n".join(lines)


def _fitted(seeds: int, settings: PlainValues) -> str:
    if not seeds:
        return "preview, nothing fitted yet"
    updates = " + ".join(str(settings[name]) for name in ("free_updates", "push_updates") if name in settings)
    return f"{seeds} {'seed' if seeds == 1 else 'seeds'} · {updates} updates of {settings['batch']} prompts"


def _task_lines(task: JsonObject) -> list[str]:
    lines = [task["title"]]
    if "accuracy" in task:
        flag = "  (hardly ever right: its gates mean little)" if task["flagged"] else ""
        count = f" of {task['items']}" if task["items"] else ""
        lines.append(f"  untouched model: right {task['accuracy']:.0%}{count}, NLL {task['nll']:.2f}{flag}")
        for kind in task["kinds"]:
            lines.append(f"    {kind['kind']:16} right {kind['accuracy']:4.0%}, NLL {kind['nll']:.2f}")
    for role in HEAD_ROLES[:2]:
        if role in task:
            words = role if HEAD_ROLES[1] in task else "gate closed"
            heads = ", ".join(f"{head['head']} {head['value']:.2f}" for head in task[role]["heads"])
            always, some = f"{task[role]['always']:6.1%}", f"{task[role]['any']:6.1%}"
            lines.append(f"  {words:13} Always {always}  Any {some}   highest mean: {heads}")
    if "evidence" in task:
        lines += _evidence_lines(task["evidence"])
    if "preview" in task:
        heads = ", ".join(f"{head['head']} {-head['value']:+.3f}" for head in task["preview"]["heads"])
        lines.append(f"  preview, a first-order estimate from {task['preview']['prompts']} prompts: {heads}")
    if "agreement" in task:
        letters = {"facilitation": "F", "interference": "N"}
        numbers = ", ".join(f"{letters[role]} {value:+.2f}" for role, value in task["agreement"].items())
        lines.append(f"  its rank correlation with the fits: {numbers}")
    return lines


def _evidence_lines(evidence: JsonObject) -> list[str]:
    ends = {}
    for stage, losses in evidence["last_nll"].items():
        if losses:
            ends[stage] = " ".join(f"{loss:.2f}" for loss in losses)
    if "some_role" not in evidence:  # pairs to contrast
        return [f"  log P(forget) − log P(retain) at the end of each seed: {ends.get('free', '')}"]
    listed = "; ".join(f"{stage} {losses}" for stage, losses in ends.items())
    drifts = []
    for stage, changes in evidence["still_falling"].items():
        drifts.append(f"{stage} {' '.join(f'{change:+.3f}' for change in changes)}")
    lines = [
        f"  F or N in some seed {evidence['some_role']:.1%}",
        f"  of the heads with F in every seed, {evidence['unpushed']:.0%} ended beyond the push's limit",
        f"  NLL at the end of each seed (last 20 updates): {listed}",
        f"  its change from the third to the last quarter of the pushed updates: {'; '.join(drifts)}",
    ]
    if "settled_open" in evidence:
        lines.append(f"  gates near 0 or 1: G⁺ {evidence['settled_open']:.0%}, G⁻ {evidence['settled_shut']:.0%}")
    if "effect_facilitation" in evidence:
        effects = ", ".join(f"{role} {evidence[f'effect_{role}']:+.3f}" for role in HEAD_ROLES)
        lines.append(f"  change of log P when switched off, highest tenth by {effects}")
    return lines
