"""One panel of a plain map alone, and only the best heads of each."""

import pytest

from dashboard.maps import map_of
from dashboard.page.table import frame
from dashboard.view import open_view
from tests.dashboard.made import catalogue_of, state
from tests.dashboard.test_callbacks import text

CHOICES = [("behaviour", "measure", "induction", "strongest"), ("ablation", "item", "country_capital", "largest")]


@pytest.fixture
def catalogue(store):
    """What ships, and nothing else."""
    return catalogue_of(store)


@pytest.mark.parametrize(("name", "key", "item", "best"), CHOICES)
def test_a_panel_stands_alone_where_it_is_asked_for(catalogue, name, key, item, best):
    """It alone is on the page, whose title names it; its picker offers all of them."""
    view = open_view(catalogue, f"?view={name}&{key}={item}&{best}=4")
    assert view.notices == ()
    assert [panel.key for panel in view.panels] == [item]
    assert view.panels[0].title in view.title
    everything = open_view(catalogue, f"?view={name}")
    offered = view.map.offered(view.shown, {})[key]
    values = [choice["value"] for each in offered for choice in each.get("items", [each])]
    assert values == ["", *(panel.key for panel in everything.panels)]
    assert view.map.control_values(view.shown, view.state.of(view.map.part))[best] == 4
    assert everything.map.control_values(everything.shown, everything.state.of(view.map.part))[best] == ""


@pytest.mark.parametrize(("name", "key", "item", "best"), CHOICES)
def test_a_panel_that_the_model_does_not_have_is_said(catalogue, name, key, item, best):
    """All are shown."""
    view = open_view(catalogue, f"?view={name}&{key}=nothing")
    assert "has no scores for 'nothing'" in view.notices[0]
    assert view.panels == open_view(catalogue, f"?view={name}").panels
    assert map_of(name).offered(None, {})[key][0]["value"] == ""
    assert key in map_of(name).needless(None, state().of(map_of(name).part), {})


@pytest.mark.parametrize(("name", "key", "item", "best"), CHOICES)
def test_heads_and_tables_have_every_number_whichever_panel_is_shown(catalogue, name, key, item, best):
    """What a head is called, the matrix of pins and the table do not depend on the panel that stands alone."""
    heads = "&pin=L18H6.L23H4.L16H0"
    one, every = (open_view(catalogue, f"?view={name}{more}{heads}") for more in (f"&{key}={item}&{best}=1", ""))
    labels = [view.panels[0].label for view in (one, every)]
    if labels[1] is not None:
        assert (labels[0].words, labels[0].codes.tolist()) == (labels[1].words, labels[1].codes.tolist())
    rows = [view.map.head_rows(view.state.pins, view.shown).rows for view in (one, every)]
    assert [row.cells for row in rows[0]] == [row.cells for row in rows[1]]
    assert len(rows[0]) >= len(every.panels)
    assert text(rows[0][-1].title.children) == text(rows[1][-1].title.children)
    assert frame(one).equals(frame(every))
