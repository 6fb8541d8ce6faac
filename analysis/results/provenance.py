"""Where a result comes from: everything one needs to compute it again or to doubt it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

from analysis import __version__
from analysis.models.card import ModelCard

_LIBRARIES = ("torch", "transformers", "safetensors", "tokenizers", "numpy")

PlainValues = Mapping[str, Any]  # values that JSON can hold, by name
JsonObject = dict[str, Any]  # the same while it is being put together: what scripts get


@dataclass(frozen=True)
class ScoredItem:
    """One thing that heads are scored for: a relation, a task."""

    name: str
    title: str
    category: str
    sentence: str = ""
    hash: str = ""  # of its pairs or prompts
    pairs: int = 0  # in all
    kept: int = 0  # usable with this model
    applicable: bool = True
    several: int = 0  # of the usable pairs, those whose source has several tokens
    reason: str = ""  # why it is not applicable
    k: int | None = None  # of a relation: how many of the largest entries count
    settings: PlainValues | None = None  # its own, where one map is made of several results
    computed: str = ""  # when its own result was
    besides: tuple[str, ...] = ()  # in words: other results of it that are not shown

    @classmethod
    def from_plain(cls, values: PlainValues) -> Self:
        """The inverse of `to_plain`; what this version does not know is passed over."""
        names = [field.name for field in fields(cls)]
        given = {name: values[name] for name in names if name in values}
        return cls(**{**given, "besides": tuple(given.get("besides", ()))})

    def to_plain(self) -> JsonObject:
        """Plain values for JSON, without what is not said."""
        optional = ("k", "settings", "computed", "besides", "several", "reason")
        return {name: value for name, value in asdict(self).items() if name not in optional or value}


COMPUTED_AS = "computed_as"  # of the settings: the other name under which the same weights were computed


@dataclass(frozen=True)
class Provenance:
    """Travels with every result, figure and export."""

    model: ModelCard
    method: str
    version: str  # of the method
    settings: PlainValues
    items: tuple[ScoredItem, ...]
    device: str
    libraries: Mapping[str, str]
    date: str  # UTC, to the second
    atlas: str  # version of this project

    @classmethod
    def now(
        cls,
        model: ModelCard,
        method: str,
        version: str,
        settings: PlainValues,
        items: tuple[ScoredItem, ...],
        device: str,
    ) -> Self:
        """The provenance of a result made now by this installation."""
        return cls(model, method, version, settings, items, device, libraries(), now(), __version__)

    def in_short(self) -> JsonObject:
        """What distinguishes this result from others of the same model: its method, how it was computed, when."""
        content = json.dumps(dict(self.settings), sort_keys=True)
        settings = hashlib.sha256(content.encode()).hexdigest()[:16]
        return {"method": self.method, "version": self.version, "settings": settings, "date": self.date}

    def to_json(self) -> str:
        """One line of JSON."""
        plain = {**asdict(self), "model": self.model.to_dict(), "items": [item.to_plain() for item in self.items]}
        return json.dumps(plain, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The inverse of `to_json`."""
        values = json.loads(text)
        model = ModelCard.from_dict(values["model"])
        items = tuple(ScoredItem.from_plain(item) for item in values["items"])
        return cls(**{**values, "model": model, "items": items})


def now() -> str:
    """The present, as provenance writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def libraries() -> dict[str, str]:
    """Installed versions of the libraries that a number may depend on."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
