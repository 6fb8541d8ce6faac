from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.evidence.shipped import shipped_scores
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.relations.layer import scores_of_hits
from analysis.relations.scores import categories
from analysis.results.scores import Missing, Scores
from dashboard.figures.view_figure import view_figure, view_picture
from dashboard.maps.function.state import FunctionState
from dashboard.page import callbacks
from dashboard.page.hover import packed
from dashboard.state import ViewState
from dashboard.view import open_view, view_of_controls
from dashboard.web.exports import view_frame
from tests.dashboard.made import catalogue_of, state
from tests.synthetic import BIG, ODD, odd_scores


def test_the_default_view_has_an_empty_address(catalogue):
    """Opening nothing shows the default model; the address stays short."""
    view = open_view(catalogue, "")
    assert view.card.id == default_model.ID
    assert (view.query, view.notices) == ("", ())
    assert view.title.startswith(default_model.ID)


def test_other_views_name_the_fingerprint(catalogue):
    """A link keeps its meaning, and reading it gives the same view."""
    view = open_view(catalogue, "?how=always&tau=0.3")
    fingerprint = view.card.fingerprint[:8]
    assert view.query == f"?model={default_model.ID}@{fingerprint}&how=always&tau=0.3"
    again = open_view(catalogue, view.query)
    assert (again.state, again.notices) == (view.state, ())


def test_an_unknown_model_gives_a_notice_and_the_default_model(catalogue):
    """Not an error page; the hint says what to do."""
    view = open_view(catalogue, "?model=nobody/nothing&pin=L999H9")
    assert view.state.model == default_model.ID
    assert "nobody/nothing" in view.notices[0]
    assert "python -m analysis map" in view.notices[0]


def test_another_checkpoint_of_the_same_name_gives_a_notice(catalogue):
    """The link's fingerprint is not here: what is here is shown, and it is said."""
    view = open_view(catalogue, f"?model={BIG}@0123abcd")
    assert view.state.model == BIG
    assert "0123abcd" in view.notices[0]


def test_heads_and_relations_that_do_not_exist_give_notices(catalogue):
    """The others stay."""
    view = open_view(catalogue, "?pin=L1H1.L400H1&relation=nonsense")
    assert view.state.pins == (HeadId(1, 1),)
    assert len(view.notices) == 2
    assert view.state.of(FunctionState).relation == ""


def test_controls_are_read_like_an_address(catalogue):
    """Booleans, numbers and empty fields; a half-typed number is the default."""
    values = {"model": BIG, "transpose": True, "tau": 0.25, "top": "", "relation": "", "how": "always", "embed": False}
    view = view_of_controls(catalogue, values)
    assert view.state == state(model=BIG, transpose=True, tau=0.25, how="always")
    assert view.notices == ()


anything = st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=20), st.lists, max_leaves=5)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200), st.dictionaries(st.sampled_from(["model", "tau", "top", "pin", "view"]), anything))
def test_nothing_that_a_browser_sends_raises(catalogue, query, controls):
    """Hostile addresses and controls become notices."""
    assert open_view(catalogue, query).panels
    assert view_of_controls(catalogue, controls).panels


def test_names_keep_their_case_and_may_hold_anything(catalogue):
    """Messages name a model as it was typed; an @ in a name is part of it unless a fingerprint follows."""
    view = open_view(catalogue, "?model=Qwen/Qwen2-0.5B")
    assert "Qwen/Qwen2-0.5B" in view.notices[0]
    assert ViewState.from_query("?model=org/model@v2").state.model == "org/model@v2"
    assert ViewState.from_query("?relation=my%20rel%20%C3%A9").state.of(FunctionState).relation == "my rel é"


def test_surrogates_are_read(catalogue):
    """A model and a pin that no encoding can write show the default map, and what is not understood is named."""
    view = view_of_controls(catalogue, {"model": "\ud800", "pin": ["\udfff"]})
    assert view.state == ViewState()
    assert len(view.panels) == 5
    wrong_model, wrong_pin = view.notices
    assert "is not a valid value for model" in wrong_model
    assert "is not a valid value for pin" in wrong_pin
    view.named.to_query().encode()  # can be written again


def test_a_model_that_no_relation_applies_to(store):
    """One panel that says so, and every part of the page and every export still stands."""
    scores = odd_scores()
    items = tuple(replace(item, applicable=False) for item in scores.provenance.items)
    none = scores_of_hits({}, replace(scores.provenance, items=items))
    store.put(f"result/{none.provenance.model.fingerprint}/function/0", none.to_parquet())
    catalogue = catalogue_of(store)
    view = open_view(catalogue, f"?model={ODD}")
    (panel,) = view.panels
    assert (panel.reason == Missing.NOT_APPLICABLE).all()
    screen = {"width": 1240}
    for query in (view.query, f"{view.query}&colour=scores", f"{view.query}&view=table"):
        (entry,) = packed(open_view(catalogue, query), dark=False)["legend"]
        assert entry["words"] == "not applicable"
    assert view_figure(view, 1240, False)["data"]
    assert callbacks.inspect(catalogue, ["L1H0"], view.query, screen)
    assert len(view_frame(view)) == 16
    drawn = view_picture(view)
    assert [trace.name for trace in drawn.data] == [panel.key]
    assert "not applicable" in {note.text for note in drawn.layout.annotations}


def test_two_checkpoints_of_the_default_name(catalogue, store):
    """The one that its name alone does not stand for keeps its fingerprint in the address."""
    real = shipped_scores("function")
    other = replace(real.provenance.model, fingerprint="f" * 64)
    copy = replace(real, provenance=replace(real.provenance, model=other))
    store.put("result/other/function/0", copy.to_parquet())
    view = open_view(catalogue, f"?model={default_model.ID}@ffffffff")
    assert view.query == f"?model={default_model.ID}@ffffffff"
    assert open_view(catalogue, view.query).card.fingerprint == "f" * 64


def test_other_settings_do_not_replace_the_published_ones(catalogue, store):
    """A later run with another k is not what the model's name stands for, nor are relations that somebody brought."""
    real = shipped_scores("function")
    settings = {**real.provenance.settings, "k_standard": 5}
    later = replace(real, provenance=replace(real.provenance, settings=settings, date="2999-01-01T00:00:00Z"))
    store.put("result/later/function/0", later.to_parquet())
    items = (replace(real.provenance.items[0], name="mine", category="custom", title="mine"),)
    arrays = [getattr(real, name).isel(item=[0]).assign_coords(item=["mine"]) for name in ("score", "hits", "missing")]
    own = Scores(*arrays, replace(real.provenance, items=items))
    store.put("result/own/function/0", own.to_parquet())
    view = open_view(catalogue, "")
    assert view.results["function"].provenance.settings["k_standard"] == 10
    assert categories(view.results["function"])[-1] == "translation"
    with_own = open_view(catalogue, "?own=mine")
    assert categories(with_own.results["function"])[-1] == "custom"
    assert with_own.panels[-1].key == "custom"
