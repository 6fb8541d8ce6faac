"""Where a method was published."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper that a map's method comes from."""

    short: str  # authors and year
    words: str  # as it is cited
    address: str
