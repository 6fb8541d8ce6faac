"""An entry in the legend of a picture."""

from typing import NamedTuple


class Swatch(NamedTuple):
    """A colour and what it means."""

    colour: str
    words: str
    inside: str = ""  # another colour inside an outline, or beside half of the square
    mark: int = 0  # as on the maps (`dashboard.maps.look`)
