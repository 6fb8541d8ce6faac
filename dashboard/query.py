"""Query strings: the one place that writes and takes apart one, for the views, for the pages beside them, for links.

What a page is about is a dataclass whose fields are made by `setting`; its query string names what differs from the
default. The scripts write the same strings by the same rules (assets/atlas/query.mjs).
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote

from analysis.errors import HeadError
from analysis.models.card import ModelCard
from dashboard.setting import Setting, SettingValues, settings_of

ReadPart = TypeVar("ReadPart")

MAX_QUERY = 4_000  # characters read; browsers and proxies cut longer addresses anyway
_UNQUOTED = "@.,/:-"  # characters that may stand in a query string as they are


def named(card: ModelCard) -> str:
    """A model as an address names it."""
    return f"{card.id}@{card.fingerprint[:8]}"


def query_of(texts: Mapping[str, str]) -> str:
    """A query string in the order of its keys; empty without any."""
    if not texts:
        return ""
    return "?" + "&".join(f"{key}={quote(text, safe=_UNQUOTED)}" for key, text in texts.items())


def is_view(address: str) -> bool:
    """Whether an address of this server leads to a view with a query."""
    return address.startswith("/?")


def written(state: Any) -> dict[str, str]:
    """Those settings of a state, or of a part of it, that differ from their default, by their keys."""
    texts = {}
    for key, each in settings_of(type(state)).items():
        text = each.codec.write(getattr(state, each.name))
        if text != each.codec.write(each.default):
            texts[key] = text
    return texts


def pairs_of(query: str) -> list[tuple[str, str]] | None:
    """The keys and texts of a query string; None when it has too many."""
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return None


def read_query(kind: type[ReadPart], query: str) -> tuple[ReadPart, list[str]]:
    """A state from a query string; what cannot be understood becomes a notice and keeps its default. Never raises.

    Keys that are not its own are passed over.
    """
    settings = settings_of(kind)
    values: SettingValues = {}
    notices: list[str] = []
    for key, text in pairs_of(query.removeprefix("?")) or ():
        if key not in settings or text == "":
            continue
        try:
            values[settings[key].name] = settings[key].codec.read(text)
        except (ValueError, HeadError):
            notices.append(bad_value(key, text))
    return kind(**values), notices


def bad_value(key: str, text: str) -> str:
    """What is said of a value that cannot be read."""
    return f"{shown(text)!r} is not a valid value for {key}; the default is shown."


def shown(text: str) -> str:
    """A piece of a foreign address as it may stand in a notice."""
    return "".join(c if c.isprintable() else "?" for c in text[:40])


def settings_data(settings: Iterable[Setting]) -> list[SettingValues]:
    """What the scripts are told of some settings, in the order of an address."""
    return [{"key": each.key, "default": each.default, "local": each.local} for each in settings]
