"""What a person may choose, said once: the command line, the API, the form and a job's record all read it from here."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypedDict

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.fields import FieldInfo

from analysis.errors import SettingError

LONGEST_NAME = 200  # characters of one of these
UNKNOWN = 5  # fields that nobody knows and that are named in a refusal
_HINTS = "x-head-atlas"  # beside the JSON schema's own words


class Hints(TypedDict):
    """How the command line and the form show a field; see `hints`."""

    metavar: str
    files: bool
    ranges: bool
    form: bool
    placeholder: str
    choices: list[list[str]]


class NamedFields(BaseModel):
    """Takes the fields that it names. Of others the first few are refused by name: each costs an error of its own."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known = {name: given[name] for name in cls.model_fields if name in given}
        unknown = islice((name for name in given if name not in cls.model_fields), UNKNOWN)
        return {**known, **{str(name)[:LONGEST_NAME]: None for name in unknown}}


class Settings(NamedFields):
    """A group of settings. A field's name is its name in the API, the form and the command line.

    Each field says its limits and its default, a title for the form and a sentence for the help; see `hints`.
    """

    model_config = ConfigDict(frozen=True)


def hints(
    *,
    metavar: str = "",  # what stands for the value in the command line's help
    files: bool = False,  # on the command line a value may also be a file of one's own
    ranges: bool = False,  # on the command line numbers are written like 0-5,10
    form: bool = True,  # offered in the form
    placeholder: str = "",  # shown in the form's empty field
    choices: Sequence[tuple[str, str]] = (),  # value and title of what the form offers to choose from
) -> dict[str, Any]:
    """How the command line and the form show a field, as its `json_schema_extra`."""
    shown = Hints(
        metavar=metavar,
        files=files,
        ranges=ranges,
        form=form,
        placeholder=placeholder,
        choices=[list(choice) for choice in choices],
    )
    return {_HINTS: shown}


def hints_of(field: FieldInfo) -> Hints:
    """The hints of a field, or the default ones."""
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    own: Any = extra.get(_HINTS, {})
    default: Hints = hints()[_HINTS]
    return {**default, **own}


def check_groups(groups: Sequence[type[Settings]]) -> None:
    """Refuse groups that say different things of one name: in a request, all of them are one."""
    seen: dict[str, tuple[type[Settings], FieldInfo]] = {}
    for group in groups:
        for name, field in group.model_fields.items():
            other, first = seen.setdefault(name, (group, field))
            if repr(first) != repr(field):
                message = f"{group.__name__} and {other.__name__} both define {name!r}, and not alike"
                raise SettingError(message, "Take the field from a group that both share, or give it another name.")
