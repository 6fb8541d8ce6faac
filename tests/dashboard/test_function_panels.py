from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.models.card import HeadId
from dashboard.maps.function import legend
from dashboard.maps.function.head import head_scores
from dashboard.maps.panel import Panel, layer_profile
from tests.dashboard.made import map_view, state
from tests.test_scores import HITS, make_scores


@pytest.fixture
def scores():
    """copying (algorithmic): 0.5 0 | 0 0.1; country_capital (knowledge): 0.1 0.2 | 0 0; layer 1 one hit more each."""
    return make_scores(HITS)


def test_one_panel_a_category_and_one_for_all(scores):
    """The first panel belongs to every category; counts are of heads above τ."""
    found = {panel.key: panel for panel in map_view(scores).panels}
    assert list(found) == ["all", "algorithmic", "knowledge"]
    assert found["algorithmic"].member[0].tolist() == [True, False]
    assert found["knowledge"].member[0].tolist() == [False, True]
    assert found["all"].member[0].tolist() == [True, True]
    assert found["all"].belongs[:, 0].tolist() == [[True, False], [False, True]]
    assert found["algorithmic"].count == 2


def test_layers_that_were_not_computed_are_nan_and_belong_to_nothing(scores):
    """Missing is never zero, and never a member."""
    for panel in map_view(scores, state(tau=0)).panels:
        assert np.isnan(panel.value[2]).all()
        assert not panel.member[2].any()


def test_one_relation_instead_of_categories(scores):
    """A relation has one panel; one that the model cannot answer falls back to the categories."""
    (panel,) = map_view(scores, state(relation="country_capital")).panels
    assert panel.value[0].tolist() == [0.1, 0.2]
    assert len(map_view(scores, state(relation="<b>odd</b>")).panels) == 3
    assert len(map_view(scores, state(relation="nonsense")).panels) == 3


def test_kinds_and_tau_reach_the_panels(scores):
    """Suppression alone, and a stricter τ."""
    suppress = {p.key: p for p in map_view(scores, state(kind="suppress")).panels}
    assert suppress["algorithmic"].value[0].tolist() == [0.0, 0.1]
    assert map_view(scores, state(tau=0.9)).panels[0].count == 0


def test_only_the_best(scores):
    """Top-1 keeps the best head of each panel, and those that tie with it."""
    found = {p.key: p for p in map_view(scores, state(top=1)).panels}
    assert np.argwhere(found["algorithmic"].member).tolist() == [[1, 0]]


def test_profile_is_the_share_of_a_layers_heads(scores):
    """One of two heads of layer 0 is algorithmic."""
    algorithmic = next(p for p in map_view(scores).panels if p.key == "algorithmic")
    assert layer_profile(algorithmic)[:2].tolist() == [0.5, 0.5]
    assert np.isnan(layer_profile(algorithmic)[2])
    assert layer_profile(map_view(scores).panels[0]).shape == (2, 3)


@given(st.lists(st.one_of(st.just(float("nan")), st.floats(0, 1)), min_size=1, max_size=12))
def test_ranks_agree_with_counting(values):
    """A head's rank is one more than the number of heads with a larger value."""
    shape = (1, len(values))
    panel = Panel("x", "x", np.array([values]), np.zeros(shape, bool), np.zeros(shape, np.int8))
    for value, rank in zip(values, panel.strongest[0], strict=True):
        larger = sum(v > (-1 if np.isnan(value) else value) for v in values)
        assert rank == larger + 1


def test_a_relation_that_is_not_applicable_says_the_stored_reason(scores):
    """A result without reasons counts the pairs."""
    shown = map_view(scores)
    plain = legend.contents(shown, False)["absent"].depends
    assert plain == "<b>odd</b> (10 of 60 pairs are single tokens of it, and 30 are needed)."
    *others, odd = scores.provenance.items
    items = (*others, replace(odd, reason="10 of 60 pairs have a target of one token, and 30 are needed"))
    told = replace(scores, provenance=replace(scores.provenance, items=items))
    words = legend.contents(map_view(told), False)["absent"].depends
    assert words == "<b>odd</b> (10 of 60 pairs have a target of one token, and 30 are needed)."


def test_a_heads_scores_best_first(scores):
    """The inspector's list: best relation first, not applicable ones last."""
    rows = head_scores(scores, HeadId(0, 0))
    assert [row.item.name for row in rows] == ["copying", "country_capital", "<b>odd</b>"]
    assert rows[0].promote.hits == 20
    assert rows[0].promote.rank == scores.rank("copying", HeadId(0, 0))
