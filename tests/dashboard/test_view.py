from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import default_model
from analysis.heads import HeadId
from dashboard.state import ViewState
from dashboard.view import open_view, view_of_controls
from tests.synthetic import BIG


def test_the_default_view_has_an_empty_address(library):
    """Opening nothing shows the default model; the address stays short."""
    view = open_view(library, "")
    assert view.scores.provenance.model.id == default_model.ID
    assert (view.query, view.notices) == ("", ())
    assert view.title.startswith(default_model.ID)


def test_other_views_name_the_fingerprint(library):
    """A link keeps its meaning, and reading it gives the same view."""
    view = open_view(library, "?how=always&tau=0.3")
    fingerprint = view.scores.provenance.model.fingerprint[:8]
    assert view.query == f"?model={default_model.ID}@{fingerprint}&how=always&tau=0.3"
    again = open_view(library, view.query)
    assert (again.state, again.notices) == (view.state, ())


def test_an_unknown_model_gives_a_notice_and_the_default_model(library):
    """Not an error page; the hint says what to do."""
    view = open_view(library, "?model=nobody/nothing&pin=L999H9")
    assert view.state.model == default_model.ID
    assert "nobody/nothing" in view.notices[0]
    assert "python -m analysis map" in view.notices[0]


def test_another_checkpoint_of_the_same_name_gives_a_notice(library):
    """The link's fingerprint is not here: what is here is shown, and it is said."""
    view = open_view(library, f"?model={BIG}@0123abcd")
    assert view.state.model == BIG
    assert "0123abcd" in view.notices[0]


def test_heads_and_relations_that_do_not_exist_give_notices(library):
    """The others stay."""
    view = open_view(library, "?pin=L1H1.L400H1&relation=nonsense")
    assert view.state.pins == (HeadId(1, 1),)
    assert len(view.notices) == 2
    assert view.state.relation == ""


def test_controls_are_read_like_an_address(library):
    """Booleans, numbers and empty fields; a half-typed number is the default."""
    values = {"model": BIG, "transpose": True, "tau": 0.25, "top": "", "relation": "", "how": "always", "embed": False}
    view = view_of_controls(library, values)
    assert view.state == ViewState(model=BIG, transpose=True, tau=0.25, how="always")
    assert view.notices == ()


anything = st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=20), st.lists, max_leaves=5)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=200), st.dictionaries(st.sampled_from(["model", "tau", "top", "pin", "view"]), anything))
def test_nothing_that_a_browser_sends_raises(library, query, controls):
    """Hostile addresses and controls become notices."""
    assert open_view(library, query).panels
    assert view_of_controls(library, controls).panels
