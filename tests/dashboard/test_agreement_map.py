"""The agreement map: which heads have a label, which matter, by results of other maps; in Python and in the scripts."""

import base64
import html
import io
import random
import re
from dataclasses import replace
from itertools import combinations
from urllib.parse import parse_qs, urlparse

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from starlette.testclient import TestClient

from analysis import methods
from analysis.evidence.agreement import BOTH, IRRELEVANT, WORDS, agreements, chance_of_both, expected_counts, p_words
from analysis.evidence.quantities import values
from analysis.evidence.shipped import shipped
from analysis.models.card import HeadId
from dashboard.maps import MAPS, map_of, map_of_method
from dashboard.maps.agreement.state import AgreementState
from dashboard.maps.agreement.words import class_counts
from dashboard.maps.head_part import AskedHead
from dashboard.page.markup import as_html
from dashboard.palette import colours
from dashboard.state import ViewState
from dashboard.view import View, open_view
from tests.cases.rendered import rendered
from tests.dashboard.made import catalogue_of, state
from tests.dashboard.test_callbacks import text
from tests.dashboard.test_rules import followed, needs_node, plain, state_of

SMALL, GEMMA, QWEN = "smollm2-135m-instruct", "gemma-3-270m", "qwen2.5-coder-1.5b-instruct"
RESULTS = {
    model: {one.scores.provenance.method: one.scores for one in shipped() if one.scores.provenance.model.id == model}
    for model in (SMALL, GEMMA, QWEN)
}


def view_of(model, results=None, **fields):
    """The agreement map of results that come with the project."""
    there = RESULTS[model] if results is None else results
    card = next(iter(RESULTS[model].values())).provenance.model
    wanted = replace(state(**fields), view="agreement", model=model)
    return View(wanted, card, tuple(there.items()))


def test_its_default_counts_are_those_of_the_command():
    """For every two methods and every task, at the methods' own thresholds."""
    for model in (SMALL, GEMMA):
        for each in agreements(RESULTS[model]):
            view = view_of(model, what=each.what, whether=each.whether)
            panel = next(panel for panel in view.panels if panel.key == each.item)
            assert class_counts(panel) == list(each.counts.values())
            assert panel.count == each.counts[WORDS[BOTH]]


def test_thresholds_and_seeds_decide_as_a_loop_over_the_heads_does():
    """Labelled above τ, causal from θ on in every seed; at θ = 0 every head is causal."""
    fields = {"what": "running", "label": 0.4, "cause": 0.3, "over": "always"}
    panel = view_of(SMALL, **fields).panels[1]
    labels = RESULTS[SMALL]["running"].score.mean("sample").max(["item", "kind"])
    gates = RESULTS[SMALL]["causal"].score.sel(item="syntax", kind=["facilitation", "interference"])
    expected = [0] * 4
    for layer in range(30):
        for head in range(9):
            is_labelled = float(labels[layer, head]) > 0.4
            is_causal = bool((gates[:, :, layer, head] >= 0.3).all("sample").any())
            expected[2 * is_labelled + is_causal] += 1
    assert class_counts(panel) == expected
    assert class_counts(view_of(SMALL, cause=0.0).panels[0])[::2] == [0, 0]


def test_a_relations_panel_counts_the_labels_of_that_relation_alone():
    """Ablation on country → capital against scores for country → capital; on Math against those of any relation."""
    panels = {panel.key: panel for panel in view_of(SMALL, whether="ablation").panels}
    scores = RESULTS[SMALL]["running"].score.mean("sample").max("kind")
    assert np.array_equal(panels["country_capital"].measures[0].value, scores.sel(item="country_capital").values)
    assert np.array_equal(panels["math"].measures[0].value, scores.max("item").values)
    changes = RESULTS[SMALL]["ablation"].score.sel(item="math", kind="zero", sample="all").values
    causes = panels["math"].measures[1].value
    assert ((causes == 0) | (causes == np.abs(changes))).all()
    assert 0 < (causes == 0).sum() < causes.size


def test_expected_counts_have_the_same_margins():
    """As many labelled and as many causal heads as there are, and independent."""
    expected = expected_counts([61, 170, 16, 23])
    assert sum(expected) == pytest.approx(270)
    assert expected[2] + expected[3] == pytest.approx(39)
    assert expected[3] / expected[2] == pytest.approx(193 / 77)
    assert expected_counts([0, 0, 0, 0]) == [0, 0, 0, 0]


def test_the_chance_of_as_many_heads_of_both_kinds_is_that_of_drawing_lots():
    """As counted over all draws of 3 of 8 heads, 4 of them causal; certain where nothing is drawn."""
    draws = list(combinations(range(8), 3))
    for both in range(4):
        counts = [8 - 3 - 4 + both, 4 - both, 3 - both, both]
        expected = sum(len({0, 1, 2, 3} & set(draw)) >= both for draw in draws) / len(draws)
        assert chance_of_both(counts) == pytest.approx(expected)
    assert chance_of_both([5, 0, 0, 0]) == chance_of_both([0, 0, 0, 0]) == 1


def test_what_replaces_a_head_decides_whether_it_is_causal():
    """Zero, its mean, or what both agree on: from the stored numbers; in the address, the sentence and the files."""
    scores = RESULTS[GEMMA]["ablation"].score.sel(item="country_capital", sample="all")
    zero, mean = scores.sel(kind="zero").values, scores.sel(kind="mean").values
    cause, counts = {}, {}
    for replaced in ("zero", "mean", "both"):
        view = view_of(GEMMA, whether="ablation", replaced=replaced)
        panel = next(panel for panel in view.panels if panel.key == "country_capital")
        cause[replaced], counts[replaced] = panel.measures[1].value, class_counts(panel)
        assert panel.remark.endswith(f"by chance ({p_words(chance_of_both(counts[replaced]))})")
        assert set(view.map.frame(view.shown)["replaced"]) == {replaced}
        assert ("replaced=" in view.named.to_query()) is (replaced != "zero")
    assert cause["zero"][9, 3] == abs(zero[9, 3])
    assert cause["both"][9, 3] == cause["mean"][9, 3] == abs(mean[9, 3])
    agreed = (cause["zero"] > 0) & (cause["mean"] > 0) & (np.sign(zero) == np.sign(mean))
    assert np.array_equal(cause["both"], np.where(agreed, np.minimum(abs(zero), abs(mean)), 0))
    of_mean = next(
        each
        for each in agreements(RESULTS[GEMMA], replaced="mean")
        if (each.what, each.item) == ("running", "country_capital")
    )
    assert list(of_mean.counts.values())[BOTH] < list(counts["zero"])[BOTH]
    shown = view_of(GEMMA, what="running", whether="ablation", replaced="mean")
    assert "heads set to their mean" in shown.map.heading(shown.shown)


def test_the_thresholds_of_the_page_are_those_of_the_methods():
    """So that the map opens with what the command counts, whichever methods are chosen."""
    default = AgreementState()
    for method in methods.METHODS:
        if method.answers_what:
            assert method.label is not None
            assert method.label.least == default.label
        if method.answers_whether:
            assert method.label is not None
            assert method.label.least == default.least_cause(method.label.unit)


def test_heads_without_a_score_have_a_reason_and_are_not_counted():
    """A layer that was not computed, on either side."""
    gates = RESULTS[SMALL]["causal"]
    fewer = replace(gates, score=gates.score.where(gates.score.layer != 3), missing=gates.missing.copy())
    fewer.missing.loc[{"layer": 3}] = 4
    view = view_of(SMALL, {**RESULTS[SMALL], "causal": fewer})
    panel = view.panels[0]
    assert (panel.reason[3] == 4).all()
    assert not panel.reason[4:].any()
    assert sum(class_counts(panel)) == 270 - 9
    assert view.map.cells(view.shown)["agreement.math"][27] == "being computed"


@needs_node
@pytest.mark.parametrize("model", [SMALL, GEMMA])
def test_the_scripts_class_heads_as_python_does(model):
    """Codes, counts, words, legend and tables under random thresholds, in both palettes and themes."""
    drawn = random.Random(2)
    for whether in ("causal", "ablation"):
        if whether in RESULTS[model]:
            views = []
            replaced = drawn.choice(["mean", "both"])  # one for all: the server sends other numbers for another
            for _ in range(8):
                fields = {name: drawn.choice([0.0, 0.05, 0.1, 0.15, 0.5, 1.0]) for name in ("label", "cause", "change")}
                over, palette = drawn.choice(["mean", "always", "any"]), drawn.choice(["okabe-ito", "paper"])
                counted = drawn.choice(["all", "beyond"])
                views.append(
                    view_of(
                        model, whether=whether, over=over, palette=palette, counted=counted, replaced=replaced, **fields
                    )
                )
            for dark in (False, True):
                for view, found in zip(views, followed(views, dark), strict=True):
                    for key, value in plain(rendered(view, dark)).items():
                        assert found[key] == value, (key, state_of(view))


@needs_node
def test_scripts_and_python_agree_on_what_is_missing():
    """Labels of a result without any relation, and heads that are being computed."""
    gates = RESULTS[SMALL]["causal"]
    missing = gates.missing.copy()
    missing.loc[{"layer": 3}] = 4
    fewer = replace(gates, score=gates.score.where(gates.score.layer != 3), missing=missing)
    running = RESULTS[SMALL]["running"]
    without = {name: getattr(running, name).isel(item=[]) for name in ("score", "hits", "missing")}
    nothing = replace(running, **without, parts={}, provenance=replace(running.provenance, items=()))
    for results in ({**RESULTS[SMALL], "causal": fewer}, {"running": nothing, "causal": gates}):
        view = view_of(SMALL, results)
        [found] = followed([view], False)
        for key, value in plain(rendered(view, False)).items():
            assert found[key] == value, key


def test_a_model_that_lacks_one_side_says_what_it_takes():
    """Qwen has no causes here: both commands are named, and nothing else of the page breaks."""
    view = view_of(QWEN)
    assert view.shown is None
    words = text(view.map.absent(view.card, AgreementState()))
    assert f"analysis gates {QWEN}" in words
    assert f"analysis map {QWEN}" in words


def test_a_link_keeps_what_was_chosen_and_names_no_default(store):
    """Methods and thresholds are in the address; what the model lacks is a notice."""
    catalogue = catalogue_of(store)
    query = f"?model={SMALL}&view=agreement&what=function&whether=ablation&label=0.3&change=0.2&matters=any"
    view = open_view(catalogue, query)
    assert not view.notices
    assert ViewState.from_query(view.query).state == view.named
    for part in ("what=function", "whether=ablation", "label=0.3", "change=0.2", "matters=any"):
        assert part in view.query
    default = open_view(catalogue, f"?model={SMALL}&view=agreement&what=running&whether=causal&label=0.15&cause=0.5")
    assert default.query.endswith("&view=agreement")
    [notice] = open_view(catalogue, f"?model={GEMMA}&view=agreement&whether=causal").notices
    assert "'causal'" in notice


def test_it_shows_the_results_that_other_maps_chose(store):
    """A map that only reads results leaves the choice of a fit to the map whose result it is; it is no method's map."""
    assert map_of("agreement").methods() == ()
    assert {map_of_method(name).name for name in map_of("agreement").reads()} == {"function", "causal", "ablation"}
    assert [each.name for each in MAPS if each.own_view][:2] == ["function", "causal"]
    view = open_view(catalogue_of(store), f"?model={SMALL}&view=agreement")
    assert dict(view.shown.by_method)["causal"] is view.results["causal"]


def test_the_view_is_taken_away_with_both_numbers_and_the_class(server):
    """As CSV, as a picture's data and as a script."""
    client = TestClient(server, base_url="http://127.0.0.1:8050")
    frame = pd.read_csv(io.BytesIO(client.get("/export/view.csv?view=agreement").content))
    assert set(frame["class"]) == set(WORDS)
    assert len(frame) == 2 * 270
    both = frame[frame["class"] == WORDS[BOTH]]
    assert (both["label"] > 0.15).all()
    assert (both["cause"] >= 0.5).all()
    assert "agreement" in client.get("/export/reproduce.py?view=agreement").text
    figure = client.get("/export/figure.json?view=agreement").json()
    assert "labels (function map, running model)" in str(figure["layout"]["annotations"])


def test_a_heads_card_names_its_class(store):
    """For every cause that there is, whichever the map shows; the label's score with whose it is."""
    view = open_view(catalogue_of(store), f"?model={SMALL}&view=agreement&pin=L23H4")
    part = view.map.head_part(AskedHead(HeadId(23, 4), (), view.card, colours("paper", False), True), view.shown)
    page = as_html(part.content)
    words = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "Labelled: a score above τ = 0.15 (Function map, running model)" in words
    assert [words.count(f"Causes: {title}") for title in ("Causal map", "Ablation map")] == [1, 1]
    rows = re.findall(r'<th scope="row">(.*?)</th><td[^>]*>(.*?)</td>', page)
    rows = [(re.sub("<[^>]*>", "", name), told) for name, told in rows]
    assert [name for name, _ in rows] == ["Math", "Syntax", "Math", "Syntax", "country → capital"]
    assert rows[-1][1] == WORDS[BOTH]
    assert re.search(r"0\.69\s+country → capital", words)


def test_every_panel_has_its_heads_as_points_and_leads_to_the_same_numbers(server):
    """Label across, cause up, named heads; the link opens both numbers with the classes as colours."""
    view = view_of(SMALL, whether="ablation")
    contents = view.map.contents(view.shown, 1200, False)
    figure = contents["agreement-scatter"].draw()
    assert len(go.Figure(figure).data) == len(view.panels) == 3
    narrow = view.map.contents(view.shown, 360, False)["agreement-scatter"].draw()
    assert narrow["layout"]["height"] > 2 * figure["layout"]["height"]
    results = RESULTS[SMALL]
    links = re.findall(r'href="(/compare[^"]+)"', as_html(contents["agreement-counts"].draw()))
    for panel, points, link in zip(view.panels, figure["data"], links, strict=True):
        at = points["customdata"].index("L23H4")
        asked = {key: found[0] for key, found in parse_qs(urlparse(html.unescape(link)).query).items()}
        for axis, key, measure in (("x", asked["x"], panel.measures[0]), ("y", asked["y"], panel.measures[1])):
            expected = measure.value[23, 4]
            assert np.isclose(np.frombuffer(base64.b64decode(points[axis]["bdata"]), "f4")[at], expected)
            assert np.isclose(values(results, key)[23, 4], expected)
        page = TestClient(server, base_url="http://localhost").get(html.unescape(link)).text
        for key in ("x", "y", "colour"):
            assert f'selected value="{asked[key]}"' in page


def test_labels_beyond_copying_can_count_alone():
    """A head keeps its label if a relation's score is neither copy-like nor unspecific, as a loop finds; fewer do."""
    running = RESULTS[SMALL]["running"].over_samples("mean")
    label = np.zeros((30, 9))
    for item in running.items():
        for kind in ("promote", "suppress"):
            score = running.score.sel(item=item, kind=kind, sample="all").values
            beyond, control = running.part(f"beyond {kind}", item), running.part(f"control {kind}", item)
            poor = np.zeros((30, 9), dtype=bool)
            if beyond is not None:
                poor |= beyond < 0.5
            if control is not None:
                poor |= control > 0.15
            label = np.maximum(label, np.where(poor, 0.0, score))
    view = view_of(SMALL, whether="causal", counted="beyond")
    panel = view.panels[0]
    assert np.allclose(panel.measures[0].value, label)
    labelled = sum(class_counts(panel)[code] for code in (IRRELEVANT, BOTH))
    assert labelled == (label > 0.15).sum() < (view_of(SMALL).panels[0].measures[0].value > 0.15).sum()
    assert "score beyond copying is above" in str(view.map.said(view.shown))
    every = agreements(RESULTS[SMALL], beyond=True)
    same = next(each for each in every if (each.what, each.whether) == ("running", "causal"))
    assert list(same.counts.values()) == class_counts(panel)
    without = {**RESULTS[SMALL], "running": replace(RESULTS[SMALL]["running"], parts={})}
    untold = view_of(SMALL, without)
    assert "counted" in untold.map.needless(untold.shown, untold.shown.state, {})
