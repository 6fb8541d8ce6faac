"""Where the panels of a page stand: so that their cells are as large as the window allows.

The page does the same in the browser (assets/atlas/arrange.mjs); tests/cases/arrange.json holds for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor

LEFT, RIGHT, TOP, BOTTOM = 34, 10, 30, 34  # pixels around each panel: tick labels, title
LARGEST, LARGEST_FIRST = 26, 32  # pixels of a cell's side: no larger, and of a first panel that leads the others
HIGH = 660  # pixels of all panels together, where nobody knows the window
LARGEST_ALONE = 40  # pixels of a cell of the only panel of a page
_COMFORTABLE = 14  # pixels of a cell: from here on, less height counts more than larger cells
_WHOLE = 8  # pixels of a cell: from here on, only whole ones, so that all cells are equal
_LEGIBLE = 180  # pixels of the shorter side of a panel whose cells are small
_NARROWEST, _NARROWEST_LED = 170, 126  # pixels of a panel with its labels, and without: its title needs them
_ENDLESS = 1_000_000  # pixels: the height of a page that scrolls
_SMALLEST = 3  # pixels of a cell behind a larger panel
_PHONE, _LARGEST_ON_PHONE = 640, 16  # pixels: a narrower window scrolls; its largest cell
GAP, SIDE, UNDER = 28, (110, 220), 46  # pixels before a profile; its least and largest width beside; its height below


@dataclass(frozen=True)
class Box:
    """One panel's drawing area, in pixels from the sheet's top left corner."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Arrangement:
    """All panels of a sheet of a given width."""

    width: int
    height: int
    cell: float  # pixels of a cell's side, in the last panel
    boxes: tuple[Box, ...]
    sides: tuple[Box, ...] = ()  # of the layer profiles of all panels, of the first alone, or of none

    @property
    def area(self) -> int:
        """Pixels that show heads."""
        return sum(box.width * box.height for box in self.boxes)

    @property
    def right(self) -> int:
        """Where the panel that reaches furthest to the right ends."""
        return max(box.left + box.width for box in (*self.boxes, *self.sides))

    @property
    def is_legible(self) -> bool:
        """Cells of some size, or many of them."""
        box = self.boxes[0]
        return self.cell >= _WHOLE or min(box.width, box.height) >= _LEGIBLE


@dataclass(frozen=True)
class _PanelsToPlace:
    """What is to be placed, and where."""

    count: int
    columns: int  # cells across and down
    rows: int
    width: int
    height: int
    largest: int
    profile: str = ""  # "beside" or "below" each panel
    alike: bool = False  # the first panel says no more than the others


def arrange(
    count: int, cells: tuple[int, int], width: int, height: int = HIGH, largest: int = LARGEST, profile: str = "",
    beside: int = 0, alike: bool = False,
) -> Arrangement:  # fmt: skip
    """Place `count` panels of `cells` across and down, with layer profiles "beside" or "below" them, if any.

    `beside` is how many belong in one row, of panels in a grid. Others stand in one row where their cells are
    comfortable; else as their cells are largest: in rows, or with the first panel large and the rest in two or three
    rows behind it. Where neither fits or half of the window would stay empty, the first panel is as wide as the window
    and the rest stand below it in pairs. No place in the last row stays empty. Panels that are `alike` have one size.
    On a phone they stand below each other.
    """
    if count == 1 and largest == LARGEST:
        largest = LARGEST_ALONE
    task = _PanelsToPlace(count, max(1, cells[0]), max(1, cells[1]), width, height, largest, profile, alike)
    is_led = not beside and not alike
    if width < _PHONE:
        return _on_a_phone(task if beside else replace(task, profile=""))
    options = [_in_rows(task, each, height) for each in _evenly(task, beside)]
    if is_led:
        options += _leading(task)
    fitting = [option for option in options if option.height <= height and option.is_legible]
    spread = [option for option in fitting if count == 1 or option.right > width / 2]
    if not spread and is_led:  # five flat maps below each other would leave most of a wide window empty
        legible = [option for option in _first_above_pairs(task) if option.height <= height and option.is_legible]
        if legible:
            return max(fitting + legible, key=lambda option: option.area)
    if not fitting:
        return _scrolling(task, beside)
    fitting = spread or fitting
    comfortable = [option for option in fitting if option.cell >= min(_COMFORTABLE, largest)]
    if comfortable and not beside:
        return min(comfortable, key=lambda option: option.height)
    return max(fitting, key=lambda option: (option.area, -option.height))


def _scrolling(task: _PanelsToPlace, beside: int) -> Arrangement:
    """Panels that do not fit the window, as wide as it is: the first large, or those of a grid in its columns."""
    tall = replace(task, height=_ENDLESS)
    options = [option for option in _leading(tall) if option.is_legible] + _first_above_pairs(tall)
    if beside or task.alike or not options:
        return _in_rows(task, max(1, min(beside or 2, task.width // _NARROWEST, task.count)), None)
    return min(options, key=lambda option: option.height)


def _leading(task: _PanelsToPlace) -> list[Arrangement]:
    """The first panel large, the others in two or three rows behind it."""
    deeps = [deep for deep in (2, 3) if task.count > deep and (task.count - 1) % deep == 0]
    options = [_first_beside_rows(task, deep) for deep in deeps]
    return [option for option in options if option.cell >= _SMALLEST and option.boxes[-1].width >= _NARROWEST_LED]


def _evenly(task: _PanelsToPlace, beside: int) -> Sequence[int]:
    """How many panels may stand in a row: any number that leaves no place empty, of a grid its columns or all."""
    most = max(1, task.width // _NARROWEST)
    wanted = [each for each in range(1, task.count + 1) if task.count % each == 0]
    if beside > 1:
        wanted = [each for each in (beside, task.count) if task.count % each == 0]
    return [each for each in wanted if each <= most] or [1]


def _on_a_phone(task: _PanelsToPlace) -> Arrangement:
    most = max(1, min(task.count, task.width // _NARROWEST))
    smaller = replace(task, largest=min(task.largest, _LARGEST_ON_PHONE))
    options = [_in_rows(smaller, beside, None) for beside in range(1, most + 1)]
    legible = [option for option in options if option.cell >= min(9, options[0].cell)]
    return min(legible, key=lambda option: option.height)


def _in_rows(task: _PanelsToPlace, beside: int, height: int | None) -> Arrangement:
    """So many panels beside each other, as large as the width and, where there is one, the height allow."""
    across, deep = task.width // beside, -(-task.count // beside)
    room_beside, room_below = _room(task, across)
    cell = min((across - LEFT - RIGHT - room_beside) / task.columns, task.largest)
    if height is not None:
        cell = min(cell, (height / deep - TOP - BOTTOM - room_below) / task.rows)
    cell = _snapped(cell)
    inner = _size(cell, task)
    step = inner[1] + TOP + BOTTOM + room_below
    corners = [((i % beside) * across + LEFT, (i // beside) * step + TOP) for i in range(task.count)]
    boxes = tuple(Box(left, top, *inner) for left, top in corners)
    sides = tuple(_side(box, task, across) for box in boxes) if task.profile else ()
    return Arrangement(task.width, deep * step, cell, boxes, sides)


def _room(task: _PanelsToPlace, across: int) -> tuple[int, int]:
    """Pixels that a profile needs beside a panel and below it."""
    beside = min(SIDE[0], across // 4) + GAP if task.profile == "beside" else 0
    return beside, UNDER + GAP if task.profile == "below" else 0


def _side(box: Box, task: _PanelsToPlace, across: int) -> Box:
    """Where the profile of a panel goes, that has so many pixels with its labels."""
    if task.profile == "below":
        return Box(box.left, box.top + box.height + BOTTOM, box.width, UNDER)
    wide = max(8, min(SIDE[1], across - LEFT - RIGHT - box.width - GAP))
    return Box(box.left + box.width + GAP, box.top, wide, box.height)


def _first_beside_rows(task: _PanelsToPlace, deep: int) -> Arrangement:
    """The first panel, alone with a profile, as high as the rows of the others, which stand behind it."""
    behind = (task.count - 1) // deep
    around, above = LEFT + RIGHT, TOP + BOTTOM
    room_beside, room_below = _room(task, task.width // 2)

    labels_in_cells = ((deep - 1) * above - room_below) / task.rows  # cells as high as the labels between the rows
    width_of_cells = task.width - (behind + 1) * around - room_beside - labels_in_cells * task.columns
    by_width = width_of_cells / ((deep + behind) * task.columns)
    by_height = (task.height / deep - above) / task.rows
    small = _snapped(min(by_width, by_height, task.largest))
    small_width, small_height = _size(small, task)

    width_of_first = task.width - behind * (small_width + around) - around - room_beside
    height_of_first = task.height - above - room_below
    large = _snapped(min(width_of_first / task.columns, height_of_first / task.rows, LARGEST_FIRST))
    first = Box(LEFT, TOP, *_size(large, task))

    start = first.width + around + room_beside
    boxes = [first]
    for i in range(task.count - 1):
        row, column = divmod(i, behind)
        left = start + column * (small_width + around) + LEFT
        top = row * (small_height + above) + TOP
        boxes.append(Box(left, top, small_width, small_height))
    height = max(first.height + above + room_below, deep * (small_height + above))
    sides = (_side(first, task, start),) if task.profile else ()
    return Arrangement(task.width, height, small, tuple(boxes), sides)


def _first_above_pairs(task: _PanelsToPlace) -> list[Arrangement]:
    """The first panel, alone with a profile, as wide as the window, the others below it in pairs; twice their size."""
    if task.count < 3 or task.count % 2 == 0:
        return []
    deep, across = (task.count - 1) // 2, task.width // 2
    around, above = LEFT + RIGHT, TOP + BOTTOM
    room_beside, room_below = _room(task, task.width)

    cells_down = (task.height - (deep + 1) * above - room_below) / task.rows  # of one column, through all rows
    small = _snapped(min((across - around) / task.columns, cells_down / (deep + 2), task.largest))
    small_width, small_height = _size(small, task)
    by_width = (task.width - around - room_beside) / task.columns
    large = _snapped(min(by_width, cells_down - deep * small, LARGEST_FIRST))
    first = Box(LEFT, TOP, *_size(large, task))

    start, step = first.height + above + room_below, small_height + above
    boxes = [first]
    for i in range(task.count - 1):
        row, column = divmod(i, 2)
        boxes.append(Box(column * across + LEFT, start + row * step + TOP, small_width, small_height))
    sides = (_side(first, task, task.width),) if task.profile else ()
    return [Arrangement(task.width, start + deep * step, small, tuple(boxes), sides)]


def _snapped(cell: float) -> float:
    return float(floor(cell)) if cell >= _WHOLE else max(cell, 0.5)


def _size(cell: float, task: _PanelsToPlace) -> tuple[int, int]:
    return max(8, floor(cell * task.columns)), max(8, floor(cell * task.rows))
