"""A number that results have one value per head of, its key in an address, and what it is read from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from analysis.errors import SettingError
from analysis.results.provenance import Provenance
from analysis.results.scores import Floats, Scores

ANY = "any"  # in place of an item: the largest of all
STRENGTH = "strength"  # in place of a kind: what makes a label
BETWEEN = "/"  # the parts of a key; items and kinds have no slash
_SAMPLE = "@"


@dataclass(frozen=True)
class Quantity:
    """A number of every head."""

    key: str
    title: str
    group: str  # the title of its method
    is_class: bool = False  # its values are codes of classes
    unit: str = ""  # numbers of one unit stand on one scale and may be subtracted
    samples: tuple[str, ...] = ()  # what may follow its key, after an @, instead of the mean

    @property
    def map(self) -> str:
        """The map that it is of, or the method: what its key starts with."""
        return self.key.partition(BETWEEN)[0]


@dataclass(frozen=True)
class QuantityKey:
    """The parts of a key."""

    method: str
    item: str
    kind: str
    over: str = ""  # how samples are taken together; empty for their mean

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`; what makes no sense names nothing that a result has."""
        whole, _, over = text.partition(_SAMPLE)
        method, item, kind = [*whole.split(BETWEEN, 2), "", ""][:3]
        return cls(method, item, kind, over)

    def __str__(self) -> str:
        """As an address has it."""
        whole = BETWEEN.join((self.method, self.item, self.kind))
        return f"{whole}{_SAMPLE}{self.over}" if self.over else whole


def strength_key(method: str, item: str, over: str = "") -> str:
    """The key of what decides about a label, of an item or of any."""
    return str(QuantityKey(method, item, STRENGTH, over))


class QuantitySource(Protocol):
    """Numbers of one sort: their keys start with the same word, or with a name from the same list."""

    def quantities(self, results: Mapping[str, Scores]) -> Sequence[Quantity]:
        """All that a model's results, by method, have."""

    def has(self, first: str) -> bool:
        """Whether a key that starts with this is one of them."""

    def unit(self, results: Mapping[str, Scores], key: str) -> str:
        """What the numbers behind a key are measured in."""

    def sources(self, results: Mapping[str, Scores], key: str) -> list[Provenance]:
        """The results that they are made of."""

    def values(self, results: Mapping[str, Scores], key: str) -> Floats:  # [layer, head]
        """The numbers; NaN where a head has none. Refuses a key that the results do not have."""


def unknown_quantity(key: str) -> SettingError:
    """The error for a key that the results do not have."""
    return SettingError(f"there is no quantity {key[:80]!r} here", "/api/quantities lists them.")
