import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.models.card import HeadId
from dashboard.maps.causal.state import CausalState
from dashboard.maps.function.state import FunctionState
from dashboard.state import MAX_PINS, ReadState, ViewState
from tests.dashboard.made import state

heads = st.builds(HeadId, st.integers(0, 200), st.integers(0, 200))
states = st.builds(
    state,
    model=st.sampled_from(["smollm2-135m-instruct", "org/name", "my.model-2"]),
    fingerprint=st.sampled_from(["", "935ba989", "ab" * 32]),
    view=st.sampled_from(["function", "causal", "table"]),
    how=st.sampled_from(["any", "always"]),
    kind=st.sampled_from(["both", "promote", "suppress"]),
    colour=st.sampled_from(["categories", "scores"]),
    relation=st.sampled_from(["", "country_capital", "<b>odd</b>"]),
    tau=st.integers(0, 1000).map(lambda n: n / 1000),
    top=st.integers(0, 5000),
    measure=st.sampled_from(["", "induction"]),
    strongest=st.integers(0, 5000),
    item=st.sampled_from(["", "country_capital"]),
    largest=st.integers(0, 5000),
    tasks=st.lists(st.sampled_from(["math", "syntax", "my task", "<b>"]), max_size=3, unique=True).map(tuple),
    columns=st.sampled_from(["both", "always", "any"]),
    gates=st.sampled_from(["both", "facilitation", "interference", "irrelevance", "preview"]),
    seed=st.sampled_from(["", "0", "12", "first2"]),
    fit=st.sampled_from(["", "0123abcd"]),
    threshold=st.integers(0, 1000).map(lambda n: n / 1000),
    transpose=st.booleans(),
    palette=st.sampled_from(["okabe-ito", "paper"]),
    zoom=st.sampled_from([None, ((0, 9), (0, 3)), ((5, 5), (63, 63))]),
    sort=st.sampled_from(["", "-panel.all,layer"]),
    filter=st.sampled_from(["", "best:contains:a&b;c"]),
    own=st.sampled_from(["", "mine@0123abcd"]),
    pins=st.lists(heads, max_size=MAX_PINS, unique=True).map(tuple),
    embed=st.booleans(),
)


@given(states)
def test_a_state_comes_back_from_its_address(wanted):
    """Writing a state and reading it gives the state, without a notice."""
    assert ViewState.from_query(wanted.to_query()) == ReadState(wanted)


def test_the_default_view_needs_no_query():
    """Defaults are left out; the shortest address is the first screen."""
    assert ViewState().to_query() == ""
    assert ViewState.from_query("") == ReadState(ViewState())


def test_addresses_are_readable():
    """A person can read and change an address."""
    wanted = state(fingerprint="935ba989", how="always", tau=0.3, pins=(HeadId(23, 4), HeadId(24, 5)))
    assert wanted.to_query() == "?model=smollm2-135m-instruct@935ba989&how=always&tau=0.3&pin=L23H4.L24H5"


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("?tau=2", "tau"),
        ("?tau=nan", "tau"),
        ("?how=sometimes", "how"),
        ("?pin=L1H1.nonsense", "pin"),
        ("?zoom=L9-0.H0-3", "zoom"),
        ("?zoom=all", "zoom"),
        ("?top=-1", "top"),
        ("?strongest=many", "strongest"),
        ("?largest=-1", "largest"),
        ("?measure=%00", "measure"),
        ("?model=", "model"),
        ("?model=%00", "model"),
        ("?relation=%00", "relation"),
        ("?tasks=%00", "tasks"),
        ("?tasks=a,b,c,d,e,f,g,h,i", "tasks"),
        ("?columns=some", "columns"),
        ("?gates=shut", "gates"),
        ("?seed=first", "seed"),
        ("?seed=first0", "seed"),
        ("?fit=../x", "fit"),
        ("?role=2", "role"),
        ("?nonsense=1", "nonsense"),
    ],
)
def test_what_cannot_be_read_is_said_and_keeps_its_default(query, word):
    """A wrong value gives a notice that names it, and the default view."""
    read = ViewState.from_query(query)
    assert read.state == ViewState()
    assert len(read.notices) == 1
    assert word in read.notices[0]


@settings(max_examples=1000)
@given(st.text(max_size=300))
def test_no_address_breaks_the_reader(query):
    """Any text is read, with notices at worst, and the state it gives can be written again."""
    read = ViewState.from_query("?" + query)
    assert ViewState.from_query(read.state.to_query()).state == read.state


def test_of_nine_pins_eight_are_kept_and_that_is_said():
    """From an address and from the page alike."""
    names = [f"L{i}H0" for i in range(9)]
    for read in (ViewState.from_query("?pin=" + ".".join(names)), ViewState().pinned(names)):
        assert [str(head) for head in read.state.pins] == names[:8]
        assert read.notices == ("At most 8 heads can be pinned; the first 8 of 9 were kept.",)


def test_a_link_of_before_that_names_a_theme_is_read_in_silence():
    """The theme is the browser's; the rest of the link holds."""
    assert ViewState.from_query("?tau=0.3&theme=dark") == ReadState(state(tau=0.3))


def test_very_long_addresses_are_cut():
    """A megabyte of address costs nothing."""
    assert "too long" in ViewState.from_query("?pin=" + "L1H1." * 300_000).notices[0]


def test_a_field_is_changed_wherever_it_lives():
    """Common fields and the maps' own by name; a name that no state has is refused."""
    changed = ViewState().changed(tau=0.3, transpose=True, seed="2")
    assert (changed.of(FunctionState).tau, changed.of(CausalState).seed, changed.transpose) == (0.3, "2", True)
    with pytest.raises(TypeError, match="flavour"):
        ViewState().changed(flavour="sweet")


def test_a_part_that_is_as_its_default_is_the_same_as_none():
    """Equal states are equal, however they were made."""
    assert ViewState(parts=(FunctionState(), CausalState())) == ViewState()
    assert ViewState().changed(tau=0.3).changed(tau=FunctionState().tau) == ViewState()


def test_another_model_keeps_what_means_something_for_every_model():
    """Thresholds stay; a relation, tasks, a seed, a fit and pins go."""
    before = state(
        zoom=((0, 1), (0, 1)),
        tau=0.3,
        relation="mine",
        tasks=("chess",),
        seed="7",
        fit="0123abcd",
        threshold=0.7,
        pins=(HeadId(1, 1),),
    )
    assert before.of_another_model("org/name") == state(model="org/name", tau=0.3, threshold=0.7)


def test_controls_are_read_as_an_address_is():
    """Lists, flags and empty fields; what cannot be read is said."""
    values = {"tasks": ["math", "chess"], "transpose": True, "top": "", "pin": ["L1H1", "L2H2"], "how": None}
    wanted = state(tasks=("math", "chess"), transpose=True, pins=(HeadId(1, 1), HeadId(2, 2)))
    assert ViewState.from_values(values) == ReadState(wanted)
    assert "tau" in ViewState.from_values({"tau": [1, 2]}).notices[0]
