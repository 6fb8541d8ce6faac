import json
from dataclasses import asdict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dashboard.arrange import arrange

CASES = json.loads((Path(__file__).parent.parent / "cases" / "arrange.json").read_text())


def columns(arrangement):
    return len({box.left for box in arrangement.boxes})


def test_panels_stand_where_the_page_has_them():
    """The scripts' tests read the same table."""
    for case in CASES:
        task = dict(case["task"])
        cells = (task.pop("columns"), task.pop("rows"))
        place = arrange(task.pop("count"), cells, **task)
        assert json.loads(json.dumps(asdict(place))) == case["place"], case["task"]


def test_square_maps_stand_in_one_row_and_others_are_led_by_a_large_first():
    """12 × 12 heads, 30 layers × 9 heads and 80 × 64: no place stays empty."""
    assert len({box.top for box in arrange(5, (12, 12), 1390).boxes}) == 1
    for cells in ((30, 9), (80, 64)):
        first, *others = arrange(5, cells, 1390).boxes
        assert {(box.width, box.height) for box in others} == {(others[0].width, others[0].height)}
        assert first.width > 1.8 * others[0].width
        assert (len({box.left for box in others}), len({box.top for box in others})) == (2, 2)


def test_flat_maps_leave_no_half_of_a_wide_window_empty():
    """18 layers × 4 heads stand on both sides of the middle, not in one column on the left."""
    for width in (1214, 1390, 1710):
        assert arrange(5, (18, 4), width).right > width / 2


def test_a_higher_window_never_has_smaller_cells():
    """18 layers × 4 heads in a narrow window: once they stood in one column as soon as that fitted."""
    places = [arrange(5, (18, 4), 876, height) for height in range(400, 620, 20)]
    cells = [place.cell for place in places]
    assert cells == sorted(cells)
    assert cells[-1] >= 20
    assert all(place.right > 876 / 2 for place in places)


def test_five_panels_leave_no_sixth_place_empty():
    """In small windows, too: the first stands alone and is larger, the others two by two, behind it or below it."""
    for cells, width, height in (((30, 9), 1035, 560), ((80, 64), 1215, 480), ((80, 64), 974, 528)):
        first, *others = arrange(5, cells, width, height, profile="below").boxes
        assert first.width > 1.8 * others[0].width
        assert (len({box.left for box in others}), len({box.top for box in others})) == (2, 2)


def test_a_phone_has_one_column_of_wide_maps():
    """Below each other, as wide as the screen."""
    assert columns(arrange(5, (30, 9), 366)) == 1


def test_a_big_model_fits_the_window_and_stays_legible():
    """The first of five maps of 80 × 64 heads has cells of 7 pixels or more at 1440 × 900."""
    place = arrange(5, (80, 64), 1390, 660, profile="below")
    assert place.height <= 660
    assert place.boxes[0].width >= 7 * 80


def test_four_causal_panels_with_profiles_fit_a_screen():
    """Two tasks by two columns at 1440 × 900, in square cells; below each other on a phone."""
    place = arrange(4, (30, 9), 1390, 660, profile="below", beside=2)
    assert place.height <= 660
    assert place.cell >= 20
    assert (columns(place), len({box.top for box in place.boxes})) == (2, 2)
    assert columns(arrange(4, (30, 9), 376, profile="below", beside=2)) == 1


@given(
    st.integers(1, 8), st.integers(1, 130), st.integers(1, 130), st.integers(280, 4000), st.integers(420, 2000),
    st.sampled_from(["", "beside", "below"]), st.integers(0, 3),
)  # fmt: skip
def test_panels_and_profiles_are_inside_the_figure_and_apart(count, across, down, width, height, profile, beside):
    """Whatever the model and the window; cells are square to a pixel."""
    place = arrange(count, (across, down), width, height, profile=profile, beside=beside)
    assert len(place.boxes) == count
    boxes = [*place.boxes, *place.sides]
    for i, box in enumerate(boxes):
        assert box.left >= 0
        assert box.left + box.width <= width
        assert box.top + box.height <= place.height
        for other in boxes[:i]:
            aside = box.left >= other.left + other.width or other.left >= box.left + box.width
            assert aside or box.top >= other.top + other.height or other.top >= box.top + box.height
    for box in place.boxes:
        if min(box.width, box.height) > 8:
            assert abs(box.width / across - box.height / down) <= 1 / min(across, down)


def test_panels_that_say_as_much_as_each_other_have_one_size():
    """Three tasks of 30 × 9 heads stand in one row; with a leading panel the others are smaller."""
    for width in (1000, 1390, 1710):
        boxes = arrange(3, (30, 9), width, alike=True).boxes
        assert len({(box.width, box.height) for box in boxes}) == 1
    assert len({box.top for box in arrange(3, (30, 9), 1390, alike=True).boxes}) == 1
    assert len({box.width for box in arrange(3, (30, 9), 1390).boxes}) == 2
