import json
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from analysis.methods.causal.result import STAGES, Curves, TaskRecord
from dashboard.maps.causal.colours import light
from dashboard.maps.causal.losses import loss_curves
from dashboard.maps.causal.state import CausalState
from dashboard.maps.causal.validation import validation_curves
from dashboard.palette import colours, contrast
from tests.dashboard.made import figure_of, state
from tests.dashboard.test_causal_panels import EFFECT, GRADIENT, small
from tests.dashboard.test_function_figures import maps, shown, unpacked
from tests.synthetic import big_scores, causal_scores_of, odd_scores

INKS = colours("okabe-ito", False)


def make(wanted=None, scores=None, dark=False):
    return figure_of(scores or small(gradient=GRADIENT, effect=EFFECT), wanted, dark)


def test_colours_are_the_sum_of_two_lights():
    """Published: green, red, yellow for both, black for neither; below the threshold a light is dimmed."""
    figure = make(state(view="causal", palette="paper", threshold=0.7, seed="0"))
    assert shown(figure, "math seed 0", 0, 0) == "#00ea00"  # F 0.9 of L0H0 in 13 levels
    assert shown(figure, "math seed 0", 1, 0) == "#d50000"  # N 0.8 of L0H1
    assert shown(figure, "math seed 0", 1, 1) == "#000000"
    both = make(state(view="causal", palette="paper", threshold=0.2))
    red, green = (int(shown(both, "math any", 0, 0)[at : at + 2], 16) for at in (1, 3))
    assert min(red, green) > 150
    assert light(colours("paper", False), 1, 1) == "#ffff00"


@pytest.mark.parametrize("dark", [False, True])
def test_both_is_a_colour_of_its_own(dark):
    """Neither role is the page's own empty colour; both differs from each in brightness, so that hue is not needed."""
    palette = colours("okabe-ito", dark)
    assert light(palette, 0, 0) == palette.empty
    for one in (light(palette, 1, 0), light(palette, 0, 1), light(palette, 0, 0)):
        assert contrast(one, light(palette, 1, 1)) > 2
    for one in (light(palette, 1, 0), light(palette, 0, 1)):
        assert contrast(one, light(palette, 0, 0)) > 2


def test_it_lies_as_the_function_map_does_unless_transposed():
    """Layers across, so that a pinned head stays where it is; the published orientation has layer 0 at the bottom."""
    plain, turned = make(), make(state(view="causal", transpose=True))
    assert [figure["layout"]["xaxis"]["title"]["text"] for figure in (plain, turned)] == ["layer", "head"]
    assert plain["layout"]["yaxis"]["range"] == [1.5, -0.5]
    assert turned["layout"]["yaxis"]["range"] == [-0.5, 1.5]


def test_every_panel_has_its_layer_profile_on_the_same_layers():
    """Facilitation up, or to the right, interference the other way; the profile follows the zoom of the maps."""
    for transpose, shares, layers in ((False, "y", "x"), (True, "x", "y")):
        figure = make(state(view="causal", transpose=transpose))
        assert len(maps(figure)) == 4
        bars = [trace for trace in figure["data"] if trace["xaxis"] == "x6"]
        assert unpacked(bars[1][shares]).tolist() == [-1.0, 0.0]
        assert {figure["layout"][f"{layers}axis{n}"]["matches"] for n in range(5, 9)} == {layers}


def test_the_preview_has_one_scale_around_zero():
    """No gradient has the empty colour; its sign decides the hue; it lies on no dark ground."""
    figure = make(state(view="causal", gates="preview"))
    palette = colours("okabe-ito", False)
    assert shown(figure, "math mean", 0, 1) == palette.empty
    assert shown(figure, "math mean", 0, 0) == palette.slope(-1)
    assert "first-order" in figure["layout"]["annotations"][0]["text"]
    assert colours("paper", False).of("cell-ground") not in json.dumps(figure)


@pytest.mark.parametrize("gates", ["both", "facilitation", "interference", "irrelevance", "preview"])
@pytest.mark.parametrize("transpose", [False, True])
def test_plotly_knows_every_property(gates, transpose):
    """plotly's own object refuses a misspelt one."""
    assert go.Figure(make(state(view="causal", gates=gates, transpose=transpose), dark=True)).data


def test_a_big_causal_map_is_small_on_the_wire():
    """Four panels of 80 × 64 heads with profiles take less than 120 kB of JSON."""
    scores = causal_scores_of(big_scores().provenance.model, seeds=2)
    assert len(json.dumps(make(scores=scores))) < 120_000


def test_validation_curves_and_losses_are_plotly_figures():
    """Three lines a task that was measured; a line for each seed and stage; empty when nothing is known."""
    scores = small(effect=EFFECT)
    curves = validation_curves(scores, CausalState(), 1200, INKS)
    assert [trace["name"] for trace in curves["data"]] == [
        "needs it (F)", "does not matter (R)", "hurts it (N)",
    ]  # fmt: skip
    losses = loss_curves(scores, CausalState(), 380, INKS)
    assert len(losses["data"]) == 6
    assert unpacked(losses["data"][2]["x"]).tolist() == [2.0]  # pushed after two free updates
    late = TaskRecord(curves=Curves(seeds=(3, 4), **dict.fromkeys(STAGES, ((2.0,), (1.0,)))))
    running = replace(scores, records={"math": late.model_dump(mode="json")})
    assert [line["hovertemplate"][:6] for line in loss_curves(running, CausalState(), 380, INKS)["data"][:2]] == [
        "seed 3",
        "seed 4",
    ]
    for figure in (curves, losses, validation_curves(small(), CausalState(), 1200, INKS)):
        go.Figure(figure)


def test_layers_keep_their_own_numbers():
    """In the profile's tooltip too: of a model whose second, fourth, sixth and ninth layers attend."""
    card = odd_scores().provenance.model
    assert card.layers == (1, 3, 5, 8)
    bar = next(trace for trace in make(scores=causal_scores_of(card))["data"] if trace["type"] == "bar")
    assert bar["customdata"] == [1, 3, 5, 8]
