from hypothesis import given
from hypothesis import strategies as st

from dashboard.arrange import arrange


def columns(arrangement):
    return len({box.left for box in arrangement.boxes})


def test_wide_maps_stand_in_two_rows_and_square_ones_in_one():
    """30 layers × 9 heads at 1280 pixels; 12 × 12 at the same width."""
    assert (columns(arrange(5, 30, 9, 1240)), arrange(5, 30, 9, 1240).rows) == (3, 2)
    assert arrange(5, 12, 12, 1240).rows == 1


def test_a_phone_has_one_column_of_wide_maps():
    """Below each other, as wide as the screen."""
    assert columns(arrange(5, 30, 9, 366)) == 1


def test_a_big_model_stays_legible():
    """80 × 64 heads at 1280 pixels have cells of more than 4 pixels."""
    assert arrange(5, 80, 64, 1240).cell > 4


@given(st.integers(1, 8), st.integers(1, 130), st.integers(1, 130), st.integers(280, 4000))
def test_panels_are_inside_the_figure_and_apart(count, across, down, width):
    """Whatever the model and the window."""
    place = arrange(count, across, down, width)
    assert len(place.boxes) == count
    for i, box in enumerate(place.boxes):
        assert box.left >= 0
        assert box.left + box.width <= width
        assert box.top + box.height <= place.height
        for other in place.boxes[:i]:
            beside = box.left >= other.left + other.width
            assert beside or box.top >= other.top + other.height
