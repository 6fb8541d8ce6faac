"""How sure a share is, and what speaks against a label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.relations.labels import copy_like, unspecific
from analysis.results.intervals import discoveries, t_quantile, t_tail, uncertain, wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(26, 40, 0.4951, 0.7787), (0, 30, 0.0, 0.1135), (30, 30, 0.8865, 1.0), (5, 50, 0.0435, 0.2136)],
)
def test_known_intervals(hits, n, low, high):
    """Values that statistics packages give for the Wilson interval without continuity correction."""
    assert np.round(wilson(hits, n), 4).tolist() == [low, high]


@given(st.integers(1, 5000), st.data())
def test_an_interval_holds_its_share_and_stays_within_0_and_1(n, data):
    """Whatever the share, and the interval of all but the hits is its mirror image."""
    hits = data.draw(st.integers(0, n))
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    mirrored = wilson(n - hits, n)
    assert mirrored == (pytest.approx(1 - high), pytest.approx(1 - low))


@given(st.integers(1, 200), st.integers(1, 200))
def test_more_pairs_narrow_the_interval(hits, more):
    """The same share of more pairs is surer."""
    few, many = wilson(hits, 2 * hits), wilson(hits * (more + 1), 2 * hits * (more + 1))
    assert many[1] - many[0] < few[1] - few[0]


def test_nothing_known_has_no_interval_and_is_not_uncertain():
    """NaN hits and no pairs at all give NaN, and nothing that speaks against a label."""
    low, high = wilson([np.nan, 0.0, 3.0], [40, 0, 40])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, True, False]
    assert uncertain([np.nan, 0.0, 6.0, 26.0], [40, 0, 40, 40], 0.15).tolist() == [False, False, True, False]


def test_what_speaks_against_a_label():
    """β below one half, a control above τ; exactly at the limit, or not measured, nothing."""
    assert copy_like([0.49, 0.5, np.nan]).tolist() == [True, False, False]
    assert unspecific([0.16, 0.15, np.nan], 0.15).tolist() == [True, False, False]


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (7, 2.3646), (23, 2.0687), (63, 1.9983)])
def test_quantiles_of_students_t(freedom, quantile):
    """As tables have them; their tails hold 5 %, odd and even degrees of freedom alike."""
    assert t_quantile(freedom) == pytest.approx(quantile, abs=1e-4)
    assert float(t_tail(-quantile, freedom)) == pytest.approx(0.05, abs=1e-4)
    assert float(t_tail(0.0, freedom)) == 1


def test_discoveries_by_hand():
    """The example of Benjamini and Hochberg's paper: four of fifteen at 5 %; what is not known is none."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    p += [0.7590, 1.0000]
    found = discoveries([float("nan"), *p])
    assert found.tolist() == [False, *[True] * 4, *[False] * 11]
    assert not discoveries([0.9, 0.5]).any()
    assert not discoveries([]).any()
