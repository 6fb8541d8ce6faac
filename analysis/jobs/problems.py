"""What is wrong with settings, in words: under which field, and one sentence each."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic.fields import FieldInfo

_NOT_A_NUMBER = {"int_parsing", "int_type", "float_parsing", "float_type", "finite_number"}
_SENTENCES = {  # by pydantic's name of the problem
    "int_from_float": "{value} is not a whole number",
    "literal_error": "{value} is not one of {expected}",
    "json_invalid": "it is not valid JSON: {error}",
    "missing": "it is required",
    "extra_forbidden": "there is no such setting",
    "greater_than_equal": "{value} is too small; at least {ge} is needed",
    "greater_than": "{value} is too small; more than {gt} is needed",
    "less_than_equal": "{value} is too large; at most {le} is allowed",
    "less_than": "{value} is too large; less than {lt} is allowed",
    "too_short": "{actual_length} given, at least {min_length} needed",
    "too_long": "{actual_length} given, at most {max_length} allowed",
    "string_too_short": "it is empty",
    "string_too_long": "at most {max_length} characters are allowed",
    "string_pattern_mismatch": "{value} cannot be used here",
}
_LONGEST = 40  # characters of what was typed
_LARGEST = 1e30  # of a number that is repeated


def field_of(place: Sequence[int | str]) -> str:
    """The name of the field that a problem is about."""
    names = [part for part in place if isinstance(part, str)]
    return names[0] if names else ""


def problem_words(problem: Mapping[str, Any], fields: Mapping[str, FieldInfo], place: Sequence[int | str]) -> str:
    """One problem as pydantic has it: the field's title, and what is wrong with its value."""
    name = field_of(place)
    title = (fields[name].title if name in fields else None) or name or "The request"
    return f"{title}: {_what(problem)}"


def _what(problem: Mapping[str, Any]) -> str:
    kind, value = str(problem["type"]), _typed(problem.get("input"))
    if kind in _NOT_A_NUMBER:
        return f"{value} is not a number" if value else "a number is needed"
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(value=value or "this", **problem.get("ctx", {}))
    message = str(problem["msg"]).removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _typed(value: Any) -> str:
    """What the user typed, as a sentence can quote it; empty for anything that is not plain text or a number."""
    if isinstance(value, str):
        shown = "".join(c if c.isprintable() else "?" for c in value[:_LONGEST])
        return f"'{shown}'"
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
