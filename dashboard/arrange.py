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
    cell: float  # pixels of a cell's side
    boxes: tuple[Box, ...]

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
    boxes = tuple(
        Box(
            (i % beside) * across + LEFT, (i // beside) * (inner_height + TOP + BOTTOM) + TOP, inner_width, inner_height
        )
        for i in range(count)
    )
    height = -(-count // beside) * (inner_height + TOP + BOTTOM)
    return Arrangement(width, height, cell, boxes)
