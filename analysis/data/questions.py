"""Questions with their answers, from small grammars and word lists: the raw material of the built-in tasks."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple


class TaskQuestion(NamedTuple):
    """A question, its answer, and a key that two wordings of the same question share."""

    asked: str
    answer: str
    key: str
    rest: str = ""  # what follows the answer where the question is a worked example


@cache
def _data(name: str) -> Any:
    return json.loads((files("analysis") / "data" / "tasks" / f"{name}.json").read_text("utf-8"))


def math() -> dict[str, list[TaskQuestion]]:
    """Questions about small numbers, by kind: small models should be able to answer them."""
    return _collect(_addition, _subtraction, _multiplication, _comparison, _sequence, _unit_step, _word_problem)


def syntax() -> dict[str, list[TaskQuestion]]:
    """Changes of grammatical form that keep the words, by kind."""
    return _collect(_past_tense, _plural, _pronoun, _question, _negation, _tense, _agreement)


def commonsense() -> dict[str, list[TaskQuestion]]:
    """Everyday questions by kind; each is asked four times, with the right answer once under every letter."""
    kinds: dict[str, list[TaskQuestion]] = {}
    for kind, rows in _data("commonsense").items():
        kinds[kind] = []
        for asked, right, *wrong in rows:
            kinds[kind].extend(_lettered(asked, right, *wrong))
    return kinds


def _collect(*kinds: Callable[[], Iterator[TaskQuestion]]) -> dict[str, list[TaskQuestion]]:
    """Each kind's questions under the name of its function."""
    return {kind.__name__.lstrip("_"): list(kind()) for kind in kinds}


def _plain(asked: str, answer: object) -> TaskQuestion:
    """A question that has no other wording."""
    return TaskQuestion(asked, f" {answer}", asked)


def _addition() -> Iterator[TaskQuestion]:
    for a, b in product(range(1, 16), repeat=2):
        yield TaskQuestion(f"{a} + {b} =", f" {a + b}", f"{min(a, b)} + {max(a, b)}")


def _subtraction() -> Iterator[TaskQuestion]:
    for difference, b in product(range(1, 13), repeat=2):
        yield _plain(f"{difference + b} - {b} =", difference)


def _multiplication() -> Iterator[TaskQuestion]:
    for a, b in product(range(2, 13), repeat=2):
        yield TaskQuestion(f"{a} x {b} =", f" {a * b}", f"{min(a, b)} * {max(a, b)}")


def _comparison() -> Iterator[TaskQuestion]:
    for a, b in product(range(1, 100, 3), range(1, 100, 2)):
        if a != b:
            yield TaskQuestion(f"max({a}, {b}) =", f" {max(a, b)}", f"{min(a, b)}, {max(a, b)}")


def _sequence() -> Iterator[TaskQuestion]:
    for first, step in product(range(1, 61), range(1, 4)):
        yield _plain(f"{first}, {first + step}, {first + 2 * step},", first + 3 * step)


def _unit_step() -> Iterator[TaskQuestion]:
    for number in range(1, 99):
        yield _plain(f"after {number} comes", number + 1)


def _word_problem() -> Iterator[TaskQuestion]:
    words = _data("words")
    for name, thing, a, b in product(words["names"], words["things"], range(2, 10), range(1, 9)):
        yield _plain(f"{name} had {a} {thing} and got {b} more, now", a + b)
        if b < a:
            yield _plain(f"{name} had {a} {thing} and lost {b}, now", a - b)


def _past_tense() -> Iterator[TaskQuestion]:
    words = _data("words")
    regular = [(verb, past_of(verb)) for verb in words["regular"]]
    for verb, past in [*words["verbs"], *regular]:
        yield _plain(f"today they {verb}, yesterday they", past)


def _plural() -> Iterator[TaskQuestion]:
    words = _data("words")
    regular = [(noun, with_s(noun)) for noun in words["nouns"]]
    for noun, plural in [*words["plurals"], *regular]:
        yield _plain(f"one {noun} and many", plural)


_OBJECT = {"he": "him", "she": "her", "they": "them"}


def _pronoun() -> Iterator[TaskQuestion]:
    people: list[tuple[str, str]] = []
    for pronoun, persons in _data("words")["people"].items():
        people.extend((person, pronoun) for person in persons)
    for (subject, subject_pronoun), verb, (other, other_pronoun) in product(people, _data("words")["meet"], people):
        if subject != other:
            yield _plain(f"{subject} {verb} {other}:", f"{subject_pronoun} {verb} {_OBJECT[other_pronoun]}")


_SUBJECTS = {"I": "am", "you": "are", "he": "is", "she": "is", "we": "are", "they": "are"}
_AUXILIARIES = ("can", "will", "should", "must", "could")


def _question() -> Iterator[TaskQuestion]:
    """Subject and auxiliary swap their positions."""
    for subject, auxiliary, verb in product(_SUBJECTS, _AUXILIARIES, _verbs()):
        yield _plain(f"{subject} {auxiliary} {verb}:", f"{auxiliary} {subject} {verb}?")
    for (subject, be), adjective in product(_SUBJECTS.items(), _data("words")["adjectives"]):
        yield _plain(f"{subject} {be} {adjective}:", f"{be} {subject} {adjective}?")


def _negation() -> Iterator[TaskQuestion]:
    """With `not` after an auxiliary, with `do not` before any other verb."""
    for subject, verb in product(_SUBJECTS, _verbs()):
        do = "does" if subject in ("he", "she") else "do"
        yield _plain(f"{subject} {_agreeing(verb, subject)}:", f"{subject} {do} not {verb}")
    for (subject, be), adjective in product(_SUBJECTS.items(), _data("words")["adjectives"]):
        yield _plain(f"{subject} {be} {adjective}:", f"{subject} {be} not {adjective}")


def _tense() -> Iterator[TaskQuestion]:
    """From the past or the present into the future."""
    irregular = dict(_data("words")["verbs"])
    for subject, verb in product(_SUBJECTS, _verbs()):
        present = _agreeing(verb, subject)
        past = irregular.get(verb) or past_of(verb)
        future = f"{subject} will {verb}"
        yield _plain(f"{subject} {present}:", future)
        yield _plain(f"{subject} {past}:", future)


def _agreement() -> Iterator[TaskQuestion]:
    """The verb agrees with the first noun, whatever stands between."""
    words = _data("words")
    for nouns, preposition, others in product(words["agents"], words["prepositions"], words["agents"]):
        if nouns == others:
            continue
        singular, plural = nouns
        for noun, verb in ((singular, " is"), (plural, " are")):
            for other in others:
                asked = f"The {noun} {preposition} the {other}"
                yield TaskQuestion(asked, verb, asked, " here.")


def _verbs() -> list[str]:
    verbs: list[str] = _data("words")["intransitive"]
    return verbs


def _agreeing(verb: str, subject: str) -> str:
    return with_s(verb) if subject in ("he", "she") else verb


def with_s(word: str) -> str:
    """The regular plural of a noun, or the verb after he and she: cats, boxes, flies."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word + "s"


def past_of(verb: str) -> str:
    """The past of a regular verb: walked, hoped, cried, stopped."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    if verb in _data("words")["doubled"]:
        return verb + verb[-1] + "ed"
    return verb + "ed"


_LETTERS = "ABCD"


def _lettered(asked: str, right: str, *wrong: str) -> Iterator[TaskQuestion]:
    """The question once per letter of the right answer; the wrong ones are rotated, so that they move too."""
    for at, letter in enumerate(_LETTERS):
        shift = at % len(wrong)
        others = wrong[shift:] + wrong[:shift]
        options = [*others[:at], right, *others[at:]]
        listed = [f"{option_letter}) {option}" for option_letter, option in zip(_LETTERS, options, strict=True)]
        yield TaskQuestion(f"{asked} {' '.join(listed)} Answer:", f" {letter}", f"{asked} {right}")
