"""An entry of a legend as plain data: a colour, or several, and what they mean."""

from dataclasses import dataclass
from typing import Literal

EntryKind = Literal["swatch", "framed", "outlined", "half", "ramp", "square", "words"]


@dataclass(frozen=True)
class LegendEntry:
    """What a colour means; `inside` is another colour within its frame, or the other half."""

    words: str
    colour: str = ""
    kind: EntryKind = "swatch"
    inside: str = ""
    shades: tuple[str, ...] = ()  # of a colour bar; of a square row by row from the top
    ends: tuple[str, ...] = ()  # what stands at both ends of a bar, or along both sides of a square

    def to_plain(self) -> dict[str, str | list[str]]:
        """For the scripts, without what is not said."""
        plain: dict[str, str | list[str]] = {
            "words": self.words,
            "colour": self.colour,
            "kind": self.kind,
            "inside": self.inside,
            "shades": list(self.shades),
            "ends": list(self.ends),
        }
        return {name: value for name, value in plain.items() if value}
