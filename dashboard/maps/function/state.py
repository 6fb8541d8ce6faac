"""The function map's part of the state of a view."""

from dataclasses import dataclass
from typing import Literal

from analysis.relations.scores import KINDS, TAU
from analysis.results.scores import OVER_SAMPLES
from dashboard.setting import COUNT, FLAG, NAME, SHARE, Part, setting

How = Literal["any", "always"]
ShownKind = Literal["both", "promote", "suppress"]
Colour = Literal["categories", "scores"]
Counted = Literal["all", "beyond"]


@dataclass(frozen=True)
class FunctionState(Part):
    """What the scores are read from, which relations count, and when a head belongs to a category."""

    basis: str = setting("", NAME, resets=True)  # the name of a method; empty: the one that the model is shown by
    carriers: str = setting(OVER_SAMPLES[0], NAME, of_model=True)  # how a score is made of those after each carrier
    own: str = setting("", NAME, of_model=True)  # a custom relation set, as name@id; none when empty
    result: str = setting("", NAME, of_model=True)  # the name of a result that is not computed by default
    how: How = setting("any", How, local=True)
    kind: ShownKind = setting("both", ShownKind, local=True)
    colour: Colour = setting("categories", Colour, local=True)
    relation: str = setting("", NAME, of_model=True, local=True)  # one relation instead of the categories
    tau: float = setting(TAU, SHARE, local=True)
    top: int = setting(0, COUNT, local=True)  # only the best heads of each panel; 0 shows all
    labels: Counted = setting("all", Counted, local=True)  # which labels make a head a member
    also: bool = setting(False, FLAG)  # with the categories that other methods offer
    uncertain: bool = setting(False, FLAG, local=True)  # labels whose interval contains τ look so

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of score that count."""
        return KINDS if self.kind == "both" else (self.kind,)
