"""How far labels can be trusted: hollow and uncertain ones, intervals, β and control wherever a score is shown."""

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from dash import html
from starlette.testclient import TestClient

from analysis.evidence.shipped import shipped_scores
from analysis.models.card import HeadId
from analysis.results.intervals import wilson
from analysis.results.scores import part_array
from dashboard.figures.head_map import INSIDE
from dashboard.figures.view_figure import view_picture
from dashboard.maps import map_of
from dashboard.maps.function import exports
from dashboard.maps.function.head import head_scores
from dashboard.maps.function.labels import chosen_labels, deciding_labels, quality, words
from dashboard.maps.function.panels import coloured
from dashboard.maps.function.state import FunctionState
from dashboard.maps.panel import Panel
from dashboard.page import callbacks
from dashboard.page.inspector import inspector
from dashboard.palette import blend, colours
from dashboard.view import open_view
from dashboard.web.standalone import standalone
from tests.dashboard.made import figure_of, map_view, rows_of, state, view_of
from tests.dashboard.test_callbacks import SCREEN, painted, text
from tests.dashboard.test_function_figures import maps, unpacked
from tests.synthetic import ODD
from tests.test_scores import HITS, make_scores


@pytest.fixture
def client(server):
    return TestClient(server, base_url="http://localhost")


def with_parts(beyond=np.nan, control=np.nan):
    """copying 0.5 0 | 0 0.1, country_capital 0.1 0.2 | 0 0 in layer 0, with one β and one control for all."""
    scores = make_scores(HITS)
    shape = scores.score.isel(kind=0).shape
    parts = {}
    for name, value in (("beyond", beyond), ("control", control)):
        for kind in ("promote", "suppress"):
            parts[f"{name} {kind}"] = part_array(scores.provenance, scores.samples, np.full(shape, value))
    return replace(scores, parts=parts)


def panels_of(scores, **fields):
    return {panel.key: panel for panel in map_view(scores, state(**fields)).panels}


@pytest.mark.parametrize(
    ("beyond", "control", "poor"),
    [(0.49, 0, True), (0.5, 0, False), (1, 0.16, True), (1, 0.15, False), (np.nan, np.nan, False)],
)
def test_copy_like_and_unspecific_labels_are_hollow(beyond, control, poor):
    """β below a half, or a control above τ; what was not measured speaks against nothing."""
    found = panels_of(with_parts(beyond, control))
    assert found["algorithmic"].member[0].tolist() == [True, False]
    assert found["algorithmic"].hollow[0].tolist() == [poor, False]
    assert found["all"].hollow[0].tolist() == [poor, poor]


def test_without_measures_nothing_is_hollow():
    """A result of scores alone has no such panels, and no filter."""
    scores = make_scores(HITS)
    assert all(panel.hollow is None for panel in map_view(scores).panels)
    assert not any(trace.get("legendgroup") == INSIDE for trace in figure_of(scores)["data"])


def test_one_good_label_fills_a_head():
    """At τ = 0.05 head 0 does both relations: copying is copy-like, the other is not."""
    scores = with_parts(0.2, 0)
    for name, part in scores.parts.items():
        if name.startswith("beyond"):
            part.loc[{"item": "country_capital"}] = 0.9
    found = panels_of(scores, tau=0.05)
    assert found["algorithmic"].hollow[0, 0]
    assert not found["knowledge"].hollow[0, 0]
    assert found["all"].belongs[:, 0, 0].tolist() == [True, True]
    assert not found["all"].hollow[0, 0]


def test_only_labels_beyond_copying():
    """The others are left out of counts and members; scores stay as they are."""
    poor, good = with_parts(0.2, 0), with_parts(0.8, 0)
    assert panels_of(poor, labels="beyond")["all"].count == 0
    assert panels_of(good, labels="beyond")["all"].count == panels_of(good)["all"].count > 0
    before, after = panels_of(poor)["algorithmic"], panels_of(poor, labels="beyond")["algorithmic"]
    assert np.array_equal(before.value, after.value, equal_nan=True)


def test_always_asks_for_a_good_label_of_every_relation():
    """With the filter one copy-like relation is enough to fail; without it the head belongs."""
    scores = with_parts(0.9, 0)
    for name in ("beyond promote", "beyond suppress"):
        scores.parts[name].loc[{"item": "copying"}] = 0.1
    labels = chosen_labels(scores, ("copying", "country_capital"), ("promote", "suppress"))
    always = FunctionState(how="always", tau=0.05)
    assert quality(labels, always).counts[0, 0]
    assert not quality(labels, replace(always, labels="beyond")).counts[0, 0]
    assert quality(labels, replace(always, labels="beyond", how="any")).counts[0, 0]


def test_always_fills_a_cell_only_by_good_labels_of_every_relation():
    """Filled are the heads that the filter keeps, by either rule; one copy-like relation makes always hollow."""
    scores = with_parts(0.9, 0)
    for name in ("beyond promote", "beyond suppress"):
        scores.parts[name].loc[{"item": "copying"}] = 0.1
    items = tuple(replace(item, category="knowledge") for item in scores.provenance.items)
    one = replace(scores, provenance=replace(scores.provenance, items=items))
    for how, is_hollow in (("any", False), ("always", True)):
        plain, kept = (panels_of(one, how=how, tau=0.05, labels=labels)["knowledge"] for labels in ("all", "beyond"))
        assert plain.hollow[0, 0] == is_hollow
        assert np.array_equal(plain.member & ~plain.hollow, kept.member)


def test_the_filter_needs_measures(catalogue):
    """A model without them shows all labels, and says why; the control is hidden."""
    view = open_view(catalogue, f"?model={ODD}&labels=beyond")
    assert "was not measured" in view.notices[0]
    assert view.state.of(FunctionState).labels == "all"
    assert painted(catalogue, f"?model={ODD}")["hidden_controls"]["labels"]
    assert not painted(catalogue, "")["hidden_controls"]["labels"]


def test_a_head_shows_the_numbers_of_a_label_that_counts():
    """At τ = 0.05 head 0 copies with 0.5, copy-like, and does the other with 0.1: its value, interval and place."""
    scores = with_parts(0.2, 0)
    for name, part in scores.parts.items():
        if name.startswith("beyond"):
            part.loc[{"item": "country_capital"}] = 0.9
    joined = tuple(replace(item, category="knowledge") for item in scores.provenance.items)
    one = replace(scores, provenance=replace(scores.provenance, items=joined))
    for of_categories in (scores, one):
        before, after = (panels_of(of_categories, tau=0.05, labels=labels)["all"] for labels in ("all", "beyond"))
        assert before.value[0].tolist() == [0.5, 0.2]
        assert after.value[0].tolist() == [0.1, 0.2]
        (low, high), ends = after.measures[0].interval, wilson(5, 50)
        assert (low[0, 0], high[0, 0]) == pytest.approx([float(end) for end in ends])
        frame = exports.frame(map_view(of_categories, state(tau=0.05, labels="beyond"))).iloc[0]
        assert (frame["score"], frame["low"], frame["beyond"]) == pytest.approx((0.1, float(ends[0]), 0.9))
    best = panels_of(one, tau=0.05, labels="beyond", top=1)["knowledge"]
    assert np.argwhere(best.member).tolist() == [[1, 1]]


def test_whatever_names_the_view_names_the_filter(catalogue, client):
    """Sentence, counts, the picture's title and the view's file say so with the filter, and only then."""
    for query, said in (("", False), ("?labels=beyond", True), ("?labels=beyond&colour=scores", True)):
        found = painted(catalogue, query)["heads"]
        assert ("labels beyond copying" in text(found["sentence"])) == said
        assert ("τ, beyond copying" in painted_counts(catalogue, query)) == said
        titles = " ".join(note.text for note in view_picture(open_view(catalogue, query)).layout.annotations)
        assert ("beyond copying" in titles) == said
        frame = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{query}").content))
        assert set(frame["labels"]) == {"beyond" if said else "all"}


def painted_counts(catalogue, query):
    """The text of the table of counts."""
    shown = open_view(catalogue, query).of(map_of("function"))
    return shown.map.counts(shown, colours("okabe-ito", False)).caption


def test_uncertain_labels_are_pale_on_request():
    """0.2 of 40 pairs may as well be 0.15; 0.5 may not."""
    found = panels_of(with_parts(0.9, 0), uncertain=True)
    low, high = wilson(8, 40)
    assert low < 0.15 < high
    assert found["knowledge"].pale[0].tolist() == [False, True]
    assert found["algorithmic"].pale[0].tolist() == [False, False]
    assert panels_of(with_parts(0.9, 0))["knowledge"].pale is None


def insides_of(figure):
    """What lies over the squares of the maps."""
    return [trace for trace in figure["data"] if trace.get("legendgroup") == INSIDE]


def test_hollow_and_pale_cells_keep_an_outline():
    """Over the maps lie others with larger gaps, transparent but for such cells; plotly knows every property."""
    scores, palette = with_parts(0.2, 0), colours("okabe-ito", False)
    figure = figure_of(scores)
    go.Figure(figure)
    insides = insides_of(figure)
    assert len(insides) == 3
    panels = {panel.key: panel for panel in map_view(scores).panels}
    whole = {trace["name"]: trace for trace in maps(figure)}
    for inside in insides:
        trace, panel = whole[inside["name"]], panels[inside["name"]]
        assert inside["xgap"] >= trace["xgap"] + 2
        assert np.array_equal(unpacked(inside["z"]).T == 1, panel.hollow)
        shades = [shade for _, shade in inside["colorscale"]][::2]
        assert shades[:2] == ["rgba(0,0,0,0)", palette.empty]
    pale = figure_of(with_parts(0.9, 0), state(uncertain=True))
    inside = next(trace for trace in insides_of(pale) if trace["name"] == "knowledge")
    code = int(unpacked(inside["z"])[1, 0])
    assert inside["colorscale"][2 * code][1] == blend(palette.empty, palette.of("knowledge"), 0.5)
    scored = insides_of(figure_of(scores, state(colour="scores")))
    for inside, other in zip(scored, insides, strict=True):  # labels are hollow in the colours of scores, too
        assert np.array_equal(unpacked(inside["z"]) == 1, unpacked(other["z"]) == 1)


def test_a_picture_explains_what_is_not_filled(catalogue):
    """In its legend, as a frame; its squares still tell their names."""
    picture = view_picture(open_view(catalogue, ""))
    assert "copy-like or unspecific" in {note.text for note in picture.layout.annotations}
    framed = [shape for shape in picture.layout.shapes if shape.xref == "paper" and shape.line.width == 2]
    assert len(framed) == 1
    named = [trace for trace in picture.data if trace.type == "heatmap" and trace.text is not None]
    assert len(named) == 5


def test_the_legend_explains_hollow_and_uncertain(catalogue):
    """Where there are any, and only there."""
    legend = text(painted(catalogue, "?uncertain=1")["heads"]["legend"])
    assert "hollow: copy-like" in legend
    assert "lighter inside: uncertain" in legend
    assert "hollow" not in text(painted(catalogue, "?labels=beyond")["heads"]["legend"])


def test_a_panel_has_the_intervals_of_its_labels(catalogue):
    """Of the label that decides; a hollow head is called so."""
    view = open_view(catalogue, "?relation=country_capital")
    (measure,) = view.panels[0].measures
    ends = [float(end[23, 4]) for end in measure.interval]
    assert ends == pytest.approx([float(end) for end in wilson(26, 40)])
    hollow = view.panels[0].hollow
    label = view.panels[0].label
    for cell in np.argwhere(hollow):
        assert "copy-like or unspecific" in label.at(tuple(cell))


def test_the_deciding_label():
    """The highest score of any relation and kind; with always the lowest of the relations' best."""
    scores = with_parts(0.9, 0)
    items, kinds = ("copying", "country_capital"), ("promote", "suppress")
    some, every = (deciding_labels(scores, items, how, kinds) for how in ("any", "always"))
    assert some.score[0].tolist() == [0.5, 0.2]
    assert every.score[0].tolist() == [0.1, 0.1]
    assert some.low[0, 0] == pytest.approx(wilson(20, 40)[0])


def test_a_heads_rows_have_intervals_and_remarks():
    """Of the stronger effect; remarks are of labels alone."""
    row = head_scores(with_parts(0.2, 0.3), HeadId(0, 0))[0]
    assert (row.item.name, row.stronger.beyond, row.stronger.control) == ("copying", 0.2, 0.3)
    assert (row.stronger.low, row.stronger.high) == pytest.approx([float(end) for end in wilson(20, 40)])
    assert row.stronger.remarks(0.15) == ["copy-like", "unspecific"]
    assert row.stronger.remarks(0.5) == []
    assert words(0.2, 0.1, 0.35, 0.9, 0, 0.15) == ["uncertain"]


def test_the_card_shows_interval_pairs_and_remarks(catalogue, running_scores):
    """`0.50–0.78 26 / 40` as a button that asks for the pairs; the mean over carriers has a decimal."""
    card = text(callbacks.inspect(catalogue, ["L23H4"], "", SCREEN))
    for expected in ("0.50–0.78", "26 / 40", "β", "copied", "control", "copy-like", '"data-pairs": "country_capital"'):
        assert expected in card
    assert card.count('"data-pairs"') == 19  # every applicable relation, those without a hit too
    assert len(re.findall(r"\d\.\d\d–\d\.\d\d", card)) >= 19
    one = view_of(running_scores, state(basis="running", pins=(HeadId(23, 4),)))
    hits = float(running_scores.over_samples("mean").hits.sel(item="country_capital", layer=23, head=4).max())
    told = f"{hits:.0f}" if hits == int(hits) else f"{hits:.1f}"
    card = text(inspector(one, False))
    assert f"{told} / 40" in card
    assert "Mean of 4 carrier phrases: opens the pairs after “No”" in card
    assert "have a source of several tokens" not in card
    remarks = [piece.children for piece in inspector(one, False)[0]._traverse() if isinstance(piece, html.Small)]
    assert "copy-like" in remarks
    exported = standalone(one, "http://localhost", "{}")
    assert exported.count('<small class="remark">') == len(remarks)
    assert "\\n".join(running_scores.samples) in card
    facts = running_scores.provenance
    longer = replace(facts, items=tuple(replace(item, several=7) for item in facts.items))
    one = view_of(replace(running_scores, provenance=longer), state(basis="running", pins=(HeadId(23, 4),)))
    assert "after “No” (7 of the 40 have a source of several tokens)" in text(inspector(one, False))


def test_the_card_shows_a_second_label_too():
    """A head that promotes with 0.5 and suppresses with 0.3 has interval, β, control and remarks of both."""
    scores = with_parts(0.9, 0)
    scores.score.loc[{"item": "copying", "kind": "suppress", "layer": 0, "head": 0}] = 0.3
    scores.hits.loc[{"item": "copying", "kind": "suppress", "layer": 0, "head": 0}] = 12
    scores.parts["beyond suppress"].loc[{"item": "copying"}] = 0.23
    row = head_scores(scores, HeadId(0, 0))[0]
    assert (row.second(0.15).kind, row.second(0.15).beyond, row.second(0.3)) == ("suppress", 0.23, None)
    described = replace(scores.provenance, settings={"k_standard": 10, "k_copying": 10, "first_mlp": True})
    shown = replace(scores, provenance=described)
    low, high = wilson(12, 40)
    both = text(inspector(view_of(shown, state(pins=(HeadId(0, 0),))), False))
    for expected in (f"suppresses {low:.2f}–{high:.2f}", "data-effects", "0.23"):
        assert expected in both
    other = text(inspector(view_of(shown, state(pins=(HeadId(0, 0),), tau=0.4)), False))
    assert "suppresses: copy-like" in both
    assert "suppresses: copy-like" not in other  # no label at this τ
    assert f"suppresses {low:.2f}–{high:.2f}" in other


def test_the_card_has_the_interval_of_every_effect_with_hits():
    """A head that promotes with 0.5 and suppresses with 0.05, far below τ, has both intervals."""
    scores = with_parts(0.9, 0)
    scores.score.loc[{"item": "copying", "kind": "suppress", "layer": 0, "head": 0}] = 0.05
    scores.hits.loc[{"item": "copying", "kind": "suppress", "layer": 0, "head": 0}] = 2
    described = replace(scores.provenance, settings={"k_standard": 10, "k_copying": 10, "first_mlp": True})
    view = view_of(replace(scores, provenance=described), state(pins=(HeadId(0, 0),)))
    low, high = wilson(2, 40)
    assert f"suppresses {low:.2f}–{high:.2f}" in text(inspector(view, False))


def test_table_and_files_have_intervals(catalogue, client):
    """Interval, β and control of the best relation and of each in the table, of the deciding one in the file."""
    found = callbacks.describe(catalogue, "?view=table", SCREEN, None)["table"]
    best = next(row for row in rows_of(found) if row["name"] == "L23H4")
    for field in ("best.{}", "{}.country_capital"):
        low, high, beyond = (field.format(name) for name in ("low", "high", "beyond"))
        assert [best[low], best[high]] == pytest.approx([float(end) for end in wilson(26, 40)], abs=1e-4)
        assert best[beyond] == 0.5
    frame = pd.read_csv(io.BytesIO(client.get("/export/view.csv?relation=country_capital").content))
    row = frame[(frame["layer"] == 23) & (frame["head"] == 4)].iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([float(end) for end in wilson(26, 40)])
    assert not row["hollow"]
    scores = pd.read_csv(io.BytesIO(client.get("/export/scores.csv").content))
    assert {"low", "high", "beyond", "copied", "control"} <= set(scores)


def test_only_solid_labels_colour_the_panel_of_all_categories():
    """A head with one filled and two hollow categories has the filled one's colour; with hollow ones alone, theirs."""
    belongs = np.array([[[True, True]], [[True, True]], [[True, False]]])
    filled = np.array([[[True, False]], [[False, False]], [[False, False]]])
    value = np.full((1, 2), 0.5)
    panel = Panel(
        key="all", title="All", value=value, member=belongs.any(0), reason=np.zeros((1, 2), np.int8),
        categories=("algorithmic", "knowledge", "linguistic"), belongs=belongs, strengths=np.full((3, 1, 2), 0.5),
        hollow=np.array([[False, True]]), filled=filled,
    )  # fmt: skip
    assert coloured(belongs, panel.filled)[:, 0].T.tolist() == [[True, False, False], [True, True, False]]


def test_a_score_without_hits_has_no_share_beyond_copying():
    """Where some carriers have hits and the lowest has none, the card says nothing of copying."""
    lowest = shipped_scores("running", "smollm2-135m-instruct").over_samples("every")
    rows = head_scores(lowest, HeadId(29, 2))
    effects = [effect for row in rows for effect in (row.promote, row.suppress)]
    assert any(effect.hits > 0 and not np.isnan(effect.beyond) for effect in effects)
    assert all(np.isnan(effect.beyond) for effect in effects if effect.hits == 0)
