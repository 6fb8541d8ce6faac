"""Questions with their answers, from small grammars and word lists: what the causal map's tasks are made of."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple


class Question(NamedTuple):
    """What is asked, what follows it, and the key under which two wordings are the same question."""

    asked: str
    answer: str
    key: str
    rest: str = ""  # what follows the answer where the question is a worked example


@cache
def _data(name: str) -> Any:
    return json.loads((files("analysis") / "data" / "tasks" / f"{name}.json").read_text("utf-8"))


def math() -> dict[str, list[Question]]:
    """Small numbers only: the tasks are for small models too."""
    return _collect(_addition, _subtraction, _multiplication, _comparison, _sequence, _unit_step, _word_problem)


def syntax() -> dict[str, list[Question]]:
    """Changes of form that keep the words."""
    return _collect(_past_tense, _plural, _pronoun, _question, _negation, _tense, _agreement)


def commonsense() -> dict[str, list[Question]]:
    """Each question four times, with the right answer under every letter once."""
    return {kind: [q for row in rows for q in _lettered(*row)] for kind, rows in _data("commonsense").items()}


def _collect(*kinds: Callable[[], Iterator[Question]]) -> dict[str, list[Question]]:
    return {kind.__name__.lstrip("_"): list(kind()) for kind in kinds}


def _plain(asked: str, answer: object) -> Question:
    return Question(asked, f" {answer}", asked)


def _addition() -> Iterator[Question]:
    for a, b in product(range(1, 16), repeat=2):
        yield Question(f"{a} + {b} =", f" {a + b}", f"{min(a, b)} + {max(a, b)}")


def _subtraction() -> Iterator[Question]:
    for rest, b in product(range(1, 13), repeat=2):
        yield _plain(f"{rest + b} - {b} =", rest)


def _multiplication() -> Iterator[Question]:
    for a, b in product(range(2, 13), repeat=2):
        yield Question(f"{a} x {b} =", f" {a * b}", f"{min(a, b)} * {max(a, b)}")


def _comparison() -> Iterator[Question]:
    for a, b in product(range(1, 100, 3), range(1, 100, 2)):
        if a != b:
            yield Question(f"max({a}, {b}) =", f" {max(a, b)}", f"{min(a, b)}, {max(a, b)}")


def _sequence() -> Iterator[Question]:
    for first, step in product(range(1, 61), range(1, 4)):
        yield _plain(f"{first}, {first + step}, {first + 2 * step},", first + 3 * step)


def _unit_step() -> Iterator[Question]:
    for number in range(1, 99):
        yield _plain(f"after {number} comes", number + 1)


def _word_problem() -> Iterator[Question]:
    words = _data("words")
    for name, thing, a, b in product(words["names"], words["things"], range(2, 10), range(1, 9)):
        yield _plain(f"{name} had {a} {thing} and got {b} more, now", a + b)
        if b < a:
            yield _plain(f"{name} had {a} {thing} and lost {b}, now", a - b)


def _past_tense() -> Iterator[Question]:
    words = _data("words")
    for verb, past in [*words["verbs"], *((verb, past_of(verb)) for verb in words["regular"])]:
        yield _plain(f"today they {verb}, yesterday they", past)


def _plural() -> Iterator[Question]:
    words = _data("words")
    for noun, plural in [*words["plurals"], *((noun, with_s(noun)) for noun in words["nouns"])]:
        yield _plain(f"one {noun} and many", plural)


_OBJECT = {"he": "him", "she": "her", "they": "them"}


def _pronoun() -> Iterator[Question]:
    people = [(person, pronoun) for pronoun, persons in _data("words")["people"].items() for person in persons]
    for (subject, he), verb, (other, him) in product(people, _data("words")["meet"], people):
        if subject != other:
            yield _plain(f"{subject} {verb} {other}:", f"{he} {verb} {_OBJECT[him]}")


_SUBJECTS = {"I": "am", "you": "are", "he": "is", "she": "is", "we": "are", "they": "are"}


def _question() -> Iterator[Question]:
    """Subject and auxiliary change places."""
    for subject, auxiliary, verb in product(_SUBJECTS, ("can", "will", "should", "must", "could"), _verbs()):
        yield _plain(f"{subject} {auxiliary} {verb}:", f"{auxiliary} {subject} {verb}?")
    for (subject, be), adjective in product(_SUBJECTS.items(), _data("words")["adjectives"]):
        yield _plain(f"{subject} {be} {adjective}:", f"{be} {subject} {adjective}?")


def _negation() -> Iterator[Question]:
    """With `not` after an auxiliary, with `do not` before any other verb."""
    for subject, verb in product(_SUBJECTS, _verbs()):
        do = "does" if subject in ("he", "she") else "do"
        yield _plain(f"{subject} {_agreeing(verb, subject)}:", f"{subject} {do} not {verb}")
    for (subject, be), adjective in product(_SUBJECTS.items(), _data("words")["adjectives"]):
        yield _plain(f"{subject} {be} {adjective}:", f"{subject} {be} not {adjective}")


def _tense() -> Iterator[Question]:
    """From the past or the present into the future."""
    irregular = dict(_data("words")["verbs"])
    for subject, verb in product(_SUBJECTS, _verbs()):
        future = f"{subject} will {verb}"
        yield _plain(f"{subject} {_agreeing(verb, subject)}:", future)
        yield _plain(f"{subject} {irregular.get(verb) or past_of(verb)}:", future)


def _agreement() -> Iterator[Question]:
    """The verb agrees with the first noun, whatever stands between."""
    words = _data("words")
    for nouns, preposition, others in product(words["agents"], words["prepositions"], words["agents"]):
        for number, other in product((0, 1), others if nouns != others else ()):
            asked = f"The {nouns[number]} {preposition} the {other}"
            yield Question(asked, " are" if number else " is", asked, " here.")


def _verbs() -> list[str]:
    verbs: list[str] = _data("words")["intransitive"]
    return verbs


def _agreeing(verb: str, subject: str) -> str:
    return with_s(verb) if subject in ("he", "she") else verb


def with_s(word: str) -> str:
    """The regular plural of a noun, or the verb after he and she: cats, boxes, flies."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def past_of(verb: str) -> str:
    """The past of a regular verb: walked, hoped, cried, stopped."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in _data("words")["doubled"] else "") + "ed"


def _lettered(asked: str, right: str, *wrong: str) -> Iterator[Question]:
    for place in range(len(wrong) + 1):
        turn = place % len(wrong)
        others = wrong[turn:] + wrong[:turn]
        options = [*others[:place], right, *others[place:]]
        listed = " ".join(f"{letter}) {option}" for letter, option in zip("ABCD", options, strict=True))
        yield Question(f"{asked} {listed} Answer:", f" {'ABCD'[place]}", f"{asked} {right}")
