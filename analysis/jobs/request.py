"""A request for an analysis: one model that the command line, the API, the form and a job's record share."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self, cast

from pydantic import Field, ValidationError, create_model, field_validator, model_validator
from pydantic_core import PydanticSerializationError

from analysis import methods
from analysis.data import relations
from analysis.data.files import OwnFile
from analysis.data.relations import Relation
from analysis.errors import HeadAtlasError, SettingError
from analysis.jobs.problems import problem_words
from analysis.method import Method, RequestSummary
from analysis.models import builtin
from analysis.settings import Settings, check_groups

MAX_FILES = 5  # in a request over the network
ListedName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\w./-]+$")]


class Request(Settings):
    """A model, the methods, and every setting of every method. Equal requests are one job."""

    model: Annotated[str, Field(min_length=1, max_length=4096)] = Field(title="Model", examples=[builtin.ID])
    revision: Annotated[str, Field(max_length=100, pattern=r"^[\w./-]*$")] = Field("", title="Revision")
    methods: Annotated[list[str], Field(min_length=1, max_length=50)] = Field(
        default_factory=methods.default_names, title="Methods", description="what to compute"
    )

    @field_validator("methods")
    @classmethod
    def _of_the_list(cls, chosen: list[str]) -> list[str]:
        unknown = [name for name in chosen if name not in methods.names()]
        if unknown:
            raise ValueError(f"there is no method {unknown[0][:40]!r}; choose from {', '.join(methods.names())}")
        return list(dict.fromkeys(chosen))

    @model_validator(mode="after")
    def _can_be_written(self) -> Self:
        """Every text can be stored: JSON allows unpaired surrogates, UTF-8 does not."""
        try:
            self.to_record()
        except PydanticSerializationError as error:
            raise ValueError("a text contains an unpaired surrogate") from error
        return self

    @property
    def chosen(self) -> list[Method]:
        """The methods themselves, in the order in which they are computed."""
        return methods.ordered(self.methods)

    @property
    def id(self) -> str:
        """A job's name: the hash of all that is asked."""
        content = [self.model, self.revision, [[method.name, method.identity(self)] for method in self.chosen]]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def asked(self) -> dict[str, RequestSummary]:
        """What is asked of each method; refuses settings that contradict each other, and files that are of no use."""
        for file in self._unused_files():
            methods_asked = ", ".join(self.methods)
            hint = "Leave it out, or ask for a method that takes such files."
            raise SettingError(f"{file.name} cannot be used for {methods_asked}", hint)
        return {method.name: method.asked(self) for method in self.chosen}

    def check_files(self, folder: Path | None = None) -> None:
        """Refuse files that are of no use for a method that takes them, given the model's own files if at hand."""
        useless: dict[str, HeadAtlasError] = {}
        for method in self.chosen:
            useless = {**method.check_files(self, folder), **useless}
        refusals = list(useless.values())
        if refusals:
            hints = dict.fromkeys(error.hint for error in refusals)
            words = "\n".join(str(error) for error in refusals)
            raise type(refusals[0])(words, " ".join(hints))

    def brought(self) -> dict[str, list[OwnFile]]:
        """The uploaded files, by the setting that holds them."""
        files: dict[str, list[OwnFile]] = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, OwnFile):
                    files.setdefault(name, []).append(one)
        return files

    def own_relations(self) -> list[Relation]:
        """The relations among them; files that only another version could read are passed over."""
        own = []
        for files in self.brought().values():
            for file in files:
                with suppress(HeadAtlasError):
                    if not file.is_task:
                        own.append(relations.parse(file.content.encode(), file.name))
        return own

    def _unused_files(self) -> list[OwnFile]:
        """Files that no chosen method takes."""
        unused = []
        for name, files in self.brought().items():
            unused += [file for file in files if not any(method.takes(name, file) for method in self.chosen)]
        return unused

    def to_record(self) -> str:
        """As the store keeps it."""
        return self.model_dump_json(exclude_defaults=True)


class NetworkRequest(Request):
    """The same over the network: it may name listed models but no path."""

    model: ListedName = Field(title="Model", examples=[builtin.ID])

    @field_validator("model")
    @classmethod
    def _no_path(cls, name: str) -> str:
        if ".." in name or name.startswith(("/", ".")):
            raise ValueError("paths are not accepted; give the name of a listed model or a Hugging Face id")
        return name

    @model_validator(mode="after")
    def _few_files(self) -> Self:
        if any(len(files) > MAX_FILES for files in self.brought().values()):
            raise ValueError(f"at most {MAX_FILES} files")
        return self


def request_type(base: type[Request] = Request) -> type[Request]:
    """The class of requests with the settings of all methods that there are."""
    return _combined(base, tuple(method.settings for method in methods.METHODS))


@lru_cache(maxsize=8)
def _combined(base: type[Request], settings: tuple[type[Settings], ...]) -> type[Request]:
    own = []
    for group in dict.fromkeys(settings):
        inherited = any(issubclass(other, group) for other in settings if other is not group)
        if not inherited:  # else it comes with the other
            own.append(group)
    check_groups([base, *own])
    return cast(type[Request], create_model(base.__name__, __base__=(base, *own), __doc__=base.__doc__))


def make_request(values: Mapping[str, Any]) -> Request:
    """A request from plain values; invalid ones become one error in words."""
    try:
        return request_type()(**values)
    except ValidationError as error:
        raise setting_error(error) from error


def setting_error(error: ValidationError) -> SettingError:
    """What is wrong with settings, for people: one problem per line."""
    fields = request_type().model_fields
    problems = [problem_words(problem, fields, problem["loc"]) for problem in error.errors()]
    return SettingError("\n".join(dict.fromkeys(problems)), "See --help, or the form on the page.")


def read_record(content: bytes | str) -> Request:
    """The inverse of `Request.to_record`; raises ValueError when another version wrote something else."""
    return request_type().model_validate_json(content)
