import base64

import numpy as np
import plotly.graph_objects as go
import pytest

from dashboard.maps.function.colours import SEVERAL_TONES, TINTS, tint, tones
from dashboard.palette import blend, colours, contrast
from tests.dashboard.made import figure_of, state
from tests.synthetic import HOSTILE, odd_scores
from tests.test_scores import HITS, make_scores

LAYERS = (0, 1, 2)
KEYS = ["all", "algorithmic", "knowledge"]


def unpacked(array):
    """A packed array as numbers."""
    content = np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"])
    return content.reshape([int(size) for size in array["shape"].split(", ")])


def shown(figure, key, row, column):
    """The colour that a cell's number has in its panel's scale."""
    trace = next(trace for trace in figure["data"] if trace["name"] == key)
    share = (unpacked(trace["z"])[row, column] - trace["zmin"]) / (trace["zmax"] - trace["zmin"])
    return [shade for at, shade in trace["colorscale"] if at <= share][-1]


def maps(figure):
    """The maps of a figure, without what lies over them or stands beside them."""
    return [trace for trace in figure["data"] if trace["type"] == "heatmap" and "legendgroup" not in trace]


def make(wanted=None, dark=False, scores=None):
    return figure_of(scores or make_scores(HITS), wanted, dark)


def test_members_have_their_categorys_colour():
    """Layer 0: head 0 is algorithmic, head 1 knowledge, in the panel of all and in their own."""
    colour = colours("okabe-ito", False).tones
    figure = make()
    assert [trace["name"] for trace in maps(figure)] == KEYS
    assert shown(figure, "all", 0, 0) == colour["algorithmic"]
    assert shown(figure, "all", 1, 0) == colour["knowledge"]
    assert shown(figure, "algorithmic", 0, 0) == colour["algorithmic"]


def test_several_categories_have_a_colour_of_their_own():
    """With τ below both scores, head 0 belongs to two categories."""
    assert shown(make(state(tau=0.05)), "all", 0, 0) == colours("okabe-ito", False).of(SEVERAL_TONES[0])


def test_zero_below_threshold_and_missing_look_different():
    """0.1 of 0.15 is a middle tint, 0 the empty colour; a layer that was not computed is neither."""
    palette = colours("okabe-ito", False)
    figure = make()
    assert shown(figure, "knowledge", 0, 0) == tint(palette, "knowledge", 5)
    assert shown(figure, "algorithmic", 1, 0) == tint(palette, "algorithmic", 5)
    assert shown(figure, "algorithmic", 1, 1) not in {palette.empty, palette.tones["algorithmic"]}
    assert shown(figure, "all", 0, 2) == palette.missing[1]
    looks = [
        palette.empty,
        tint(palette, "knowledge", 1),
        tint(palette, "knowledge", 5),
        palette.tones["knowledge"],
        *palette.missing[1:],
    ]
    assert len(set(looks)) == len(looks)


def test_x_is_layer_and_head_0_is_on_top_unless_transposed():
    """The published orientation, and the other one on request."""
    plain, turned = make(), make(state(transpose=True))
    assert plain["data"][0]["z"]["shape"] == "2, 3"
    assert turned["data"][0]["z"]["shape"] == "3, 2"
    assert [f["layout"]["xaxis"]["title"]["text"] for f in (plain, turned)] == ["layer", "head"]
    assert plain["layout"]["yaxis"]["range"] == [1.5, -0.5]


def test_panels_zoom_together_and_stand_apart():
    """Every further panel follows the first one's axes; no two drawing areas overlap."""
    layout = make()["layout"]
    assert [layout[f"{axis}axis{n}"]["matches"] for axis in "xy" for n in (2, 3)] == ["x", "x", "y", "y"]
    areas = [(layout[f"xaxis{n}"]["domain"], layout[f"yaxis{n}"]["domain"]) for n in ("", "2", "3")]
    for i, (x, y) in enumerate(areas):
        for other_x, other_y in areas[:i]:
            assert x[0] >= other_x[1] or y[1] <= other_y[0] or other_x[0] >= x[1]


def test_layers_keep_their_own_numbers():
    """Of a model whose layers are 1, 3, 5 and 8 the ticks say so."""
    assert make(scores=odd_scores())["layout"]["xaxis"]["ticktext"] == ["1", "3", "5", "8"]


def test_continuous_scores():
    """From the empty colour at 0 to the panel's own at 1; missing stays missing."""
    palette = colours("okabe-ito", False)
    figure = make(state(colour="scores"))
    assert shown(figure, "algorithmic", 0, 0) == blend(palette.empty, palette.of("algorithmic"), 32 / 63)  # of 0.5
    assert shown(figure, "algorithmic", 0, 2) == palette.missing[1]


@pytest.mark.parametrize("wanted", [state(), state(colour="scores", transpose=True), state(palette="paper")])
def test_plotly_knows_every_property(wanted):
    """plotly's own object refuses a misspelt property; ours has none."""
    figure = go.Figure(make(wanted, dark=True))
    assert len([trace for trace in figure.data if trace.type == "heatmap"]) == 3


def test_titles_are_text():
    """A relation's title cannot become markup of the figure."""
    (title,) = make(state(relation="odd"), scores=odd_scores())["layout"]["annotations"]
    assert HOSTILE not in title["text"]
    assert "&lt;img" in title["text"]


@pytest.mark.parametrize("palette", ["okabe-ito", "paper"])
@pytest.mark.parametrize("dark", [False, True])
def test_members_stand_out(palette, dark):
    """A member's colour is told from an empty head and from the strongest tint by brightness alone or by hue."""
    chosen = colours(palette, dark)
    named = {**tones(chosen), "other": chosen.of("other")}
    categories = {name: colour for name, colour in named.items() if name not in SEVERAL_TONES}
    for name, colour in categories.items():
        assert contrast(colour, chosen.empty) > 1.5
        assert colour != tint(chosen, name, TINTS - 1)
    assert len(categories) == 6
    assert len(set(named.values())) == len(named)


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable(dark):
    """Both inks reach the contrast that WCAG asks of text, on the colour of the page."""
    chosen = colours("okabe-ito", dark)
    page = "#14171c" if dark else "#ffffff"
    assert min(contrast(chosen.ink, page), contrast(chosen.faint, page)) >= 4.5
