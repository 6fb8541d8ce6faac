"""The function map's part of the state of a view."""

from dataclasses import dataclass
from typing import Literal

from analysis.results.scores import KINDS, TAU
from dashboard.setting import COUNT, NAME, SHARE, Part, setting

How = Literal["any", "always"]
Kind = Literal["both", "promote", "suppress"]
Colour = Literal["categories", "scores"]


@dataclass(frozen=True)
class FunctionState(Part):
    """Which relations count, and when a head belongs to a category."""

    how: How = setting("any", How)
    kind: Kind = setting("both", Kind)
    colour: Colour = setting("categories", Colour)
    relation: str = setting("", NAME, of_model=True)  # one relation instead of the categories
    tau: float = setting(TAU, SHARE)
    top: int = setting(0, COUNT)  # only the best heads of each panel; 0 shows all

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of score that count."""
        return KINDS if self.kind == "both" else (self.kind,)
