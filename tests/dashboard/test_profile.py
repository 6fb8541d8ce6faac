import plotly.graph_objects as go

from dashboard.maps.function.profile import profile
from dashboard.palette import colours
from dashboard.state import ViewState
from tests.dashboard.made import map_view
from tests.dashboard.test_function_figures import unpacked
from tests.test_scores import HITS, make_scores


def test_bars_are_shares_of_each_layers_heads():
    """One stack a layer, one colour a category; plotly knows every property."""
    all_, algorithmic, _ = map_view(make_scores(HITS)).panels
    figure = profile(all_, ViewState(), (0, 1, 2))
    assert [bar["name"] for bar in figure["data"]] == ["algorithmic", "knowledge"]
    assert unpacked(figure["data"][0]["y"])[:2].tolist() == [0.5, 0.5]
    assert figure["data"][1]["marker"]["color"] == colours("okabe-ito", False).category["knowledge"]
    (bar,) = profile(algorithmic, ViewState(), (0, 1, 2))["data"]
    assert unpacked(bar["y"])[:2].tolist() == [0.5, 0.5]
    go.Figure(figure)
