"""Beside or below a panel: the share of each layer's heads that belong, as bars on the panel's own layers."""

from dataclasses import dataclass

from analysis.results.scores import Floats


@dataclass(frozen=True, eq=False)
class Profile:
    """A bar per layer and name."""

    names: tuple[str, ...]
    colours: tuple[str, ...]
    shares: tuple[Floats, ...]  # [layer] of each name, from 0 to 1
    signed: bool = False  # bars of the second name go the other way
