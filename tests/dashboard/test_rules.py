"""One rule in two languages: what the scripts make of a map's numbers is what Python makes of its scores."""

import base64
import gzip
import json
import random
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from analysis.evidence.shipped import shipped, shipped_scores
from analysis.results.provenance import ScoredItem
from dashboard.maps.agreement.card import ClassFacts
from dashboard.maps.agreement.card import two_digits as written
from dashboard.maps.agreement.state import AgreementState
from dashboard.maps.causal.head import role_words
from dashboard.maps.function.best import VERBS
from dashboard.maps.function.card import remark_words
from dashboard.maps.function.head import Effect, RelationRow
from dashboard.maps.steps import STEPS, score_steps
from dashboard.palette import as_data as palettes
from dashboard.palette import colours
from dashboard.setting import settings_of
from dashboard.state import ViewState
from dashboard.view import View
from tests.cases.rendered import asked_by, compared, rendered, text_of, view_of
from tests.cases.results import COMPARED, FOLDER, VIEWS, result_of, tables
from tests.synthetic import big_scores, causal_scores_of

SCRIPT = Path(__file__).parent.parent / "scripts" / "follow.mjs"
TABLES = tables()
CASES = [(name, case) for name, table in TABLES.items() for case in table["cases"] if name != COMPARED]
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")


def numbers_of(view):
    """The numbers of the map on the page."""
    return view.map.numbers(view.shown)


def state_of(view):
    """The state as the scripts have it: values by their keys."""
    part = view.state.of(view.map.part)
    values = {key: getattr(part, setting.name) for key, setting in settings_of(type(part)).items()}
    return {**values, "palette": view.state.palette}


def followed(views, dark):
    """What the scripts make of some views of one result."""
    asked = [{"state": state_of(view), "palette": asdict(colours(view.state.palette, dark))} for view in views]
    numbers = base64.b64encode(numbers_of(views[0])).decode()
    question = json.dumps([{"numbers": numbers, "heads": views[0].card.heads, "asked": asked}])
    answer = subprocess.run(["node", str(SCRIPT)], input=question, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def plain(value):
    """As JSON has it."""
    return json.loads(json.dumps(value))


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES])
def test_the_table_of_cases_holds_of_the_python_rules(name, case):
    """Codes, marks, counts, words and legend of every case, as they stand in the table."""
    scores = result_of(name, TABLES[name]["results"][case["result"]])
    view = view_of(scores, case["state"], VIEWS.get(name, ""))
    found = plain(rendered(view, case.get("dark", False)))
    for panel, expected in zip(found["panels"], case["expected"].pop("panels"), strict=True):
        assert {key: panel[key] for key in expected} == expected
    for key, expected in case["expected"].items():
        assert found[key] == expected, key


@pytest.mark.parametrize("case", TABLES[COMPARED]["cases"], ids=lambda case: case["name"])
def test_a_comparison_of_two_results_is_as_the_table_says(case):
    """Names, places and colour of the points, and τ; nothing where only one of the two has the relation."""
    scores = result_of(COMPARED, TABLES[COMPARED]["results"][case["result"]])
    view = view_of(scores, case["state"])
    assert len(view.map.compared(view.shown)) == 2
    assert compared(view, case.get("dark", False)) == case["expected"]


CARDS = json.loads((FOLDER / "cards.json").read_text())


@pytest.mark.parametrize("case", CARDS["roles"], ids=lambda case: case["name"])
def test_a_role_is_told_as_the_table_says(case):
    """Over the seeds, from θ on, with the seeds that contradict themselves."""
    scored = np.array(case["seeds"], dtype=float).T
    assert role_words(scored, case["threshold"], case["about"], case["odd"]) == case["expected"]


@pytest.mark.parametrize("case", CARDS["remarks"], ids=lambda case: case["name"])
def test_what_speaks_against_a_label_is_told_as_the_table_says(case):
    """It follows τ; of the weaker score with its verb."""
    kinds = {words: kind for kind, words in VERBS.items()}
    effects = {kind: Effect(kind, 0, 0, 1, 0, 0, np.nan, np.nan, np.nan) for kind in VERBS}
    for each in case["effects"]:
        control = np.nan if each["control"] is None else each["control"]
        numbers = (each["score"], 30, 1, each["low"], each["high"], each["beyond"], np.nan, control)
        effects[kinds[each["verb"]]] = Effect(kinds[each["verb"]], *numbers)
    row = RelationRow(ScoredItem("made", "made", "knowledge"), effects["promote"], effects["suppress"], "")
    assert remark_words(row, case["tau"]) == case["expected"]


@pytest.mark.parametrize("case", CARDS["classes"], ids=lambda case: case["name"])
def test_a_class_is_told_as_the_table_says(case):
    """Under both thresholds, which labels count and over which samples causes hold."""
    facts = ClassFacts(**case["facts"])
    read = ViewState.from_values(case["state"]).state.of(AgreementState)
    label, cause = facts.chosen(read)
    found = {"class": facts.words(read), "label": written(label), "cause": written(cause)}
    assert {**found, "relation": facts.relations[facts.counted(read)]} == case["expected"]


def test_the_scripts_tests_have_the_palettes_and_defaults_of_the_page():
    """They read them from the tables, as the page gets them from the server."""
    assert json.loads((FOLDER / "palettes.json").read_text()) == plain(palettes())
    for name, table in TABLES.items():
        scores = result_of(name, next(iter(table["results"].values())))
        assert table["defaults"] == plain(state_of(view_of(scores, {}, VIEWS.get(name, ""))))


@pytest.mark.parametrize("name", TABLES)
def test_the_table_has_the_numbers_that_the_server_would_send(name):
    """The scripts' tests start from the packed results of the table."""
    for described in TABLES[name]["results"].values():
        scores = result_of(name, described)
        for key, packed in described["numbers"].items():
            view = view_of(scores, asked_by(key), VIEWS.get(name, ""))
            assert base64.b64encode(numbers_of(view)).decode() == packed


FUNCTION = {
    "how": ["any", "always"],
    "kind": ["both", "promote", "suppress"],
    "colour": ["categories", "scores"],
    "tau": [0.0, 0.05, 0.1, 0.15, 0.3, 0.5, 1.0],
    "labels": ["all", "beyond"],
    "uncertain": [False, True],
    "top": [0, 1, 5, 40],
    "palette": ["okabe-ito", "paper"],
}
CAUSAL = {
    "columns": ["both", "always", "any"],
    "gates": ["both", "facilitation", "interference", "irrelevance", "preview"],
    "role": [0.0, 0.3, 0.5, 0.77, 1.0],
    "palette": ["okabe-ito", "paper"],
}


def random_states(choices, count, seed):
    """Values of controls, always the same ones."""
    drawn = random.Random(seed)
    return [{key: drawn.choice(values) for key, values in choices.items()} for _ in range(count)]


CHOICES = {
    "causal": CAUSAL,
    "behaviour": {
        "attention": [0.0, 0.2, 0.3, 0.77],
        "measure": ["", "induction", "entropy"],
        "strongest": [0, 1, 7, 999],
        "palette": ["okabe-ito", "paper"],
    },
    "ablation": {
        "off": ["zero", "mean"],
        "item": ["", "country_capital"],
        "largest": [0, 1, 7, 999],
        "palette": ["okabe-ito", "paper"],
    },
}
PLAIN = {"behaviour", "ablation"}
SHIPPED = [one.scores for one in shipped() if one.scores.provenance.method != "salience"]  # which has no panels
DEFAULT = "smollm2-135m-instruct"
SHIPPED_DEFAULT = [one.scores for one in shipped() if one.scores.provenance.model.id == DEFAULT]
NAMES = [f"{scores.provenance.model.id} {scores.provenance.method}" for scores in SHIPPED]


def check_measures(panels, found):
    """What a tooltip tells: names, numbers in 10,000 steps at least, intervals in hundredths."""
    for panel, measures in zip(panels, found, strict=True):
        for measure, sent in zip(panel.measures, measures, strict=True):
            facts = (measure.name, measure.digits, measure.ranked)
            assert (sent["name"], sent["digits"], sent["ranked"]) == facts
            away = np.abs(np.array(sent["numbers"]) - np.nan_to_num(measure.value).ravel())
            assert away.max() <= 1e-4 * max(1.0, panel.steepest), panel.key
            assert (sent["interval"] is None) == (measure.interval is None)
            for ends, mine in zip(sent["interval"] or (), measure.interval or (), strict=True):
                assert np.abs(np.array(ends) - 100 * np.nan_to_num(mine).ravel()).max() <= 0.5001


@needs_node
@pytest.mark.parametrize("scores", SHIPPED, ids=NAMES)
def test_the_scripts_follow_every_control_as_python_does(scores):
    """Every code, mark, word and count of real maps, under random settings in both palettes and themes."""
    method = scores.provenance.method
    states = random_states(CHOICES.get(method, FUNCTION), 12 if method not in PLAIN else 8, seed=1)
    if method not in CHOICES:
        states[3]["relation"], states[4]["relation"] = scores.items()[0], scores.items()[-1]
        states[5]["carriers"] = "mean"
    views = [view_of(scores, state) for state in states]
    assert len({numbers_of(view) for view in views}) == 1, "numbers that depend on a local setting"
    for dark in (False, True):
        half = views[::2] if dark else views[1::2]
        for view, found in zip(half, followed(half, dark), strict=True):
            expected = plain(rendered(view, dark))
            for key, value in expected.items():
                assert found[key] == value, (key, state_of(view))
            check_measures(view.panels, found["measures"])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 10_000))
def test_a_score_reaches_a_threshold_exactly_when_its_step_does(scores, grid):
    """Whatever the score, for every threshold of four decimals; equal steps are scores that hardly differ."""
    values = np.array([*scores, grid / 10_000])
    steps = score_steps(values)
    threshold = round(grid / 10_000, 4)
    assert ((steps >= grid * (STEPS // 10_000)) == (values >= threshold)).all()
    assert np.abs(steps / STEPS - values).max() <= 1.0001 / STEPS


def grown(scores, layers=80, heads=64):
    """A real result as a model of so many heads would have it: heads of the same depth, drawn at random."""
    drawn, card = np.random.default_rng(0), scores.provenance.model
    at = np.repeat(np.arange(layers) * len(card.layers) // layers, heads), drawn.integers(0, card.heads, layers * heads)

    def larger(array):
        values = array.values[..., at[0], at[1]].reshape(*array.shape[:-2], layers, heads)
        coords = {dim: array.coords[dim] for dim in array.dims[:-2]}
        return xr.DataArray(values, {**coords, "layer": range(layers), "head": range(heads)}, array.dims)

    card = replace(card, layers=tuple(range(layers)), heads=heads)
    parts = {name: larger(part) for name, part in scores.parts.items()}
    arrays = {name: larger(getattr(scores, name)) for name in ("score", "hits", "missing")}
    return replace(scores, **arrays, parts=parts, provenance=replace(scores.provenance, model=card))


@pytest.mark.parametrize("kind", ["weights", "running", "causal", "behaviour", "ablation"])
def test_the_numbers_of_a_big_model_are_small(kind, running_scores):
    """At most 300 kB for 80 × 64 heads and all relations, with intervals and controls, compressed."""
    big = big_scores()
    made = {
        "weights": lambda: big,
        "running": lambda: grown(running_scores),
        "causal": lambda: causal_scores_of(big.provenance.model),
    }
    scores = made[kind]() if kind in made else grown(shipped_scores(kind))
    assert len(gzip.compress(numbers_of(view_of(scores, {})), 4)) < 300_000


@needs_node
@pytest.mark.parametrize("basis", ["function", "running"])
def test_behaviour_is_one_more_category_where_it_is_asked_for(basis):
    """Heads whose attention follows a pattern, in both languages; relations and first-token sinks stay as they are."""
    results = {one.provenance.method: one for one in SHIPPED_DEFAULT if one.provenance.method in {basis, "behaviour"}}
    views = []
    scored, one = {"also": True, "colour": "scores"}, {"also": True, "relation": "country_capital"}
    always = {"also": True, "tau": 0.5, "how": "always", "palette": "paper"}
    for values in ({"also": False}, {"also": True}, always, scored, one):
        read = ViewState.from_values({**values, "basis": basis, "model": DEFAULT, "view": "function"})
        views.append(View(read.state, results[basis].provenance.model, tuple(results.items())))
    plain_panels, panels = views[0].panels, views[1].panels
    assert [panel.title for panel in panels] == [*(panel.title for panel in plain_panels), "Behaviour"]
    shares = results["behaviour"].score.sel(item=["previous_token", "duplicate_token", "induction"])
    expected = (shares.isel(kind=0, sample=0) >= 0.3).any("item").values
    assert (panels[-1].member == expected).all()
    assert (panels[0].member == (plain_panels[0].member | expected)).all()
    said = [text_of(view.map.said(view.shown)) for view in views]
    rule, end = "A head belongs to Behaviour if at least 0.3 of its attention", "follows a pattern."
    assert [rule in words for words in said] == [False, True, True, True, False]
    assert [f"{rule}, and more than τ, {end}" in words for words in said] == [False, True, True, False, False]
    assert f"{rule} {end}" in said[3]
    for view in views[1:]:
        [found] = followed([view], False)
        for key, value in plain(rendered(view, False)).items():
            assert found[key] == value, (key, state_of(view))
