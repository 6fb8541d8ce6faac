"""The name of a head and the card of a model."""

import re
from dataclasses import asdict, dataclass
from typing import Any, Self

from analysis.errors import HeadError

# The browser's scripts use the same pattern, so blanks are named: \s is not the same in both languages.
_BLANKS = r"[ \t\n\r\f\v]*"
WRITTEN = re.compile(
    rf"{_BLANKS}[La]?([0-9]{{1,4}}){_BLANKS}(?:\.h|H|[.,:]){_BLANKS}([0-9]{{1,4}}){_BLANKS}",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, order=True)
class HeadId:
    """One attention head, both numbers counted from zero; written `L10H7`."""

    layer: int
    head: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `L10H7`, `10.7`, `10,7` or `a10.h7`."""
        match = WRITTEN.fullmatch(text)
        if match is None:
            raise HeadError(f"{text[:40]!r} is not a head", "Write layer and head like L10H7 or 10.7.")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"L{self.layer}H{self.head}"


@dataclass(frozen=True)
class ModelCard:
    """What a reader needs to know of a model before looking at any score of it."""

    id: str
    revision: str  # the hub's commit where there is one, else the first characters of the fingerprint
    fingerprint: str  # see analysis.models.checkpoint.fingerprint
    family: str
    layers: tuple[int, ...]  # layers that have attention, by their own number
    heads: int
    kv_heads: int
    head_dim: int
    width: int
    vocabulary: int
    dtype: str  # as on disk
    note: str = ""  # for example how the weights were quantised

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The inverse of `to_dict`; raises ValueError or TypeError for what is no card."""
        card = cls(**{**fields, "layers": tuple(fields["layers"])})
        texts = (card.id, card.revision, card.fingerprint, card.family, card.dtype, card.note)
        numbers = (*card.layers, card.heads, card.kv_heads, card.head_dim, card.width, card.vocabulary)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("a text field is not a string")
        "".join(texts).encode()  # an unpaired surrogate could not be printed
        if not card.layers or not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError("a number of the card is none")
        if card.kv_heads < 1 or card.heads % card.kv_heads:
            raise ValueError("the heads cannot be divided among the key-value heads")
        return card

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "layers": list(self.layers)}

    def check(self, head: HeadId) -> HeadId:
        """The head itself if the model has it."""
        if head.layer not in self.layers or head.head >= self.heads:
            raise HeadError(
                f"{self.id} has no head {head}",
                f"Its layers are {self.layers[0]} to {self.layers[-1]}, its heads 0 to {self.heads - 1}.",
            )
        return head

    def group_mates(self, head: HeadId) -> tuple[HeadId, ...]:
        """The other query heads that share this head's value matrix (grouped-query attention)."""
        size = self.heads // self.kv_heads
        first = head.head // size * size
        return tuple(HeadId(head.layer, other) for other in range(first, first + size) if other != head.head)
