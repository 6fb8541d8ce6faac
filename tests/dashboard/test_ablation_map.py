"""The ablation map: results with heads switched off in different ways, prompts of one's own."""

from dataclasses import replace

import numpy as np

from analysis.evidence.shipped import shipped_scores
from analysis.methods.ablation.items import PromptItem
from analysis.methods.ablation.report import curve_lines
from analysis.methods.ablation.result import record_of
from analysis.results.merging import only
from dashboard.maps import map_of
from dashboard.maps.ablation.curve import curves
from dashboard.maps.ablation.map import AblationState
from dashboard.palette import colours
from dashboard.view import open_view
from tests.dashboard.made import catalogue_of


def put(store, name, item, **settings):
    """Store one item of the shipped result under another name, computed with other settings."""
    shipped = shipped_scores("ablation")
    scores = only(shipped, ["math"])
    arrays = [array.assign_coords(item=[item.name]) for array in (scores.score, scores.hits, scores.missing)]
    parts = {part: array.assign_coords(item=[item.name]) for part, array in scores.parts.items()}
    facts = scores.provenance
    facts = replace(facts, items=(item.described(1),), settings={**facts.settings, **settings}, date="2999-01-01")
    scores = replace(scores, provenance=facts, parts=parts, records={item.name: scores.records["math"]})
    scores = replace(scores, score=arrays[0], hits=arrays[1], missing=arrays[2])
    store.put(f"result/{facts.model.fingerprint}/ablation/{name}", scores.to_parquet())
    return facts


def test_results_of_another_way_of_switching_off_can_be_chosen(store):
    """A picker has both ways, its choice stands in the address, a job and a result lead to their own."""
    other = put(store, "0", PromptItem("The capital of France is", " Paris"), positions="all")
    catalogue = catalogue_of(store)
    default = open_view(catalogue, "?view=ablation")
    assert [panel.key for panel in default.panels] == ["math", "syntax", "country_capital"]
    chosen = open_view(catalogue, "?view=ablation&run=all-24-examples")
    assert [panel.title for panel in chosen.panels] == ["“The capital of France is” → Paris"]
    assert (chosen.notices, chosen.query.endswith("&run=all-24-examples")) == ((), True)
    assert chosen.map.state_of_result(other) == AblationState(run="all-24-examples")
    offered = chosen.map.offered(chosen.shown, catalogue.choices(chosen.card, "ablation"))["run"]
    assert [each["value"] for each in offered] == ["", "last-24-examples", "all-24-examples"]
    assert offered[2]["label"] == "at every token, 24 prompts, relations after worked examples"
    unknown = open_view(catalogue, "?view=ablation&run=all-7-templates")
    assert "no ablation with heads switched off at every token, 7 prompts" in unknown.notices[0]
    assert unknown.state.of(AblationState).run == ""
    assert map_of("ablation").needless(None, AblationState(), {"last-24-examples": ""}) == {"run", "item"}


def test_prompts_of_ones_own_stand_side_by_side(store):
    """Each under a name of its own, with its text as the title."""
    long = "It was a bright cold day in April, and the clocks were striking"
    for name, item in (("0", PromptItem("The capital of France is", " Paris")), ("1", PromptItem(long, " thirteen"))):
        put(store, name, item)
    titles = [panel.title for panel in open_view(catalogue_of(store), "?view=ablation").panels]
    assert titles[:3] == ["Math", "Syntax", "country → capital"]
    assert set(titles[3:]) == {
        "“The capital of France is” → Paris",
        "“… in April, and the clocks were striking” → thirteen",
    }


def test_a_curve_is_dotted_where_scores_no_longer_order_the_heads():
    """Gemma's weights score two heads above 0; then come the layers in turn, which say nothing of the map."""
    scores = shipped_scores("ablation", "gemma-3-270m")
    card, item = scores.provenance.model, scores.item("country_capital")
    weights, running = record_of(scores, item.name).curve[:2]
    assert (weights.scored(card), len(weights.heads)) == (2, 30)
    assert weights.heads[2:4] == ("L0H0", "L0H1")
    figure = curves(scores, [item], colours("okabe-ito", False))
    drawn = [
        (line["line"]["dash"], line["x"][0], line["x"][-1]) for line in figure["data"] if line["name"] == weights.title
    ]
    assert drawn == [("solid", 0, 2), ("dot", 2, 30)]
    text = "\n".join(curve_lines((weights, running), card))
    assert "(† from head 3 on: equal scores, in the layers' order)" in text
    rows = {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line.startswith("| ")}
    assert "†" not in rows["2"]
    assert rows["3"].startswith("| 3 | 0.844 (0.74–0.91)† | 0.016 (0.00–0.08) |")  # 54 and 1 of 64 prompts


def test_a_curve_of_random_heads_has_the_band_of_its_draws():
    """From the least to the most accurate draw at every number of heads, with its legend, under the mean."""
    scores = shipped_scores("ablation")
    item = scores.item("country_capital")
    draws = np.array([order.accuracy for order in record_of(scores, item.name).curve if "random" in order.name])
    least, most, mean = curves(scores, [item], colours("okabe-ito", False))["data"][:3]
    assert np.allclose(least["y"], draws.min(0))
    assert np.allclose(most["y"], draws.max(0))
    assert np.allclose(mean["y"], draws.mean(0))
    assert (most["fill"], most["showlegend"], most["name"]) == ("tonexty", True, "random heads, range of 5 draws")
    assert most["fillcolor"] == "rgba(95,107,122,0.25)"
