"""Causal maps as plain data for scripts and as text for a terminal."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.methods.causal.fits import LIMIT
from analysis.methods.causal.plan import FEW_UPDATES, ROLE, ROLES, STAGES, Floats
from analysis.models.card import HeadId
from analysis.results.scores import Scores, always_of, any_of

_TOP = 5
UNPUSHED = 1 / (1 + math.exp(-LIMIT))  # a gate beyond this, pushed shut, feels no push


def causal_data(scores: Scores, out: str | None) -> dict[str, Any]:
    """A summary: how many heads help or hurt, which do most, how well the untouched model does the task."""
    return {
        "model": scores.provenance.model.to_dict(),
        "settings": scores.provenance.settings,
        "seeds": len(scores.score.sample) if not np.isnan(scores.score.values).all() else 0,
        "tasks": [_task(scores, item) for item in scores.provenance.items],
        "out": out,
    }


def shares(scores: Scores, task: str, role: str, threshold: float = ROLE) -> dict[str, float]:
    """The share of heads that have a role in every seed, and in at least one."""
    score = scores.score.sel(item=task, kind=role).dropna("sample", how="all")
    both = {"always": always_of(score, "sample"), "any": any_of(score, "sample")}
    return {how: round(float((values >= threshold).mean()), 6) for how, values in both.items()}


def _task(scores: Scores, item: dict[str, Any]) -> dict[str, Any]:
    known = ("name", "title", "category", "items", "accuracy", "nll", "flagged", "agreement", "settled", "kinds")
    data = {key: item[key] for key in known if key in item}
    if not np.isnan(scores.score.sel(item=item["name"]).values).all():
        for role in ROLES[:1] if item.get("category") == "contrast" else ROLES[:2]:
            mean = scores.score.sel(item=item["name"], kind=role).mean("sample").values
            data[role] = {**shares(scores, item["name"], role), "heads": _top(scores, mean)}
        data["evidence"] = _evidence(scores, item)
    if "preview" in item:
        data["preview"] = {
            "prompts": item["preview"]["prompts"],
            "heads": _top(scores, -np.array(item["preview"]["mean"])),
        }
    return data


def _evidence(scores: Scores, item: dict[str, Any]) -> dict[str, Any]:
    """Whether the fits have come to rest, and whether switching heads off bears them out."""
    ends = {name: [round(float(np.mean(c[-20:])), 2) for c in item["curves"][name]] for name in STAGES}
    found: dict[str, Any] = {
        "last_nll": ends,
        "still_falling": {name: [_drift(c) for c in item["curves"][name]] for name in STAGES[1:]},
        **{f"settled_{k}": np.mean(v) for k, v in item.get("settled", {}).items()},
    }
    if item.get("category") == "contrast":
        return found
    role = scores.score.sel(item=item["name"], kind=["facilitation", "interference"])
    found["some_role"] = round(float((role.max(["kind", "sample"]) >= ROLE).mean()), 4)
    least = role.sel(kind="facilitation").min("sample", skipna=False).values
    found["unpushed"] = round(float((least > UNPUSHED).sum()) / max(int((least >= ROLE).sum()), 1), 4)
    if "effect" in item:
        effect, tenth = np.ravel(item["effect"]), max(1, len(np.ravel(item["effect"])) // 10)
        mean = scores.score.sel(item=item["name"]).mean("sample")
        for kind in ROLES:
            best = np.argsort(-mean.sel(kind=kind).values, axis=None, kind="stable")[:tenth]
            found[f"effect_{kind}"] = round(float(effect[best].mean()), 3)
    return found


def _drift(losses: Sequence[float]) -> float:
    """By how much the mean loss of a stage's last quarter differs from that of the quarter before it."""
    quarter = max(1, len(losses) // 4)
    return round(float(np.mean(losses[-quarter:]) - np.mean(losses[-2 * quarter : -quarter] or losses)), 3)


def _top(scores: Scores, values: Floats) -> list[dict[str, Any]]:
    layers = scores.provenance.model.layers
    best = np.argsort(-values, axis=None, kind="stable")[:_TOP]
    places = [np.unravel_index(at, values.shape) for at in best]
    return [{"head": str(HeadId(layers[i], int(j))), "value": round(float(values[i, j]), 4)} for i, j in places]


def head_gates(scores: Scores, head: HeadId) -> list[dict[str, Any]]:
    """One head in every task: its gates of every seed, its preview and what toggling it does."""
    found = []
    for item in scores.provenance.items:
        roles = scores.score.sel(item=item["name"], layer=head.layer, head=head.head).dropna("sample", how="all")
        at = (scores.provenance.model.layers.index(head.layer), head.head)
        found.append(
            {
                "task": item["name"],
                "seeds": roles.sample.values.tolist(),
                **{kind: _rounded(roles.sel(kind=kind).values) for kind in ROLES},
                "preview": item["preview"]["mean"][at[0]][at[1]] if "preview" in item else None,
                "effect": item["effect"][at[0]][at[1]] if "effect" in item else None,
            }
        )
    return found


def _rounded(values: Floats) -> list[float] | None:
    """Nothing where a role was not measured."""
    return None if np.isnan(values).all() else [float(value) for value in np.round(values, 4)]


def causal_text(data: dict[str, Any]) -> str:
    """The summary for a terminal."""
    card, settings = data["model"], data["settings"]
    lines = [
        f"{card['id']} {card['revision'][:12]} · {len(card['layers'])} layers × {card['heads']} heads · "
        + _fitted(data["seeds"], settings, any(task.get("category") == "contrast" for task in data["tasks"])),
    ]
    if data["seeds"] and settings["free_updates"] + settings.get("push_updates", 0) < FEW_UPDATES:
        lines.append("so few updates leave most gates near their random beginning: a trial, not a finding")
    for task in data["tasks"]:
        lines += ["", *_task_lines(task)]
    if data["out"]:
        lines += ["", f"All scores are in {data['out']}"]
    return "\n".join(lines)


def _fitted(seeds: int, settings: dict[str, Any], contrasted: bool) -> str:
    if not seeds:
        return "preview, nothing fitted yet"
    updates = f"{settings['free_updates']}" + ("" if contrasted else f" + {settings['push_updates']}")
    return f"{seeds} {'seed' if seeds == 1 else 'seeds'} · {updates} updates of {settings['batch']} prompts"


def _task_lines(task: dict[str, Any]) -> list[str]:
    lines = [task["title"]]
    if "accuracy" in task:
        flag = "  (hardly ever right: its gates mean little)" if task["flagged"] else ""
        count = f" of {task['items']}" if "items" in task else ""
        lines.append(f"  untouched model: right {task['accuracy']:.0%}{count}, NLL {task['nll']:.2f}{flag}")
        lines += [f"    {k['kind']:16} right {k['accuracy']:4.0%}, NLL {k['nll']:.2f}" for k in task["kinds"]]
    for role in ("facilitation", "interference"):
        if role in task:
            found = task[role]
            heads = ", ".join(f"{h['head']} {h['value']:.2f}" for h in found["heads"])
            words = "gate closed" if task.get("category") == "contrast" else role
            lines.append(f"  {words:13} Always {found['always']:6.1%}  Any {found['any']:6.1%}   highest mean: {heads}")
    if "evidence" in task:
        lines += _evidence_lines(task["evidence"])
    if "preview" in task:
        heads = ", ".join(f"{h['head']} {-h['value']:+.3f}" for h in task["preview"]["heads"])
        lines.append(f"  preview, a first-order estimate from {task['preview']['prompts']} prompts: {heads}")
    if "agreement" in task:
        rho = task["agreement"]
        lines.append(
            f"  its rank correlation with the fits: F {rho['facilitation']:+.2f}, N {rho['interference']:+.2f}"
        )
    return lines


def _evidence_lines(found: dict[str, Any]) -> list[str]:
    listed = {name: " ".join(f"{value:.2f}" for value in ends) for name, ends in found["last_nll"].items() if ends}
    if "some_role" not in found:  # contrasted pairs
        return [f"  log P(forget) − log P(retain) at the end of each seed: {listed.get('free', '')}"]
    lines = [f"  F or N in some seed {found['some_role']:.1%}"]
    lines.append(f"  of the heads with F in every seed, {found['unpushed']:.0%} ended beyond the push's limit")
    ends = "; ".join(f"{name} {values}" for name, values in listed.items())
    lines.append(f"  NLL at the end of each seed (last 20 updates): {ends}")
    drifts = "; ".join(f"{k} {' '.join(f'{d:+.3f}' for d in v)}" for k, v in found["still_falling"].items())
    lines.append(f"  its change from the third to the last quarter of the pushed updates: {drifts}")
    if "settled_open" in found:
        lines.append(f"  gates near 0 or 1: G⁺ {found['settled_open']:.0%}, G⁻ {found['settled_shut']:.0%}")
    if "effect_facilitation" in found:
        effects = ", ".join(f"{kind} {found[f'effect_{kind}']:+.3f}" for kind in ROLES)
        lines.append(f"  change of log P when switched off, highest tenth by {effects}")
    return lines


def tasks_text(data: Sequence[dict[str, Any]]) -> str:
    """The built-in tasks, one a paragraph."""
    return "\n\n".join(
        f"{task['name']}: {task['sentence']}\n"
        f"  {task['train']:,} prompts for training, {task['validation']} for validation\n"
        f"  kinds: {', '.join(task['kinds'])}\n"
        f"  for example {task['example']!r} → {task['target']!r}"
        for task in data
    )
