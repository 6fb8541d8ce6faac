"""Settings as options of the command line: one option per field, with its limits, default and help from the field."""

import argparse
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from analysis.data.files import OwnFile
from analysis.results.provenance import JsonObject, PlainValues
from analysis.settings import Settings, hints_of


@dataclass(frozen=True)
class Command:
    """A method on the command line."""

    name: str
    help: str
    fields: tuple[str, ...]  # of the settings, offered as options
    position: str = ""  # a field that stands after the model instead
    flags: tuple[tuple[str, str, PlainValues], ...] = ()  # option, help, the settings that it stands for
    ignored: tuple[str, ...] = ()  # options that earlier versions took and did nothing with


def add_options(parser: argparse.ArgumentParser, settings: type[Settings], command: Command) -> None:
    """The options of a method's command."""
    if command.position:
        field = settings.model_fields[command.position]
        metavar = hints_of(field)["metavar"] or command.position.upper()
        parser.add_argument(command.position, type=Path, metavar=metavar, help=_help(field))
    for name in command.fields:
        _add(parser, name, settings.model_fields[name])
    for option, words, _ in command.flags:
        parser.add_argument(f"--{option}", action="store_true", help=words)
    for option in command.ignored:
        parser.add_argument(f"--{option}", action="store_true", help=argparse.SUPPRESS)


def chosen_settings(options: argparse.Namespace, settings: type[Settings], command: Command) -> JsonObject:
    """The settings that the options ask for, with files read; what was not chosen is left out."""
    values: JsonObject = {}
    for name in command.fields:
        value = getattr(options, name)
        if value is not None:
            values[name] = value
    if command.position:
        values[command.position] = OwnFile.read(getattr(options, command.position))
    for option, _, implied in command.flags:
        if getattr(options, option):
            values |= implied
    files = []
    for name in command.fields:
        if hints_of(settings.model_fields[name])["files"] and name in values:
            values[name], own = names_and_files(values[name])
            files += own
    return {**values, "files": files} if files else values


def written_options(kind: type[Settings], fields: Sequence[str], values: PlainValues) -> list[str]:
    """Settings as somebody would type them: the inverse of `chosen_settings`, files by their names."""
    words = []
    for name in fields:
        if name in values and values[name] is not None:
            words += _written(name, kind.model_fields[name], values[name])
    return words


def _written(name: str, field: FieldInfo, value: Any) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        if value == field.default:
            return []
        return [_flag(name, field)]
    if hints_of(field)["ranges"]:
        return [option, ",".join(str(number) for number in value)]
    if isinstance(value, list | tuple):
        return [option, *(str(one) for one in value)] if value else []
    text = str(value)
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def _flag(name: str, field: FieldInfo) -> str:
    """The option that changes a setting which is on or off."""
    option = name.replace("_", "-")
    return f"--no-{option}" if field.default else f"--{option}"


def names_and_files(values: Sequence[str]) -> tuple[list[str], list[OwnFile]]:
    """Names, and the content of values that are files: a name with an ending or a folder is one."""
    names, files = [], []
    for value in values:
        path = Path(value)
        if path.suffix in {".csv", ".json", ".jsonl"} or path.is_file():
            files.append(OwnFile.read(path))
        else:
            names.append(value)
    return names, files


def _add(parser: argparse.ArgumentParser, name: str, field: FieldInfo) -> None:
    option = name.replace("_", "-")
    kind = _plain_type(field.annotation)
    shown = hints_of(field)
    if kind is bool:
        negated = bool(field.default)
        action: Any = "store_false" if negated else "store_true"
        words = f"do not {_help(field)}" if negated else _help(field)
        parser.add_argument(_flag(name, field), dest=name, action=action, default=None, help=words)
        return
    settings: JsonObject = {"dest": name, "help": _help(field), "default": None}
    settings["metavar"] = shown["metavar"] or "N"
    if shown["ranges"]:
        settings["type"] = layer_ranges
    elif get_origin(kind) is Literal:
        settings["choices"] = get_args(kind)
        del settings["metavar"]
    elif get_origin(kind) is list:
        settings["type"] = _plain_type(get_args(kind)[0])
        settings["nargs"] = _length(field) or "+"
    else:
        settings["type"] = kind
    parser.add_argument(f"--{option}", **settings)


def _help(field: FieldInfo) -> str:
    return (field.description or field.title or "").replace("%", "%%")


def _plain_type(annotation: Any) -> Any:
    """int, float, str, bool or list[…] behind `… | None` and `Annotated`."""
    if get_origin(annotation) is Annotated:
        return _plain_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return _plain_type(next(part for part in get_args(annotation) if part is not type(None)))
    return annotation


def _length(field: FieldInfo) -> int | None:
    """How many values a list must have, when that is fixed."""
    lengths: dict[str, int] = {}
    parts = [field.annotation, *get_args(field.annotation)]
    limits = list(field.metadata)
    for part in parts:
        limits += list(getattr(part, "__metadata__", ()))
    for limit in limits:
        for inner in (limit, *getattr(limit, "metadata", ())):
            for name in ("min_length", "max_length"):
                if getattr(inner, name, None) is not None:
                    lengths[name] = getattr(inner, name)
    least, most = lengths.get("min_length"), lengths.get("max_length")
    return least if least == most else None


def layer_ranges(text: str) -> list[int]:
    """Numbers such as 0-5,10."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.strip().isdecimal() or not (last or first).strip().isdecimal() or len(part) > 9:
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of layers such as 0-5,10")
        numbers.update(range(int(first), int(last or first) + 1))
    if not numbers:
        raise argparse.ArgumentTypeError(f"{text!r} names no layer")
    return sorted(numbers)
