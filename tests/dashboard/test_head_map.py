import json

import numpy as np
import pytest

from dashboard.figures.head_map import head_map
from dashboard.palette import TINTS, colours, contrast
from dashboard.select import Panel, panels
from dashboard.state import ViewState
from tests.test_scores import HITS, make_scores

LAYERS = (0, 1, 2)


def shown(figure, row, column):
    """The colour that a cell's number has in the figure's scale."""
    trace = figure.data[0]
    z = np.asarray(trace.z)[row, column]
    share = (z - trace.zmin) / (trace.zmax - trace.zmin)
    return [shade for at, shade in trace.colorscale if at <= share][-1]


@pytest.fixture
def maps():
    scores = make_scores(HITS)

    def make(state=None, dark=False):
        state = state or ViewState()
        return {p.key: head_map(p, state, LAYERS, dark) for p in panels(scores, state)}

    return make


def test_members_have_their_categorys_colour(maps):
    """Layer 0: head 0 is algorithmic, head 1 knowledge, in the panel of all and in their own."""
    colour = colours("okabe-ito", False).category
    found = maps()
    assert shown(found["all"], 0, 0) == colour["algorithmic"]
    assert shown(found["all"], 1, 0) == colour["knowledge"]
    assert shown(found["algorithmic"], 0, 0) == colour["algorithmic"]


def test_several_categories_have_a_colour_of_their_own(maps):
    """With τ below both scores, head 0 belongs to two categories."""
    assert shown(maps(ViewState(tau=0.05))["all"], 0, 0) == colours("okabe-ito", False).several[0]


def test_below_tau_is_a_tint_that_grows_and_missing_is_no_tint(maps):
    """0.1 of 0.15 is a middle tint of knowledge, 0 the empty colour; a layer that was not computed is neither."""
    palette = colours("okabe-ito", False)
    found = maps()
    assert shown(found["knowledge"], 0, 0) == palette.tint("knowledge", 5)
    assert shown(found["algorithmic"], 1, 0) == palette.tint("algorithmic", 5)
    assert shown(found["all"], 0, 2) == palette.missing
    assert palette.tint("knowledge", 0) == palette.empty != palette.missing


def test_x_is_layer_and_head_0_is_on_top_unless_transposed(maps):
    """The published orientation, and the other one on request."""
    plain, turned = maps()["all"], maps(ViewState(transpose=True))["all"]
    assert plain.data[0].z.shape == (2, 3)
    assert turned.data[0].z.shape == (3, 2)
    assert (plain.layout.xaxis.title.text, turned.layout.xaxis.title.text) == ("layer", "head")
    assert plain.layout.yaxis.autorange == "reversed"


def test_continuous_scores(maps):
    """The scores themselves, on a scale from 0 to 1; missing stays missing."""
    trace = maps(ViewState(colour="scores"))["algorithmic"].data[0]
    assert (trace.zmin, trace.zmax) == (0, 1)
    assert trace.z[0, 0] == 0.5
    assert np.isnan(trace.z[0, 2])


def test_a_big_model_is_small_on_the_wire():
    """Five panels of 80 × 64 heads take less than 60 kB of JSON: one byte a cell, no text a cell."""
    value = np.random.default_rng(0).random((80, 64))
    panel = Panel("knowledge", "Knowledge", value, value > 0.5)
    text = head_map(panel, ViewState(), tuple(range(80))).to_json()
    assert 5 * len(text) < 60_000
    assert json.loads(text)["data"][0]["hoverinfo"] == "none"


@pytest.mark.parametrize("palette", ["okabe-ito", "paper"])
@pytest.mark.parametrize("dark", [False, True])
def test_members_stand_out(palette, dark):
    """A member's colour is told from an empty head and from the strongest tint by brightness alone or by hue."""
    chosen = colours(palette, dark)
    for name, colour in chosen.category.items():
        assert contrast(colour, chosen.empty) > 1.5
        assert colour != chosen.tint(name, TINTS - 1)
    assert len(set(chosen.category.values()) | set(chosen.several)) == len(chosen.category) + 3
