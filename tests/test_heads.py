import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import HeadAtlasError, HeadError
from analysis.models.card import WRITTEN, HeadId, ModelCard
from tests.hand_made import HandMade

NAMES = json.loads((Path(__file__).parent / "scripts" / "head_names.json").read_text("utf-8"))
CARD = HandMade.random(0, layers=3, heads=6, kv_heads=2).card


@pytest.mark.parametrize(("text", "layer", "head"), NAMES["heads"])
def test_ways_to_write_a_head(text, layer, head):
    """People write heads in several ways; the tests of the scripts read the same table."""
    assert HeadId.parse(text) == HeadId(layer, head)


@pytest.mark.parametrize("text", NAMES["others"])
def test_what_is_no_head(text):
    """Anything else is a named error."""
    with pytest.raises(HeadError):
        HeadId.parse(text)


def test_the_scripts_are_tested_with_the_pattern_that_they_are_told():
    """The page hands it over; the table carries it for tests that have no page."""
    assert NAMES["pattern"] == WRITTEN.pattern


@given(st.integers(0, 9999), st.integers(0, 9999))
def test_written_and_read_again(layer, head):
    """Writing a head and reading it gives the head."""
    assert HeadId.parse(str(HeadId(layer, head))) == HeadId(layer, head)


@given(st.text(max_size=30))
def test_no_text_breaks_the_reader(text):
    """Any text is a head or a named error."""
    try:
        HeadId.parse(text)
    except HeadAtlasError as error:
        assert error.hint


def test_group_mates_share_a_value_head():
    """Six query heads on two value heads: three share each."""
    assert [str(head) for head in CARD.group_mates(HeadId(1, 4))] == ["L1H3", "L1H5"]


def test_heads_outside_the_model():
    """A head beyond the last is refused with the range."""
    assert CARD.check(HeadId(2, 5)) == HeadId(2, 5)
    for head in (HeadId(3, 0), HeadId(0, 6)):
        with pytest.raises(HeadError, match=str(head)):
            CARD.check(head)


def test_card_survives_json():
    """The card comes back from its plain form unchanged."""
    assert ModelCard.from_dict(CARD.to_dict()) == CARD
