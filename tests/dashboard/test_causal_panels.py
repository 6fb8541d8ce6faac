from dataclasses import asdict, replace

import numpy as np
import pytest

from analysis.data.tasks import builtin
from analysis.methods.causal.fits import FittedGates
from analysis.methods.causal.plan import curves_of
from analysis.methods.causal.report import causal_text
from analysis.methods.causal.report import head_gates as report_gates
from analysis.methods.causal.result import CONTRAST, STAGES, TASK, Curves, TaskRecord, TaskResult, causal_scores
from analysis.methods.causal.settings import GateSettings
from analysis.models.card import HeadId
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Missing, Scores
from dashboard.maps.causal import evidence
from dashboard.maps.causal.card import head_part
from dashboard.maps.causal.gates import first_seeds, reduced, shares
from dashboard.maps.causal.head import head_gates
from dashboard.maps.causal.panels import BOTH, FACILITATING, INTERFERING, IRRELEVANT, NO_ROLE
from dashboard.maps.causal.ranking import validation, window
from dashboard.maps.head_part import AskedHead
from dashboard.page.markup import as_html
from tests.dashboard.made import map_view, state, view_of
from tests.synthetic import causal_scores_of, odd_scores

CARD = replace(odd_scores().provenance.model, layers=(0, 1), heads=2)
CURVES = {"free": [3.0, 1.0], "open": [1.0], "shut": [1.0]}
# Seed 0: L0H0 needed, L0H1 hurts, layer 1 does not matter. Seed 1: L0H0 hurts, L0H1 hurts, L1H1 needed.
SHUT = [[[0.9, 0.0], [0.1, 0.0]], [[0.2, 0.0], [0.0, 0.8]]]
OPEN = [[[1.0, 0.2], [1.0, 1.0]], [[0.3, 0.1], [1.0, 1.0]]]
GRADIENT = {
    "mean": np.array([[-0.2, 0.1], [0, 0]]),
    "least": np.array([[-0.3, -0.1], [0, 0]]),
    "most": np.array([[-0.1, 0.3], [0, 0]]),
}
EFFECT = np.array([[-1.0, 0.5], [0.0, -0.2]])


def item_of(task, category=TASK.name):
    """A task as provenance has it."""
    return ScoredItem(task.name, task.title, category, task.sentence, task.hash, len(task.train), len(task.train))


def small(seeds=2, effect=None, gradient=None, untouched=None):
    """Two layers of two heads, two seeds of Math; Syntax is still to come."""
    fitted = {seed: FittedGates(np.array(OPEN[seed]), np.array(SHUT[seed]), CURVES) for seed in range(seeds)}
    roles = {seed: gates.roles() for seed, gates in fitted.items()}
    record = TaskRecord(untouched=untouched, prompts=8, curves=curves_of(fitted, ()))
    math = TaskResult(item_of(builtin()["math"]), roles, record, effect, gradient or {})
    syntax = TaskResult(item_of(builtin()["syntax"]), {})
    return causal_scores(CARD, [math, syntax], {**asdict(GateSettings()), "seeds": 2}, "cpu")


def panels_of(wanted=None, scores=None):
    found = map_view(scores or small(), wanted).panels
    return {panel.key: panel for panel in found}


def measures(panel):
    return {measure.name: measure.value for measure in panel.measures}


def test_tasks_are_rows_and_always_and_any_are_columns():
    """As published, row by row."""
    assert list(panels_of(state(view="causal"))) == ["math always", "math any", "syntax always", "syntax any"]


def test_always_is_the_least_and_any_the_largest_over_seeds():
    """Of F and of N each."""
    found = panels_of(state(view="causal"))
    always, some = (measures(found[f"math {column}"]) for column in ("always", "any"))
    assert always["needs it (F)"].tolist() == [[0.2, 0.0], [0.0, 0.0]]
    assert some["needs it (F)"].tolist() == [[0.9, 0.0], [0.1, 0.8]]
    assert always["hurts it (N)"] == pytest.approx(np.array([[0.0, 0.8], [0.0, 0.0]]))
    assert some["hurts it (N)"] == pytest.approx(np.array([[0.7, 0.9], [0.0, 0.0]]))


def test_a_head_with_both_roles_has_them_in_different_seeds():
    """L0H0 is needed in seed 0 and hurts in seed 1."""
    found = panels_of(state(view="causal"))
    assert found["math any"].label.codes.tolist() == [[BOTH, INTERFERING], [IRRELEVANT, FACILITATING]]
    both = "needed for Math (F) in 1 of 2 seeds, hurts Math (N) in 1 of 2 seeds"
    assert head_gates(small(), HeadId(0, 0), 0.5)[0].role == both
    seed = panels_of(state(view="causal", seed="0"))["math seed 0"]
    assert seed.label.codes.tolist() == [[FACILITATING, INTERFERING], [IRRELEVANT, IRRELEVANT]]


def test_the_threshold_decides_what_counts_and_reaches_it_counts_too():
    """F of 0.8 and 0.9: two of four heads at 0.8, one above."""
    assert shares(small(), "math", "any", 0.8)["facilitation"] == 0.5
    assert shares(small(), "math", "any", 0.81)["facilitation"] == 0.25
    assert panels_of(state(view="causal", threshold=0.81))["math any"].remark == "needs it 25 % · hurts it 25 %"


def test_a_task_without_a_seed_says_why_and_one_with_some_shows_them():
    """A running fit fills the map seed by seed; nothing is ever zero for want of a number."""
    scores = small(seeds=1)
    running = replace(
        scores, missing=scores.missing.where(scores.missing != Missing.NOT_COMPUTED, int(Missing.RUNNING))
    )
    found = panels_of(state(view="causal"), running)
    assert found["math seed 0"].value.tolist() == [[0.9, 0.8], [0.1, 0.0]]
    assert np.isnan(found["syntax seed 0"].value).all()
    assert (found["syntax seed 0"].reason == Missing.RUNNING).all()
    assert found["syntax seed 0"].note == "being computed"


def test_the_first_seeds_are_the_map_that_fitting_only_them_would_have_given():
    """Scores, curves and settings alike."""
    card = odd_scores().provenance.model
    all_of_them = causal_scores_of(card)
    few = first_seeds(all_of_them, 2)
    assert few.score.sizes["sample"] == 2
    assert reduced(few, "math", "always") == pytest.approx(
        all_of_them.score.sel(item="math", sample=["seed 0", "seed 1"]).min("sample").values
    )
    assert (reduced(few, "math", "always") >= reduced(all_of_them, "math", "always")).all()
    assert few.provenance.settings["seeds"] == evidence.fit_settings(few, "math")["seeds"] == 2
    curves = evidence.curves(few, "math")
    assert [len(curves.of(stage)) for stage in STAGES] == [2] * 3
    assert curves.seeds == (0, 1)
    assert Scores.from_parquet(few.to_parquet()).score.sizes["sample"] == 2


def test_one_seed_one_score_one_column():
    """The switches leave only what is asked for."""
    assert list(panels_of(state(view="causal", columns="any", tasks=("math",)))) == ["math any"]
    panel = panels_of(state(view="causal", gates="irrelevance", seed="1"))["math seed 1"]
    assert panel.value == pytest.approx(np.array([[0.24, 0.1], [1.0, 0.2]]))
    assert panel.categories == ("irrelevance",)


def test_the_preview_is_a_mean_or_what_holds_for_every_or_any_prompt():
    """Always is 0 where prompts disagree; Any is the steepest; no preview is not computed."""
    scores = small(gradient=GRADIENT)
    wanted = state(view="causal", gates="preview")
    assert panels_of(wanted, scores)["math mean"].value.tolist() == [[-0.2, 0.1], [0, 0]]
    assert panels_of(wanted.changed(columns="always"), scores)["math always"].value.tolist() == [[-0.1, 0], [0, 0]]
    some = panels_of(wanted.changed(columns="any"), scores)["math any"]
    assert some.value.tolist() == [[-0.3, 0.3], [0, 0]]
    assert some.label.codes.tolist() == [[FACILITATING, BOTH], [NO_ROLE, NO_ROLE]]  # −0.1 and 0.3 by prompts
    assert some.remark == "first-order · needs it 50 % · hurts it 25 %"
    assert panels_of(wanted, scores)["syntax mean"].note == "not computed"


@pytest.mark.parametrize("seed", ["", "3"])
def test_validation_puts_heads_in_the_order_of_each_score(seed):
    """The mean effect of each stretch of heads, in the order of a seed or of the mean over seeds, one by one."""
    scores = causal_scores_of(odd_scores().provenance.model)
    effect = evidence.effect(scores, "math").ravel()
    wide = window(effect.size)
    assert wide < effect.size / 2
    samples = [f"seed {seed}"] if seed else list(scores.score.sample.values)
    for order in validation(scores, "math", seed):
        of_head = scores.score.sel(item="math", kind=order.role, sample=samples).mean("sample").values.ravel()
        heads = sorted(range(effect.size), key=lambda at, of_head=of_head: -of_head[at])
        means = [effect[heads[start : start + wide]].mean() for start in range(effect.size - wide + 1)]
        assert order.running == pytest.approx(means)
    assert [order.role for order in validation(scores, "math", seed)] == ["facilitation", "irrelevance", "interference"]
    assert validation(small(), "math") == ()


def test_contrasted_pairs_have_one_gate_and_no_interference():
    """What was not measured is absent everywhere, never 0."""
    gate = np.array([[0.1, 1.0], [1.0, 0.6]])
    roles = {0: np.stack([1 - gate, np.full((2, 2), np.nan), gate])}
    record = TaskRecord(curves=Curves(seeds=(0,), free=((1.0,),)))
    pairs = TaskResult(ScoredItem("pairs", "Pairs", CONTRAST.name), roles, record)
    settings = {name: value for name, value in asdict(GateSettings()).items() if not name.startswith("push_")}
    scores = causal_scores(CARD, [pairs], {**settings, "seeds": 1}, "cpu")
    panel = panels_of(state(view="causal", columns="any"), scores)["pairs seed 0"]
    assert (panel.categories, panel.remark) == (("facilitation",), "needs it 25 %")
    assert list(measures(panel)) == ["needs it (F)", "does not matter (R)"]
    assert panel.label.codes.tolist() == [[FACILITATING, IRRELEVANT], [IRRELEVANT, IRRELEVANT]]
    unknown = panels_of(state(view="causal", gates="interference"), scores)["pairs seed 0"]
    assert unknown.note == "not applicable"
    assert shares(scores, "pairs", "any", 0.5) == {"facilitation": 0.25, "irrelevance": 0.75}
    (card,) = head_gates(scores, HeadId(0, 0), 0.5)
    assert (card.shut, card.open, card.ranks) == ([0.1], [], {"facilitation": 1, "irrelevance": 4})
    assert card.role == "needed for what is to be forgotten (F)"
    (told,) = report_gates(scores, HeadId(0, 0))
    assert (told["facilitation"], told["interference"]) == ([0.9], None)
    text = causal_text(scores)
    assert "gate closed" in text
    assert "interference" not in text
    assert "1 seed · 120 updates" in text


def test_the_card_of_a_head_has_its_gates_and_places():
    """Both gates of every seed, the preview, the effect with its rank, places in the three orders."""
    scores = small(gradient=GRADIENT, effect=EFFECT)
    math, syntax = head_gates(scores, HeadId(0, 1), 0.5)
    assert head_gates(scores, HeadId(0, 0), 0.5)[0].ranks["facilitation"] == 1
    assert head_gates(scores, HeadId(0, 0), 0.5, seed="1")[0].ranks["facilitation"] == 2
    assert (math.shut, math.open) == ([0.0, 0.0], pytest.approx([0.2, 0.1]))
    assert (math.preview, math.effect, math.effect_rank) == (0.1, 0.5, 2)
    assert math.ranks == {"facilitation": 4, "interference": 1, "irrelevance": 4}
    assert math.role == "hurts Math (N)"
    assert (syntax.seeds, syntax.effect, syntax.missing) == ([], None, "not computed")


def test_a_seed_whose_fits_contradict_each_other_is_named():
    """In seed 3 the gate pushed shut stays at 1 and the one pushed open ends at 0.46: the dot and the card say so."""
    fits = {}
    for seed in range(4):
        opened, shut = np.ones((2, 2)), np.zeros((2, 2))
        if seed == 3:
            opened[0, 0], shut[0, 0] = 0.46, 1.0
        fits[seed] = FittedGates(opened, shut, CURVES).roles()
    task = TaskResult(item_of(builtin()["math"]), fits, TaskRecord())
    scores = causal_scores(CARD, [task], {**asdict(GateSettings()), "seeds": 4}, "cpu")
    card, other = (_card(scores, head) for head in (HeadId(0, 0), HeadId(1, 1)))
    words = "seed 3: G⁻ 1.00, G⁺ 0.46 (the two contradict each other)"
    assert "Seed 3 contradicts itself: the gate pushed shut stays open" in card
    assert f'title="{words}"' in card
    assert f'{words}"' in card.partition("aria-label")[2]
    assert card.count("dot-row odd") == 1
    assert card.index("needs it (F)") < card.index("hurts it (N)") < card.index("does not matter (R)")
    assert "contradicts itself" not in other


def _card(scores, head):
    shown = map_view(scores)
    return as_html(head_part(AskedHead(head, (head,), CARD, shown.palette(False), True), shown).content)


@pytest.mark.parametrize("parts", [(), ("effect",), ("gradient",)])
def test_what_was_not_measured_never_breaks_a_panel(parts):
    """Unfinished results lack all of it, others some."""
    whole = small(gradient=GRADIENT, effect=EFFECT)
    scores = replace(whole, parts={name: whole.parts[name] for name in parts}, records={})
    for gates in ("both", "facilitation", "preview"):
        assert panels_of(state(view="causal", gates=gates), scores)
    assert head_gates(scores, HeadId(0, 0), 0.5)
    assert bool(validation(scores, "math")) == ("effect" in parts)


def test_a_model_without_a_causal_map_has_one_empty_panel():
    """Nothing is computed."""
    without = replace(view_of(small(), state(view="causal")), by_method=())
    (panel,) = without.panels
    assert panel.value.shape == (2, 2)
    assert panel.note == "not computed"


def test_stored_gates_come_back():
    """The small result survives Parquet, with its curves."""
    again = Scores.from_parquet(small(gradient=GRADIENT).to_parquet())
    assert panels_of(state(view="causal"), again).keys() == panels_of(state(view="causal")).keys()
    assert evidence.curves(again, "math").of("free") == ((3.0, 1.0),) * 2
