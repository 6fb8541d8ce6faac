"""One field of the state of a view: its default, its key in the address, how its value is read and written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar, get_args

from analysis.models.card import HeadId

Value = TypeVar("Value")
SettingValues = dict[str, Any]  # of settings or their controls, by name or key
Zoom = tuple[tuple[int, int], tuple[int, int]]  # the first and the last layer, the first and the last head

MAX_PINS = 8  # heads compared side by side
_READ_PINS = 100  # heads that an address may name; those beyond the first few are left out, which is said
MAX_NAMES = 8  # names in a list, tasks for example
_LONGEST_TEXT = 1000  # characters of what the browser alone understands
_ZOOM = re.compile(r"L([0-9]{1,5})-([0-9]{1,5})\.H([0-9]{1,5})-([0-9]{1,5})")
_LONGEST = 120  # characters of a name; names are looked up and shown as text, nothing else


@dataclass(frozen=True)
class Codec(Generic[Value]):
    """How a value stands in an address. Reading raises ValueError (or HeadError) for what it cannot understand."""

    read: Callable[[str], Value]
    write: Callable[[Value], str]
    between: str = ","  # what separates the parts of a list


@dataclass(frozen=True)
class Setting:
    """A field with all that is known of it."""

    name: str
    key: str  # in the address, and the id of its control
    codec: Codec[Any]
    default: Any
    of_model: bool  # its value means something for one model only
    resets: bool  # another model begins with the default, which is the model's own
    local: bool  # the page follows it by itself

    def text(self, value: Any) -> str:
        """A control's value as it would stand in an address; a browser may send anything."""
        if isinstance(value, bool):
            return FLAG.write(value)
        if isinstance(value, (list, tuple)):
            return self.codec.between.join(str(part) for part in value)
        return str(value)


@dataclass(frozen=True)
class Part:
    """What one map adds to the state of a view: a frozen dataclass whose fields are made by `setting`."""


def setting(
    default: Any, values: Any, key: str = "", of_model: bool = False, resets: bool = False, local: bool = False
) -> Any:
    """A field of a state whose values are read by a codec, or are the words of a `Literal`.

    The key in the address is the field's name unless another is given.
    """
    codec = values if isinstance(values, Codec) else one_of(get_args(values))
    metadata = {"codec": codec, "key": key, "of_model": of_model or resets, "resets": resets}
    return field(default=default, metadata={**metadata, "local": local})


def settings_of(state: type) -> Mapping[str, Setting]:
    """The settings of a dataclass by their keys; fields that were not made by `setting` are passed over."""
    settings = {}
    for each in fields(state):
        if "codec" in each.metadata:
            metadata = each.metadata
            key = metadata["key"] or each.name
            kept = {name: metadata[name] for name in ("codec", "of_model", "resets", "local")}
            settings[key] = Setting(name=each.name, key=key, default=each.default, **kept)
    return settings


def _flag(text: str) -> bool:
    if text not in {"0", "1"}:
        raise ValueError(text)
    return text == "1"


def _name(text: str) -> str:
    if len(text) > _LONGEST or not text.isprintable():
        raise ValueError(text)
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(_name(part) for part in text.split(",") if part))
    if len(names) > MAX_NAMES:
        raise ValueError(text)
    return names


def _share(text: str) -> float:
    value = round(float(text), 4)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return value


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise ValueError(text)
    return int(text)


def _heads(text: str) -> tuple[HeadId, ...]:
    heads = tuple(dict.fromkeys(HeadId.parse(part) for part in text.split(".") if part))
    if len(heads) > _READ_PINS:
        raise ValueError(text)
    return heads


def _zoom(text: str) -> Zoom | None:
    if not text:
        return None
    match = _ZOOM.fullmatch(text)
    if not match:
        raise ValueError(text)
    first, last, top, bottom = map(int, match.groups())
    if first > last or top > bottom:
        raise ValueError(text)
    return (first, last), (top, bottom)


def _zoom_text(zoom: Zoom | None) -> str:
    if zoom is None:
        return ""
    (first, last), (top, bottom) = zoom
    return f"L{first}-{last}.H{top}-{bottom}"


def _text(text: str) -> str:
    if len(text) > _LONGEST_TEXT or not text.isprintable():
        raise ValueError(text)
    return text


FLAG: Codec[bool] = Codec(_flag, lambda value: "1" if value else "0")
NAME: Codec[str] = Codec(_name, str)
NAMES: Codec[tuple[str, ...]] = Codec(_names, ",".join)
SHARE: Codec[float] = Codec(_share, lambda value: f"{value:.4f}".rstrip("0").rstrip("."))
COUNT: Codec[int] = Codec(_count, str)
TEXT: Codec[str] = Codec(_text, str)
ZOOM: Codec[Zoom | None] = Codec(_zoom, _zoom_text)
HEADS: Codec[tuple[HeadId, ...]] = Codec(_heads, lambda heads: ".".join(str(head) for head in heads), between=".")


def one_of(words: Sequence[str]) -> Codec[str]:
    """One of some words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return Codec(read, str)
