"""The function map from the weights or in the running model: which is shown, and how far the two agree."""

import io
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from starlette.testclient import TestClient

from analysis import methods
from analysis.evidence.catalogue import Catalogue
from analysis.evidence.shipped import shipped_scores
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.models import builtin as default_model
from analysis.models.checkpoint import Checkpoint
from analysis.relations.agreement import agreement, in_words, label_counts
from analysis.results.scores import OVER_SAMPLES, Missing, Scores
from dashboard.access import Access
from dashboard.figures.view_figure import view_picture
from dashboard.jobs import job_state
from dashboard.maps import map_of
from dashboard.maps.function import comparison
from dashboard.maps.function.basis import better, default_basis
from dashboard.maps.function.scatter import best_scores, scatter
from dashboard.maps.function.state import FunctionState
from dashboard.page import callbacks, ids
from dashboard.palette import colours
from dashboard.state import ViewState
from dashboard.view import View, open_view
from dashboard.web.application import create_app
from dashboard.web.exports import reproduce
from tests.computing import asked, computed
from tests.dashboard.made import catalogue_of, state
from tests.dashboard.test_callbacks import SCREEN, painted, text
from tests.dashboard.test_function_figures import unpacked
from tests.synthetic import BLIND, ODD, fill, fill_two_bases


@pytest.fixture
def both(store, running_scores):
    """The default model with both maps, and a model whose weights-only map does not hold."""
    fill(store)
    fill_two_bases(store, running_scores)
    return catalogue_of(store)


@pytest.fixture
def client(both, store):
    return TestClient(create_app(both, Engine(store), Access(local=True)), base_url="http://localhost")


def only(scores, *names, keep=True):
    """A result of these relations alone, or of all others."""
    items = tuple(item for item in scores.provenance.items if (item.name in names) == keep)
    kept = {"item": [item.name for item in items]}
    arrays = {name: getattr(scores, name).sel(kept) for name in ("score", "hits", "missing")}
    parts = {name: part.sel(kept) for name, part in scores.parts.items()}
    return replace(scores, **arrays, parts=parts, provenance=replace(scores.provenance, items=items))


def basis(view):
    """The method whose result is on the page."""
    return view.shown.whole.provenance.method


def test_the_default_is_the_map_that_holds(both):
    """Weights-only where it agrees with the running model, the running model where it does not."""
    assert basis(open_view(both, "")) == "function"
    assert basis(open_view(both, f"?model={BLIND}")) == "running"
    results = open_view(both, f"?model={BLIND}").results
    assert default_basis(results) == "running"
    assert default_basis({"running": results["running"]}) == "running"
    assert default_basis({"function": results["function"]}) == "function"
    assert default_basis({}) == "function"


def test_a_map_under_way_does_not_take_the_place_of_a_whole_one(both):
    """A few layers of the running model prove nothing yet."""
    results = dict(open_view(both, f"?model={BLIND}").results)
    missing = results["running"].missing.copy()
    missing[..., 3, :] = int(Missing.RUNNING)
    results["running"] = replace(results["running"], missing=missing)
    assert default_basis(results) == "function"


def test_a_map_of_some_relations_does_not_take_the_place_of_one_of_all(both):
    """Neither as the default nor by a warning; a relation of one's own need not be in both."""
    view = open_view(both, f"?model={BLIND}")
    weights, running = view.results["function"], view.results["running"]
    few = only(running, "country_capital", "adjective_comparative")
    assert default_basis({"function": weights, "running": few}) == "function"
    shown = View(view.state, view.card, (("function", weights), ("running", few))).of(map_of("function"))
    assert better(shown) is None
    first, *others = weights.provenance.items
    items = (replace(first, category="custom"), *others)
    own = replace(weights, provenance=replace(weights.provenance, items=items))
    rest = only(running, first.name, keep=False)
    assert default_basis({"function": own, "running": rest}) == "running"
    shown = View(state(basis="function"), view.card, (("function", own), ("running", rest))).of(map_of("function"))
    assert better(shown)[0].name == "running"


def test_the_address_names_a_basis_that_is_not_the_default(both):
    """A link with a basis always shows that basis; the default one is left out."""
    for model, default, other in ((default_model.ID, "function", "running"), (BLIND, "running", "function")):
        explicit = open_view(both, f"?model={model}&basis={default}")
        assert explicit.state.of(FunctionState).basis == ""
        assert "basis" not in explicit.query
        chosen = open_view(both, f"?model={model}&basis={other}")
        assert (basis(chosen), chosen.notices) == (other, ())
        assert f"basis={other}" in chosen.query
        assert open_view(both, chosen.query).state == chosen.state
    assert open_view(both, "").query == ""


@pytest.mark.parametrize(("query", "word"), [("?basis=tea", "tea"), ("?basis=running&carriers=Why", "Why")])
def test_an_unknown_basis_or_carrier_is_said(both, query, word):
    """The default is shown instead."""
    view = open_view(both, query)
    assert word in view.notices[0]
    assert view.state.of(FunctionState).carriers == "mean"
    assert view.panels[0].count > 0


def test_the_notice_of_an_unknown_basis_names_those_that_there_are(both):
    """The switch calls them otherwise than the address does."""
    assert "There are: function, running, context." in open_view(both, "?basis=weights").notices[0]


def test_the_only_sample_of_the_weights_is_no_carrier(both, running_scores):
    """A view from the weights says so and opens; a carrier of the other map is dropped in silence."""
    view = open_view(both, "?carriers=all")
    assert basis(view) == "function"
    assert "'all'" in view.notices[0]
    assert view.state.of(FunctionState).carriers == "mean"
    assert callbacks.describe(both, "?carriers=all", SCREEN, None)["sections"]["scatter"]
    known = open_view(both, f"?carriers={running_scores.samples[0]}")
    assert (known.state.of(FunctionState).carriers, known.notices) == ("mean", ())


def test_carriers_are_taken_together_or_alone(both, running_scores):
    """Mean, lowest, highest, or one carrier's scores; every number of the page is made of them."""
    capital = running_scores.score.sel(item="country_capital").max("kind")
    first = running_scores.samples[0]
    expected = {"mean": running_scores.score.sel(item="country_capital").mean("sample").max("kind")}
    expected |= {"every": running_scores.score.sel(item="country_capital").min("sample").max("kind")}
    expected |= {"some": capital.max("sample"), first: capital.sel(sample=first)}
    for carriers, values in expected.items():
        (panel,) = open_view(both, f"?basis=running&relation=country_capital&carriers={carriers}").panels
        assert panel.value == pytest.approx(values.values), carriers
    assert open_view(both, "?carriers=every").state.of(FunctionState).carriers == "every"


def test_the_controls_follow_the_basis(both, running_scores, monkeypatch):
    """The switch says what is shown, chosen or not; carriers are offered where there are several."""
    found = painted(both, f"?model={BLIND}")
    assert found["controls"]["basis"] == "running"
    assert not found["hidden_controls"]["carriers"]
    offered = found["choices"]["carriers"]
    assert [choice["value"] for choice in offered[:3]] == list(OVER_SAMPLES)
    assert [choice["value"] for choice in offered[3]["items"]] == running_scores.samples
    with monkeypatch.context() as patched:
        patched.setattr(Scores, "samples", property(lambda _: ["The"]))
        assert painted(both, f"?model={BLIND}&tau=0.2")["hidden_controls"]["carriers"]
    weights = painted(both, "")
    assert weights["controls"]["basis"] == "function"
    assert weights["hidden_controls"]["carriers"]


def test_another_model_starts_with_its_own_basis(both):
    """The switch of the model before is no wish for the next one."""
    moved = painted(both, "", {f"{ids.MODEL}.value"}, {"model": BLIND, "basis": "function"})
    assert moved["controls"]["basis"] == "running"
    assert "basis" not in moved["query"]
    chosen = painted(both, "", {"basis.value"}, {"model": BLIND, "basis": "function"})
    assert "basis=function" in chosen["query"]
    assert "relation" in chosen["choices"]


def test_scores_without_a_method_are_those_of_the_map_that_holds(client):
    """As on the page: of the running model where the weights say nothing, of the weights where they agree with it."""
    for model, method in ((default_model.ID, "function"), (BLIND, "running")):
        address = f"/api/scores?model={model}&item=country_capital"
        found = client.get(address).json()
        assert {row["method"] for row in found} == {method}
        assert found == client.get(f"{address}&method={method}").json()
    refused = client.get(f"/api/scores?model={BLIND}&kind=facilitation").json()
    assert refused["message"] == "the running map has no 'facilitation'"


def test_a_map_that_does_not_hold_says_so(both):
    """In words, with r and a link to the map that does; nowhere else."""
    found = callbacks.describe(both, f"?model={BLIND}&basis=function", SCREEN, None)
    r = agreement(*open_view(both, f"?model={BLIND}").results.values()).overall
    assert r < 0.5
    words, link, _ = found["warning"]
    assert words.startswith("For this model the weights-only map is not reliable")
    assert "with the running model's (the mean over its carrier phrases) at only r" in words
    assert f"at only r = {in_words(r)}" in words
    assert basis(open_view(both, link.href.removeprefix("/"))) == "running"
    assert not found["hidden"][ids.WARNING]
    for query in (f"?model={BLIND}", "", "?basis=running", f"?model={ODD}"):
        assert callbacks.describe(both, query, SCREEN, None)["hidden"][ids.WARNING]


def test_a_model_without_a_running_map_says_how_to_get_one(both):
    """A quiet sentence with the command; and a whole notice for those who switch to it."""
    assert f"python -m analysis running {ODD}" in text(painted(both, f"?model={ODD}")["heads"]["sentence"])
    found = callbacks.describe(both, f"?model={ODD}&basis=running", SCREEN, None)
    assert f"{ODD} has no function map in the running model yet" in text(found["empty"])
    assert f"python -m analysis running {ODD}" in text(found["empty"])
    assert found["hidden"][ids.FRAME]
    assert painted(both, f"?model={ODD}&basis=running")["controls"]["basis"] == "running"


def test_sentence_title_and_provenance_follow_the_basis(both, running_scores):
    """Whatever names the map names the one that is shown."""
    found = painted(both, "?basis=running&carriers=every")["heads"]
    assert "on the residual stream of the running model" in text(found["sentence"])
    assert "after every one of" in text(found["sentence"])
    assert "Running model" in found["title"]
    assert "read from its weights alone" in text(painted(both)["heads"]["sentence"])
    card = text(callbacks.inspect(both, ["L23H4"], "?basis=running", SCREEN))
    assert "function map, running model, version" in card
    assert running_scores.samples[1] in card
    annotations = " ".join(note.text for note in view_picture(open_view(both, "?basis=running")).layout.annotations)
    assert "function map, running model" in annotations


def test_downloads_follow_the_basis(client, running_scores):
    """The view as it is shown, all scores with every carrier, the script with the command of the method."""
    view = pd.read_csv(io.BytesIO(client.get("/export/view.csv?basis=running&carriers=some").content))
    assert set(view["method"]) == {"running"}
    assert set(view["carriers"]) == {"some"}
    everything = pd.read_csv(io.BytesIO(client.get("/export/scores.csv?basis=running").content))
    assert set(everything["sample"]) == set(running_scores.samples)
    scores = Scores.from_parquet(client.get("/export/scores.parquet?basis=running").content)
    assert scores.samples == running_scores.samples
    script = client.get("/export/reproduce.py?basis=running&relation=country_capital").text
    assert "'running', 'smollm2-135m-instruct'" in script
    assert "'--relations', 'country_capital'" in script


def test_reproduce_asks_only_for_what_the_view_shows(both, store):
    """Neither other relations than the chosen one, nor files of one's own that do not apply."""
    assert "few.csv" not in reproduce(open_view(both, f"?model={ODD}"))
    assert "odd.csv" in reproduce(open_view(both, f"?model={ODD}"))
    script = reproduce(open_view(both, "?relation=country_capital"))
    assert "'--relations', 'country_capital', '--k'" in script
    assert "noun_pronoun" not in script
    assert "--relations" not in reproduce(open_view(both, ""))


def test_lists_lead_to_the_map_of_their_method(both):
    """A result to its own basis; a job of both methods to the model's."""
    links = text(callbacks.list_jobs(both, None, False, list)["models"])
    assert f"/?model={BLIND}@" in links
    assert "basis=function" in links
    assert "basis=running" in links
    alone = job_state(Job.of(asked("a/b", "running")).at(fingerprint="0123456789ab"))
    assert alone.link == "/?model=a/b@01234567&basis=running"
    together = job_state(Job.of(asked("a/b", "function", "running")).at(fingerprint="0123456789ab"))
    assert together.link == "/?model=a/b@01234567"


# ---- The comparison --------------------------------------------------------------------------------------------------


def test_relations_are_listed_by_their_agreement(both, running_scores):
    """r as numpy has it, the best first; each relation is a link to its own map."""
    found = callbacks.describe(both, "?basis=running", SCREEN, None)["sections"]
    expected = {}
    weights, running = shipped_scores("function"), running_scores.over_samples("mean")
    for name in running.items():
        numbers = [scores.score.sel(item=name, sample="all").values.ravel() for scores in (weights, running)]
        expected[name] = np.corrcoef(*numbers)[0, 1]
    words, listed = found["agreement"]
    assert f"{np.mean(list(expected.values())):.2f}" in words.children[0]
    _, body = listed.children.children
    rows = body.children[:-1]  # the last one has the means
    assert [row.children[2].children for row in rows] == [in_words(r) for r in sorted(expected.values(), reverse=True)]
    link = rows[0].children[0].children.href
    best = max(expected, key=lambda name: expected[name])
    assert open_view(both, link.removeprefix("/")).state.of(FunctionState).relation == best


def test_what_a_correlation_takes_is_said_of_one_carrier_and_one_relation(both, running_scores):
    """Neither is called a mean."""
    view = open_view(both, "")
    first = running_scores.samples[0]
    alone = only(running_scores, "country_capital")
    arrays = {name: getattr(alone, name).sel(sample=[first]) for name in ("score", "hits", "missing")}
    one = replace(alone, **arrays, parts={name: part.sel(sample=[first]) for name, part in alone.parts.items()})
    results = (("function", view.results["function"]), ("running", one))
    shown = View(state(basis="running"), view.card, results).of(map_of("function"))
    said, _ = comparison.contents(shown, False)["agreement"].draw()
    assert f"(one relation), with the running model's scores (after “{first}”)." in said.children[0]


def test_a_map_that_holds_says_how_many_of_the_other_maps_labels_it_finds(both, running_scores):
    """In its own view, with a link to the other one, which has no need of that."""
    (said, _), (other, _) = (
        callbacks.describe(both, f"?basis={basis}", SCREEN, None)["sections"]["agreement"]
        for basis in ("function", "running")
    )
    counts = label_counts(shipped_scores("function"), running_scores)
    words, found, link, end = said.children
    assert found == f" Even so it finds {counts.shared} of the {counts.reference} labels that the "
    assert (link.children, end) == ("running model", " shows.")
    assert open_view(both, link.href.removeprefix("/")).shown.whole.provenance.method == "running"
    assert other.children == [words]


def test_three_maps_of_a_relation_have_a_correlation_for_every_two():
    """As `compare --relations` and `/api/correlations` give them, in the order of the maps."""
    results = {name: shipped_scores(name, "gemma-3-270m") for name in ("function", "running", "context")}
    card = results["function"].provenance.model
    view = View(replace(state(), model=card.id), card, tuple(results.items()))
    _, listed = comparison.contents(view.of(map_of("function")), False)["agreement"].draw()
    header, body = listed.children.children
    titles = [cell.children for cell in header.children.children[2:]]
    assert titles == ["weights – running model", "weights – with context", "running model – with context"]
    *rows, means = [[cell.children for cell in row.children] for row in body.children]
    pairs = [("function", "running"), ("function", "context"), ("running", "context")]
    for column, (one, other) in enumerate(pairs):
        expected = agreement(results[one], results[other])
        found = {row[0].children: row[2 + column] for row in rows}
        for name, r in expected.relations.items():
            assert found[results[one].item(name).title] == in_words(r)
        assert means[2 + column] == in_words(expected.overall)


def test_points_are_heads(both, running_scores):
    """Across the score from the weights, up the one in the running model; plotly knows every property."""
    figure = callbacks.describe(both, "?relation=country_capital", SCREEN, None)["sections"]["scatter"]
    go.Figure(figure)
    (points,) = figure["data"]
    at = points["customdata"].index("L23H4")
    weights = shipped_scores("function")
    running = running_scores.over_samples("mean")
    for axis, scores in (("x", weights), ("y", running)):
        values = best_scores(scores, ["country_capital"], ("promote", "suppress"))
        assert unpacked(points[axis])[at] == pytest.approx(values[23, 4], abs=1e-6)
    assert (figure["layout"]["xaxis"]["title"]["text"], figure["layout"]["yaxis"]["title"]["text"]) == (
        "Weights",
        "Running model",
    )


def test_heads_that_do_nothing_are_no_points(running_scores):
    """Neither those with 0 by both nor those without a score."""
    card = replace(running_scores.provenance.model, layers=(2, 5), heads=2)
    one, other = np.array([[0, 0.5], [0.2, np.nan]]), np.array([[0, 0.0], [0.4, 1.0]])
    figure = scatter(one, other, ("a", "<b>"), card, 0.15, "#000000", colours("okabe-ito", False))
    assert figure["data"][0]["customdata"] == ["L2H1", "L5H0"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "&lt;b&gt;"


def test_one_result_has_nothing_to_be_compared_with(both):
    """The sections are hidden."""
    hidden = callbacks.describe(both, f"?model={ODD}", SCREEN, None)["hidden"]
    assert hidden[ids.card("scatter")]
    assert hidden[ids.card("agreement")]
    assert not callbacks.describe(both, "", SCREEN, None)["hidden"][ids.card("scatter")]


def test_a_relation_of_one_result_alone_has_no_points(running_scores):
    """Whichever of the two has it, the page opens: the list of the shared relations stays."""
    weights, name = shipped_scores("function"), "country_capital"
    for pair in ((weights, only(running_scores, name, keep=False)), (only(weights, name, keep=False), running_scores)):
        results = {scores.provenance.method: scores for scores in pair}
        method = next(key for key, scores in results.items() if name in scores.items())
        wanted = replace(state(basis=method, relation=name), model=weights.provenance.model.id)
        view = View(wanted, weights.provenance.model, tuple(results.items()))
        found = comparison.contents(view.of(map_of("function")), False)
        assert set(found) == {"agreement"}
        assert found["agreement"].draw()


def test_reproduce_of_a_view_by_the_running_model_runs(both, tmp_path):
    """The script finds the heads that the view shows, after one carrier."""
    view = open_view(both, "?basis=running&relation=country_capital&carriers=No")
    (tmp_path / "reproduce.py").write_text(reproduce(view))
    done = subprocess.run(
        [sys.executable, "reproduce.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    assert f"country_capital: {view.panels[0].count} heads above 0.15" in done.stdout


def test_the_state_of_the_basis_stands_in_the_address():
    """Readable, and read back."""
    wanted = state(basis="running", carriers="The story of", labels="beyond", uncertain=True)
    query = wanted.to_query()
    assert query == "?basis=running&carriers=The%20story%20of&labels=beyond&uncertain=1"
    assert ViewState.from_query(query).state == wanted
    assert state(basis="running", carriers="every").of_another_model("a/b") == state(model="a/b")


def test_a_result_with_settings_of_its_own_is_reached_by_its_link(tiny_folder, store):
    """The default carriers are shown first; the link of the other result shows its carrier, and says what it is."""
    checkpoint = Checkpoint.open(tiny_folder, "tiny")
    file = {"name": "shift.csv", "content": "\n".join(f"w{i},w{i + 100}" for i in range(60))}
    method = methods.method("running")
    for chosen in ({}, {"carriers": ["w1 w2"]}):
        settings = method.settings(relations=[], files=[file], **chosen)
        own = computed("running", method.plan(checkpoint.card, settings), checkpoint, store)
    catalogue = Catalogue(store)
    assert len(open_view(catalogue, "?model=tiny").results["running"].samples) == 4
    linked = map_of("function").state_of_result(own.provenance)
    query = f"?model=tiny&basis=running&result={linked.result}"
    assert open_view(catalogue, query).shown.whole.samples == ["w1 w2"]
    assert "after 'w1 w2'" in method.words(own.provenance)
    (notice,) = open_view(catalogue, "?model=tiny&result=nonsense").notices
    assert "no result 'nonsense'" in notice
