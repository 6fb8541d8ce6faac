"""Where the panels of a page stand: as many beside each other as lets their cells be largest."""

from dataclasses import dataclass

LEFT, RIGHT, TOP, BOTTOM = 34, 10, 30, 34  # pixels around each panel: tick labels, title
LARGEST, _COMFORTABLE = 26, 14  # pixels of a cell's side: no larger; from here on height counts more than size
_TALLEST, _MOST_ROWS = 760, 2  # pixels and rows of panels beyond which larger cells are not worth scrolling


_NARROWEST = 170  # pixels: a panel's title needs them


@dataclass(frozen=True)
class Box:
    """One panel's drawing area, in pixels from the figure's top left corner."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Arrangement:
    """All panels of a figure of a given width."""

    width: int
    height: int
    cell: float  # pixels of a cell's side, of the longer one where cells are not square
    boxes: tuple[Box, ...]
    sides: tuple[Box, ...] = ()  # of the layer profiles beside the panels, if there are any

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return len({box.top for box in self.boxes})


def arrange(count: int, columns: int, rows: int, width: int, largest: int = LARGEST) -> Arrangement:
    """Place `count` panels of columns × rows cells.

    Tall or square maps stand in one row and wide ones in two, because that is where their cells are largest without
    the figure outgrowing a screen; on a narrow screen they stand below each other.
    """
    most = max(1, min(count, width // _NARROWEST))
    options = [_with(beside, count, columns, rows, width, largest) for beside in range(1, most + 1)]
    fitting = [option for option in options if option.rows <= _MOST_ROWS and option.height <= _TALLEST]
    if width < 640 or not fitting:
        legible = [option for option in options if option.cell >= min(9, options[0].cell)]
        return min(legible, key=lambda option: option.height)
    comfortable = [option for option in fitting if option.cell >= min(_COMFORTABLE, largest)]
    if comfortable:
        return min(comfortable, key=lambda option: option.height)
    return max(fitting, key=lambda option: (round(option.cell, 1), -option.height))


def _with(beside: int, count: int, columns: int, rows: int, width: int, largest: int) -> Arrangement:
    across = width // beside
    cell = min((across - LEFT - RIGHT) / max(columns, 1), largest)
    inner_width, inner_height = max(8, int(cell * columns)), max(8, round(cell * rows))
    step = inner_height + TOP + BOTTOM
    boxes = []
    for i in range(count):
        row, column = divmod(i, beside)
        boxes.append(Box(column * across + LEFT, row * step + TOP, inner_width, inner_height))
    rows_of_panels = -(-count // beside)
    return Arrangement(width, rows_of_panels * step, cell, tuple(boxes))


_WIDEST = 2.6  # a cell's width by its height, where maps are taller than wide
_GRID_HEIGHT = 900  # pixels of a whole grid, unless its cells would be too small
_LOWEST = 4.5  # pixels of a cell's height
_GAP, _SIDE, _UNDER = 28, (120, 220), 46  # pixels before a profile, its least and largest width, its height if below


def arrange_grid(rows: int, columns: int, cells: tuple[int, int], width: int, profile_beside: bool) -> Arrangement:
    """Place rows × columns panels of `cells` across and down as a grid, each with its layer profile beside or below it.

    The profile shares the panel's layers, so it is beside a panel whose layers go up, and below one whose layers go
    across. Panels of a single column stand beside each other, and on a narrow screen all stand below each other.
    """
    count = rows * columns
    fitting = max(1, width // 300)
    beside = columns if 1 < columns <= fitting else 1 if columns > 1 else min(count, fitting, 3)
    across, deep = width // beside, -(-count // beside)
    under = 0 if profile_beside else _UNDER + _GAP
    least = min(_SIDE[0], across // 5)
    room = across - LEFT - RIGHT - ((least + _GAP) if profile_beside else 0)
    high = (_GRID_HEIGHT / max(deep, 1.6) - TOP - BOTTOM - under) / cells[1]
    high = min(max(high, _LOWEST), LARGEST, room / cells[0])
    high = max(high, min(_LOWEST, room / cells[0]))
    wide = min(room / cells[0], high * (_WIDEST if profile_beside else 1.25))
    inner = (max(8, int(wide * cells[0])), max(8, round(high * cells[1])))
    step = inner[1] + TOP + BOTTOM + under
    corners = [((i % beside) * across + LEFT, (i // beside) * step + TOP) for i in range(count)]
    boxes = tuple(Box(left, top, *inner) for left, top in corners)
    if profile_beside:
        side = max(8, min(_SIDE[1], across - LEFT - RIGHT - inner[0] - _GAP))
        sides = tuple(Box(left + inner[0] + _GAP, top, side, inner[1]) for left, top in corners)
    else:
        sides = tuple(Box(left, top + inner[1] + BOTTOM - 6, inner[0], _UNDER) for left, top in corners)
    return Arrangement(width, deep * step, max(wide, high), boxes, sides)
