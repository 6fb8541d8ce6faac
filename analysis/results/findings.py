"""What the scores support about a head, in plain words: sentences with their numbers, made by the methods."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.models.card import HeadId
from analysis.results.provenance import JsonObject


@dataclass(frozen=True)
class Finding:
    """One sentence about one head."""

    head: HeadId
    text: str  # a sentence without the head's name
    strength: float  # from 0 to 1: findings of one list are ordered by it
    method: str
    item: str = ""  # the relation, task or behaviour that it is about
    kind: str = ""
    effect: float = 0.0  # a measured effect in the direction that the sentence claims; it decides between equals
    is_near: bool = False  # true of the relation that was asked for, not of the very pair: it comes after all others
    is_unconfirmed: bool = False  # a later method looked and does not find it, which the sentence says: it comes last
    brief: str = ""  # the finding in a few words, where another method's sentence says the same
    has_pair: bool | None = None  # whether the very pair that was asked for is a hit; None where that is not known

    @property
    def order(self) -> tuple[bool, bool, float, float, float]:
        """By which findings of one list are sorted: equal are strengths that a person reads as equal."""
        return self.is_unconfirmed, self.is_near, -round(self.strength, 2), -self.effect, -self.strength

    def with_remark(self, remark: str) -> "Finding":
        """The same with a few more words at the end of its sentence."""
        return replace(self, text=f"{self.text.removesuffix('.')}; {remark}.")

    def to_plain(self) -> JsonObject:
        """As returned by the API and `--json`."""
        return {
            "head": str(self.head),
            "text": self.text,
            "strength": round(self.strength, 4),
            "method": self.method,
            "item": self.item,
            "kind": self.kind,
        }


# Verbs of a question about one kind of score alone.
KIND_WORDS = {
    "promote": ("promote", "promotes", "promoting"),
    "suppress": ("suppress", "suppresses", "suppressing"),
}


@dataclass(frozen=True)
class SearchQuestion:
    """What a person searches for, as words."""

    typed: tuple[str, ...]  # as they were typed

    @classmethod
    def of(cls, text: str) -> "SearchQuestion":
        """The words of a text; arrows and punctuation only separate them."""
        spaced = "".join(character if character.isalnum() else " " for character in text)
        return cls(tuple(spaced.split()))

    @property
    def words(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.casefold() for word in self.typed)

    def without(self, words: Sequence[str]) -> "SearchQuestion":
        """The same without some words, given in lower case."""
        return SearchQuestion(tuple(word for word in self.typed if word.casefold() not in words))

    def split(self) -> list[tuple["SearchQuestion", "SearchQuestion"]]:
        """Every way to read it as two questions, one after the other: a source and a target."""
        return [(SearchQuestion(self.typed[:at]), SearchQuestion(self.typed[at:])) for at in range(1, len(self.typed))]

    def is_exactly(self, text: str) -> bool:
        """Whether a text has these words and no others; a word that was typed with capitals needs the same ones."""
        there = SearchQuestion.of(text)
        if there.words != self.words or not self.words:
            return False
        pairs = zip(self.typed, there.typed, strict=True)
        return all(mine in (theirs, mine.casefold()) for mine, theirs in pairs)

    @property
    def kinds(self) -> list[str]:
        """The kinds of score that its verbs name: to promote, to suppress; none when it has no such verb."""
        return [kind for kind, verbs in KIND_WORDS.items() if any(word in verbs for word in self.words)]

    @property
    def topic(self) -> "SearchQuestion":
        """The same without these verbs."""
        return self.without([verb for verbs in KIND_WORDS.values() for verb in verbs])

    def is_about(self, text: str) -> bool:
        """Whether every word begins a word of the text; a question without words is about nothing."""
        there = SearchQuestion.of(text).words
        return bool(self.words) and all(_begins_one(word, there) for word in self.words)


def _begins_one(word: str, words: Sequence[str]) -> bool:
    """Whether some word of a list begins with this one; numbers and single letters must be equal to it."""
    if len(word) < 3 or word.isdecimal():
        return word in words
    return any(other.startswith(word) for other in words)
