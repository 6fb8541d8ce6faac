"""The settings by which a plain map shows one of its panels alone, and only the best heads of each.

A map declares both in its part of the state, names them in its `PlainPanels` and passes the page's questions on.
"""

from dataclasses import dataclass, replace
from typing import TypeVar

from analysis.models.card import ModelCard
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Scores
from dashboard.maps.control import Choice, Control, best_heads, item_choices, item_picker
from dashboard.setting import Part

AnyState = TypeVar("AnyState", bound=Part)


@dataclass(frozen=True)
class PanelChoice:
    """Both settings, by keys that are the names of their fields, and what their controls are called."""

    alone: str
    top: str
    called: str  # what a panel is about, as one word
    every: str  # what the picker calls all of them
    best: str  # what makes a head one of the best

    def controls(self) -> list[Control]:
        """A picker of panels, and among the advanced ones how many heads."""
        return [
            item_picker(self.alone, self.called, f"One {self.called.lower()} instead of all.", conditional=True),
            best_heads(self.top, f"{self.best} of each panel in full colour, the others faint; empty shows all."),
        ]

    def offered(self, result: Scores | None) -> dict[str, list[Choice]]:
        """All panels, then each, those of a category together."""
        groups: dict[str, list[ScoredItem]] = {}
        for item in result.provenance.items if result is not None else ():
            groups.setdefault(item.category, []).append(item)
        return {self.alone: item_choices(self.every, groups)}

    def words(self, state: Part) -> str:
        """How many heads of each panel are in full colour, for the end of a heading; empty for all."""
        best = getattr(state, self.top)
        return f", the top {best} of each panel" if best else ""

    def needless(self, result: Scores | None) -> set[str]:
        """The picker, where there is one panel."""
        return {self.alone} if result is None or len(result.provenance.items) < 2 else set()

    def repaired(self, state: AnyState, result: Scores | None, card: ModelCard) -> tuple[AnyState, list[str]]:
        """Only a panel that the model has."""
        name = getattr(state, self.alone)
        items = [item.name for item in result.provenance.items] if result is not None else []
        if not name or name in items:
            return state, []
        notice = f"{card.id} has no scores for {name!r}; {self.every.lower()} are shown."
        return replace(state, **{self.alone: ""}), [notice]
