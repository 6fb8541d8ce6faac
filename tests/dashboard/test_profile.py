import numpy as np

from dashboard.maps.function.profile import profile
from dashboard.palette import colours
from tests.dashboard.made import map_view, state
from tests.test_scores import HITS, make_scores

PALETTE = colours("okabe-ito", False)


def test_bars_are_shares_of_each_layers_heads():
    """One stack a layer, one colour a category."""
    all_, algorithmic, _ = map_view(make_scores(HITS)).panels
    found = profile(all_, PALETTE)
    assert found.names == ("Algorithmic", "Knowledge")
    assert found.colours[1] == PALETTE.tones["knowledge"]
    assert found.shares[0][:2].tolist() == [0.5, 0.5]
    assert profile(algorithmic, PALETTE).shares[0][:2].tolist() == [0.5, 0.5]


def test_a_head_of_two_categories_counts_once():
    """As such: no stack is higher than all heads of its layer."""
    all_, *_ = map_view(make_scores(HITS), state(tau=0)).panels
    found = profile(all_, PALETTE)
    assert found.names[-1] == "2 categories"
    assert np.sum(found.shares, axis=0).max() <= 1
