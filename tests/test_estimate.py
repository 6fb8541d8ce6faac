"""How long a job still takes: an estimate that does not jump, and words that say what is counted."""

import json
from dataclasses import dataclass

import pytest

from analysis.data.tasks import builtin
from analysis.jobs.estimate import Estimate, doing, pending
from analysis.methods.ablation.items import RelationItem, TaskItem
from analysis.methods.ablation.plan import AblationPlan
from analysis.methods.causal.fits import Fit
from analysis.methods.causal.plan import TaskPlan
from analysis.methods.causal.settings import GateSettings
from analysis.models.checkpoint import Checkpoint
from tests.computing import function_plan
from tests.test_plan import RELATION
from tests.toy_method import ParityPlan


@dataclass(frozen=True)
class Piece:
    """A step of some kind."""

    kind: str
    work: float = 1
    doing: str = ""
    words: str = ""
    key: str = ""


def run(estimate, now, took, kind, left):
    """Do steps that take so many seconds; the estimate after each."""
    told = []
    for seconds in took:
        now += seconds
        estimate.done(Piece(kind), 1, now)
        left[kind] -= 1
        told.append(estimate.left(left))
    return now, told


def test_the_step_that_opens_the_model_does_not_blow_the_estimate_up():
    """Nothing is said after one step; then a slow first step, or one in the middle, changes little."""
    estimate, left = Estimate(0.0), {"layers": 30.0}
    _, told = run(estimate, 0.0, [60, 2, 2, 2, 2, 30, 2, 2], "layers", left)
    assert told[0] is None
    expected = [2 * layers for layers in range(28, 21, -1)]
    assert told[1:] == pytest.approx(expected)


def test_a_kind_that_comes_later_is_expected_by_its_work():
    """Effects take twice a fit's step here: the estimate before them is what they then take."""
    estimate, left = Estimate(0.0), {"fit": 10.0, "effect": 40.0}
    now, told = run(estimate, 0.0, [3] * 10, "fit", left)
    assert told[-1] == pytest.approx(40 * 3)
    _, later = run(estimate, now, [3, 3], "effect", left)
    assert later[-1] == pytest.approx(38 * 3)


def test_a_step_of_several_pieces_is_one_step():
    """Eight layers that come at once took as long as the step."""
    estimate, left = Estimate(0.0), {"layers": 24.0}
    for start in (0.0, 16.0):
        step = Piece("layers", key=str(start))
        for _ in range(8):
            estimate.done(step, 1, start + 16)
            left["layers"] -= 1
    assert estimate.left(left) == pytest.approx(16)


def test_steps_say_what_is_counted(tiny_folder, store):
    """Layers of a map, seeds and updates of a fit, layers whose heads are switched off; a plain step says its words."""
    card = Checkpoint.open(tiny_folder).card
    map_plan = function_plan(Checkpoint.open(tiny_folder), (RELATION,))
    store.put(map_plan.pairs_name, b"[[" + b",".join(b"[1, 2]" for _ in range(40)) + b"]]")
    assert [doing(step) for step in map_plan.ready(store)] == ["layer 1 of 3", "layer 2 of 3", "layer 3 of 3"]
    assert pending(map_plan, store) == {"layers": 3}
    task = builtin()["math"]
    plan = TaskPlan(card, (task,), 3, GateSettings(free_updates=10, push_updates=20))
    words = [doing(step) for step in plan.ready(store)]
    assert words[:2] == ["Math: measuring the untouched model", "Math: preview"]
    assert words[2] == "Math: fitting seed 1 of 3, update 0 of 30"
    store.put(plan.seed_name(task, 0), Fit.begin((0,), len(card.layers), card.heads).to_bytes())
    words = [doing(step) for step in plan.ready(store)]
    assert "Math: fitting seed 2 of 3, update 0 of 30" in words
    assert words[-1] == "Math: switching off heads, layer 3 of 3"
    left = pending(plan, store)
    assert set(left) == {"untouched", "preview", "fit", "effect"}
    assert left["effect"] == 3 * 2 * card.heads * 32
    ablation = AblationPlan(card, (TaskItem(task), RelationItem(RELATION, False)), "last", 20, "examples", True)
    for step in ablation.ready(store):
        store.put(step.key, json.dumps({"prompts": 20, "kept": 40}).encode())
    words = [doing(step) for step in ablation.ready(store)]
    assert words[1] == "Math: every head off (replaced by zero), prompts 9–16 of 20"
    assert words[2] == "Math: every head off (replaced by zero), prompts 17–20 of 20"
    left = pending(ablation, store)
    assert left["heads"] == 2 * 2 * 20 / 8
    assert left["layers"] > 0
    assert left["curve"] > 0
    for step in ablation.ready(store):
        if doing(step).startswith("Math"):
            store.put(step.key, b"")
    assert pending(ablation, store)["heads"] == 2 * 20 / 8
    toy = ParityPlan(card, 0)
    assert doing(toy.ready(store)[0]) == "layer 0"
    assert pending(toy, store) == {"": 3}
