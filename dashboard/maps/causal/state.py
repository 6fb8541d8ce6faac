"""The causal map's part of the state of a view."""

import re
from dataclasses import dataclass
from typing import Literal

from analysis.methods.causal.result import ROLE_THRESHOLD
from dashboard.setting import NAMES, SHARE, Codec, Part, setting

Columns = Literal["both", "always", "any"]
ShownGates = Literal["both", "facilitation", "interference", "irrelevance", "preview"]

FIRST = "first"  # before a number of seeds
_SEED = re.compile(rf"((?:{FIRST})?[0-9]{{1,6}})?")
_FIT = re.compile(r"[0-9a-f]{0,16}")


def _seed(text: str) -> str:
    if not _SEED.fullmatch(text):
        raise ValueError(text)
    first = FIRST if text.startswith(FIRST) else ""
    number = text.removeprefix(first)
    if first and int(number) < 1:
        raise ValueError(text)
    return number and f"{first}{int(number)}"


def _fit(text: str) -> str:
    if not _FIT.fullmatch(text):
        raise ValueError(text)
    return text


SEED: Codec[str] = Codec(_seed, str)
FIT: Codec[str] = Codec(_fit, str)


@dataclass(frozen=True)
class CausalState(Part):
    """Which tasks and seeds are shown, and from which score on a head has a role."""

    tasks: tuple[str, ...] = setting((), NAMES, of_model=True)  # rows; none stands for the first two
    columns: Columns = setting("both", Columns, local=True)
    gates: ShownGates = setting(
        "both", ShownGates, local=True
    )  # two roles as colour channels, one score, or the preview
    seed: str = setting("", SEED, of_model=True)  # one seed alone, or "first3": Always and Any over so many; all
    fit: str = setting("", FIT, of_model=True)  # the name of a fit that goes first
    threshold: float = setting(
        ROLE_THRESHOLD, SHARE, key="role", local=True
    )  # a head has a role when its score reaches this

    @property
    def one_seed(self) -> str:
        """The number of the seed that is shown alone, or nothing."""
        return "" if self.first_seeds else self.seed

    @property
    def first_seeds(self) -> int:
        """Only so many seeds count; 0 for all."""
        return int(self.seed.removeprefix(FIRST)) if self.seed.startswith(FIRST) else 0
