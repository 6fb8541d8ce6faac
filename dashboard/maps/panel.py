"""One map of heads as numbers: what a panel shows, no pictures. Arrays are [layer, head]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.models.card import ModelCard
from analysis.results.scores import Bools, Floats, Missing, ranks

Words = npt.NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class PanelLabel:
    """What every head of a panel is called beside its name: a code for each head, words for each code."""

    words: tuple[str, ...]
    codes: Words

    @classmethod
    def of(cls, words: Sequence[str], shape: tuple[int, ...]) -> "PanelLabel":
        """From the words of every head, layer by layer."""
        distinct = tuple(dict.fromkeys(words))
        at = {text: code for code, text in enumerate(distinct)}
        codes = np.array([at[text] for text in words], np.uint16)
        return cls(distinct, codes.reshape(shape))

    def at(self, cell: tuple[int, int]) -> str:
        """The words of one head."""
        return self.words[int(self.codes[cell])]


def title_of(panels: "Sequence[Panel]", cell: tuple[int, int]) -> str:
    """What panels call a head: one text, or one for each panel where they differ (`titleOf` in cards.mjs)."""
    words = []
    for panel in panels:
        if panel.label is not None:
            words.append((panel.title, panel.label.at(cell)))
    labels = {id(panel.label) for panel in panels if panel.label is not None}
    if len(labels) == 1:
        return words[0][1]
    return " · ".join(f"{title}: {text}" for title, text in words)


@dataclass(frozen=True, eq=False)
class PanelMeasure:
    """A number of every head, as the tooltip tells it."""

    name: str  # before the number; empty when the panel's title says it
    value: Floats
    digits: int = 2
    ranked: bool = True  # the head's rank is shown, too
    interval: tuple[Floats, Floats] | None = None  # of each number, from 0 to 1
    key: str = ""  # what tables call it, where a panel has several


@dataclass(frozen=True, eq=False)
class Panel:
    """One map of heads."""

    key: str
    title: str
    value: Floats  # the score that decides, NaN where there is none
    member: Bools  # heads of which the panel's question is true
    reason: npt.NDArray[np.int8]  # a `Missing` where there is no value
    tone: str = ""  # the name of the colour that the panel has (`Map.tones`)
    categories: tuple[str, ...] = ()  # what `belongs` stands for
    belongs: Bools | None = None  # [category, layer, head], of a panel of several categories
    strengths: Floats | None = None  # [category, layer, head], the score that decides for each of them
    measures: tuple[PanelMeasure, ...] = ()
    label: PanelLabel | None = None
    besides: PanelLabel | None = None  # what the tooltip says below the numbers of some heads
    hollow: Bools | None = None  # members that are drawn as an outline
    filled: Bools | None = None  # [category, layer, head] where `belongs` is no outline in the category's own panel
    pale: Bools | None = None  # members whose inside is lighter
    half: Bools | None = None  # members that are drawn as half a square
    faint: Bools | None = None  # heads with little of their colour, because only the best ones are asked for
    falls: Bools | None = None  # heads, members or not, whose value is one of pushing down
    row: str = ""  # of panels that stand in a grid: what its row is about
    column: str = ""
    remark: str = ""  # after the title, instead of how many belong
    steepest: float = 1.0  # of gradients: where the scale of the panel's column ends

    @property
    def note(self) -> str:
        """What stands after the title."""
        return self.remark or heads_in(self.count)

    @property
    def leads(self) -> bool:
        """It stands for all others together, and is drawn larger where there is room."""
        return self.belongs is not None

    @property
    def count(self) -> int:
        """Heads that belong."""
        return int(self.member.sum())

    @property
    def strongest(self) -> npt.NDArray[np.intp]:
        """The rank of every head's value."""
        return ranks(self.value)

    @property
    def is_empty(self) -> bool:
        """No head has a value."""
        return bool(np.isnan(self.value).all())


def heads_in(count: int) -> str:
    """How many heads, in words."""
    return f"{count} {'head' if count == 1 else 'heads'}"


def without_scores(key: str, title: str, card: ModelCard, why: Missing) -> Panel:
    """A panel in which no head has a score."""
    shape = (len(card.layers), card.heads)
    nothing = np.full(shape, np.nan)
    reason = np.full(shape, why, np.int8)
    return Panel(key, title, nothing, np.zeros(shape, bool), reason, remark=why.words)


def reasons(panels: Sequence[Panel]) -> list[Missing]:
    """Why panels have no score somewhere, each reason once."""
    seen: set[Missing] = set()
    for panel in panels:
        seen |= {Missing(code) for code in np.unique(panel.reason) if code}
    return sorted(seen)


def layer_profile(panel: Panel) -> Floats:  # [layer], or [category, layer] for several categories
    """The share of each layer's heads that belong; NaN for a layer without any score."""
    return layer_shares(panel.member if panel.belongs is None else panel.belongs, panel.reason)


def layer_shares(flags: Bools, reason: npt.NDArray[np.int8]) -> Floats:  # [..., layer]
    """The share of each layer's heads of which flags [..., layer, head] are true; NaN for a layer without any score."""
    without = (reason != Missing.PRESENT).all(axis=-1)
    return np.where(without, np.nan, flags.mean(axis=-1))
