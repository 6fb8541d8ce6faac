"""The state of a view, and its query string: reading and writing side by side.

The query string names only what differs from the default, in words a person can read:

    ?model=smollm2-135m-instruct@935ba989&how=always&tau=0.3&pin=L23H4.L24H5

What every view has stands here; what a map adds is a `Part` of its own (`dashboard.maps`).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from analysis.errors import HeadError
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from dashboard.query import MAX_QUERY, bad_value, pairs_of, query_of, shown, written
from dashboard.setting import (
    FLAG,
    HEADS,
    MAX_PINS,
    NAME,
    TEXT,
    ZOOM,
    Part,
    Setting,
    SettingValues,
    Zoom,
    setting,
    settings_of,
)

if TYPE_CHECKING:
    from dashboard.maps.map import Map

__all__ = ["MAX_PINS", "MODELS", "TABLE", "ReadState", "ViewState"]

Palette = Literal["okabe-ito", "paper"]
AnyPart = TypeVar("AnyPart", bound=Part)

TABLE, MODELS = "table", "models"  # the views that are no map
LOOKED_AFTER = ("zoom", "sort", "filter", "pin")  # keys that the browser alone writes
_OLDER = {"theme"}  # keys of older links, which have no effect any more
_FINGERPRINT = re.compile(r"[0-9a-f]{0,64}")


def _maps() -> "list[Map[Any]]":
    from dashboard.maps import MAPS  # here, because every map has a part of the state

    return MAPS


def view_names() -> list[str]:
    """The views that an address may name."""
    return [*(each.name for each in _maps() if each.own_view), TABLE, MODELS]


@dataclass(frozen=True)
class ViewState:
    """Everything that decides what a page shows; equal states show equal pages."""

    model: str = default_model.ID
    fingerprint: str = ""  # its first characters, so that a link keeps its meaning
    view: str = field(default_factory=lambda: view_names()[0])
    transpose: bool = setting(False, FLAG, local=True)
    palette: Palette = setting("okabe-ito", Palette, local=True)
    zoom: Zoom | None = setting(None, ZOOM, of_model=True)  # of all maps of the page
    sort: str = setting("", TEXT)  # of the table, as the scripts write it (assets/atlas/table.mjs)
    filter: str = setting("", TEXT)  # of the table
    pins: tuple[HeadId, ...] = setting((), HEADS, key="pin")
    embed: bool = setting(False, FLAG)
    parts: tuple[Part, ...] = ()  # the maps' own; one that is left out is as its defaults are

    def __post_init__(self) -> None:
        """Equal states are equal, whether or not a default part was given."""
        chosen = [part for part in self.parts if part != type(part)()]
        chosen.sort(key=lambda part: type(part).__qualname__)
        object.__setattr__(self, "parts", tuple(chosen))

    def of(self, kind: type[AnyPart]) -> AnyPart:
        """A map's own part."""
        for part in self.parts:
            if type(part) is kind:
                return part
        return kind()

    def with_part(self, part: Part) -> "ViewState":
        """The same with another part of one map."""
        others = tuple(other for other in self.parts if type(other) is not type(part))
        return replace(self, parts=(*others, part))

    def changed(self, **values: Any) -> "ViewState":
        """The same with other values, each by the name of its field, wherever that is."""
        common = {each.name for each in fields(self)}
        state = replace(self, **{name: value for name, value in values.items() if name in common})
        for name, value in values.items():
            if name not in common:
                part = state.of(_part_with(name))
                state = state.with_part(replace(part, **{name: value}))
        return state

    def of_another_model(self, model: str) -> "ViewState":
        """The state for another model: without pins and all else that means something for this one only."""
        state = replace(self.shared, model=model, fingerprint="", sort=self.sort, filter=self.filter)
        for part in self.parts:
            chosen = {each.name: each.default for each in settings_of(type(part)).values() if each.of_model}
            state = state.with_part(replace(part, **chosen))
        return state

    @property
    def shared(self) -> "ViewState":
        """Without what the browser alone looks after: pins, zoom, sort and filter of the table."""
        return replace(self, pins=(), zoom=None, sort="", filter="")

    def without_local(self) -> "ViewState":
        """The same with the defaults of all that the page follows or looks after by itself, and without the frame."""
        state = replace(self.shared, embed=False)
        for each in all_settings().values():
            if each.local:
                state = state.changed(**{each.name: each.default})
        return state

    def values(self) -> SettingValues:
        """The values of all settings by their keys, in the order of an address, but those the browser looks after."""
        values: SettingValues = {}
        for part in (*(self.of(each.part) for each in _maps()), self):
            values |= {key: getattr(part, each.name) for key, each in settings_of(type(part)).items()}
        for key in LOOKED_AFTER:
            del values[key]
        return values

    def to_query(self) -> str:
        """The query string, empty for the default view."""
        return query_of(self._texts())

    def _texts(self) -> dict[str, str]:
        """What differs from the default, by its key: model and view, the maps' own, the rest."""
        texts = {}
        if self.fingerprint:
            texts["model"] = f"{self.model}@{self.fingerprint}"
        elif self.model != default_model.ID:
            texts["model"] = self.model
        if self.view != view_names()[0]:
            texts["view"] = self.view
        for each in _maps():
            texts |= written(self.of(each.part))
        return texts | written(self)

    @classmethod
    def from_query(cls, query: str, ignored: Collection[str] = ()) -> "ReadState":
        """Read a query string; what cannot be understood becomes a notice and keeps its default. Never raises.

        The `ignored` keys are somebody else's.
        """
        notices = []
        query = query.removeprefix("?")  # with and without it are the same address
        too_long = len(query) > MAX_QUERY
        if too_long:
            notices.append("The address is too long; its end was not read.")
        pairs = pairs_of(query[:MAX_QUERY])
        if pairs is None:
            notices.append("The address has too many parts; none was read.")
        mine = [(key, text) for key, text in pairs or () if key not in ignored]
        read = _read(mine)
        state = replace(read.state, embed=False) if too_long else read.state  # its end may have said otherwise
        return ReadState(state, tuple(dict.fromkeys([*notices, *read.notices])))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "ReadState":
        """Read the values of controls by their keys, as an address is read; empty ones stand for the default."""
        settings = all_settings()
        pairs = []
        for key, value in values.items():
            if value not in (None, ""):
                pairs.append((key, settings[key].text(value) if key in settings else str(value)))
        return _read(pairs)

    def pinned(self, names: Any) -> "ReadState":
        """The same with other pins; names that cannot be read become a notice and no pins."""
        read = type(self).from_values({"pin": names if isinstance(names, list) else None})
        return ReadState(replace(self, pins=read.state.pins), read.notices)


@dataclass(frozen=True)
class ReadState:
    """A state read from an address, with what could not be read."""

    state: ViewState
    notices: tuple[str, ...] = ()


def _part_with(name: str) -> type[Part]:
    for each in _maps():
        if any(own.name == name for own in settings_of(each.part).values()):
            part: type[Part] = each.part
            return part
    raise TypeError(f"no state has a field {name!r}")


def all_settings() -> dict[str, Setting]:
    """Every setting by its key, in the order of an address."""
    settings: dict[str, Setting] = {}
    for each in _maps():
        settings |= settings_of(each.part)
    return settings | dict(settings_of(ViewState))


def _read(pairs: Iterable[tuple[str, str]]) -> ReadState:
    settings = all_settings()
    values: SettingValues = {}
    notices: list[str] = []
    for key, text in pairs:
        if key in _OLDER:
            continue
        if key not in settings and key not in {"model", "view"}:
            notices.append(f"The address has an unknown part {shown(key)!r}.")
            continue
        try:
            values |= _value(key, text, settings)
        except (ValueError, HeadError):
            notices.append(bad_value(key, text))
    pins = values.get("pins", ())
    if len(pins) > MAX_PINS:
        values["pins"] = pins[:MAX_PINS]
        notices.append(f"At most {MAX_PINS} heads can be pinned; the first {MAX_PINS} of {len(pins)} were kept.")
    return ReadState(ViewState().changed(**values), tuple(dict.fromkeys(notices)))


def _value(key: str, text: str, settings: Mapping[str, Setting]) -> SettingValues:
    """One part of an address as a value of its field."""
    if len(text) > MAX_QUERY:
        raise ValueError(key)
    if key == "model":
        return _model(text)
    if key == "view":
        if text not in view_names():
            raise ValueError(text)
        return {"view": text}
    return {settings[key].name: settings[key].codec.read(text)}


def _model(text: str) -> SettingValues:
    model, at, fingerprint = text.rpartition("@")
    if not at or not _FINGERPRINT.fullmatch(fingerprint):  # a name may have an @ itself
        model, fingerprint = text, ""
    if not model:
        raise ValueError(text)
    return {"model": NAME.read(model), "fingerprint": fingerprint}
