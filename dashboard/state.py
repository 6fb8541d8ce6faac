"""The state of a view, and its query string: reading and writing side by side.

The query string names only what differs from the default, in words a person can read:

    ?model=smollm2-135m-instruct@935ba989&how=always&tau=0.3&pin=L23H4.L24H5
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl, quote

from analysis.errors import HeadError
from analysis.methods.causal.plan import ROLE
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.results.scores import KINDS, TAU

View = Literal["function", "causal", "table", "models"]
How = Literal["any", "always"]
Columns = Literal["both", "always", "any"]  # of the causal map
Gates = Literal["both", "facilitation", "interference", "irrelevance", "preview"]
Kind = Literal["both", "promote", "suppress"]
Colour = Literal["categories", "scores"]
Palette = Literal["okabe-ito", "paper"]
Theme = Literal["system", "light", "dark"]

MAX_PINS = 8  # heads compared side by side
MAX_QUERY = 4_000  # characters read; browsers and proxies cut longer addresses anyway
MAX_TASKS = 8  # rows of the causal map
_LONGEST = 120  # characters of a model's, relation's or task's name; they are looked up and shown as text, nothing else
FIRST = "first"  # before a number of seeds
_SEED = re.compile(rf"((?:{FIRST})?[0-9]{{1,6}})?")
_FIT = re.compile(r"[0-9a-f]{0,16}")
_FINGERPRINT = re.compile(r"[0-9a-f]{0,64}")


@dataclass(frozen=True)
class ViewState:
    """Everything that decides what a page shows; equal states show equal pages."""

    model: str = default_model.ID
    fingerprint: str = ""  # its first characters, so that a link keeps its meaning
    view: View = "function"
    how: How = "any"
    kind: Kind = "both"
    colour: Colour = "categories"
    relation: str = ""  # one relation instead of the categories
    tau: float = TAU
    top: int = 0  # only the best heads of each panel; 0 shows all
    tasks: tuple[str, ...] = ()  # rows of the causal map; none stands for the first two
    columns: Columns = "both"
    gates: Gates = "both"  # the two roles as colour channels, one score, or the gradient preview
    seed: str = ""  # one seed instead of Always and Any over all; or "first3" for Always and Any over so many
    fit: str = ""  # the name of a fit that is not the usual one
    role: float = ROLE  # a head has a role when its score reaches this
    transpose: bool = False
    palette: Palette = "okabe-ito"
    theme: Theme = "system"
    pins: tuple[HeadId, ...] = ()
    embed: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of score that count."""
        return KINDS if self.kind == "both" else (self.kind,)

    @property
    def one_seed(self) -> str:
        """The number of the seed that is shown alone, or nothing."""
        return "" if self.first_seeds else self.seed

    @property
    def first_seeds(self) -> int:
        """Only so many seeds count; 0 for all."""
        return int(self.seed.removeprefix(FIRST)) if self.seed.startswith(FIRST) else 0

    @property
    def heads_across(self) -> bool:
        """Heads go across and layers up or down: the causal map as published, the function map when transposed."""
        return self.transpose != (self.view == "causal")

    @property
    def upward(self) -> bool:
        """Layer 0 is at the bottom."""
        return self.view == "causal" and not self.transpose

    def to_query(self) -> str:
        """The query string, empty for the default view."""
        default = type(self)()
        parts = {key: write(getattr(self, name)) for key, name, write, _ in _KEYS if name != "fingerprint"}
        plain = {key: write(getattr(default, name)) for key, name, write, _ in _KEYS if name != "fingerprint"}
        chosen = {key: text for key, text in parts.items() if text != plain[key]}
        if self.fingerprint:
            chosen = {"model": f"{self.model}@{self.fingerprint}"} | {k: t for k, t in chosen.items() if k != "model"}
        return "?" + "&".join(f"{key}={quote(text, safe=_UNQUOTED)}" for key, text in chosen.items()) if chosen else ""

    @classmethod
    def from_query(cls, query: str) -> "ReadState":
        """Read a query string; what cannot be understood becomes a notice and keeps its default. Never raises."""
        values: dict[str, Any] = {}
        notices: list[str] = []
        readers = {key: (name, read) for key, name, _, read in _KEYS}
        if len(query) > MAX_QUERY:
            notices.append("The address is too long; its end was not read.")
        pairs = _pairs(query[:MAX_QUERY])
        if pairs is None:
            notices.append("The address has too many parts; none was read.")
        for key, text in pairs or ():
            if key not in readers:
                notices.append(f"The address has a part {_shown(key)!r} that is not known here.")
                continue
            name, read = readers[key]
            try:
                values |= read(name, text)
            except (ValueError, HeadError):
                notices.append(f"{_shown(text)!r} is no value for {key}; the default is shown.")
        return ReadState(cls(**values), tuple(dict.fromkeys(notices)))


@dataclass(frozen=True)
class ReadState:
    """A state read from an address, with what could not be read."""

    state: ViewState
    notices: tuple[str, ...] = ()


def _pairs(query: str) -> list[tuple[str, str]] | None:
    try:
        return parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return None


def _shown(text: str) -> str:
    """A piece of a foreign address as it may stand in a notice."""
    return "".join(c if c.isprintable() else "?" for c in text[:40])


_UNQUOTED = "@.,/:-"  # characters that may stand in a query string as they are

Reader = Callable[[str, str], Mapping[str, Any]]


def _choice(kind: Any) -> Reader:
    def read(name: str, text: str) -> Mapping[str, Any]:
        if text not in get_args(kind):
            raise ValueError(text)
        return {name: text}

    return read


def _flag(name: str, text: str) -> Mapping[str, Any]:
    if text not in {"0", "1"}:
        raise ValueError(text)
    return {name: text == "1"}


def _model(name: str, text: str) -> Mapping[str, Any]:
    model, at, fingerprint = text.rpartition("@")
    if not at or not _FINGERPRINT.fullmatch(fingerprint):  # a name may have an @ itself
        model, fingerprint = text, ""
    if not model or len(model) > _LONGEST or not model.isprintable():
        raise ValueError(text)
    return {"model": model, "fingerprint": fingerprint}


def _name(name: str, text: str) -> Mapping[str, Any]:
    if len(text) > _LONGEST or not text.isprintable():
        raise ValueError(text)
    return {name: text}


def _share(name: str, text: str) -> Mapping[str, Any]:
    value = round(float(text), 4)
    if not 0 <= value <= 1:
        raise ValueError(text)
    return {name: value}


def _count(name: str, text: str) -> Mapping[str, Any]:
    if not text.isascii() or not text.isdecimal() or len(text) > 6:
        raise ValueError(text)
    return {name: int(text)}


def _heads(name: str, text: str) -> Mapping[str, Any]:
    heads = tuple(dict.fromkeys(HeadId.parse(part) for part in text.split(".") if part))
    if len(heads) > MAX_PINS:
        raise ValueError(text)
    return {name: heads}


def _names(name: str, text: str) -> Mapping[str, Any]:
    names = tuple(dict.fromkeys(part for part in text.split(",") if part))
    if len(names) > MAX_TASKS or any(len(part) > _LONGEST or not part.isprintable() for part in names):
        raise ValueError(text)
    return {name: names}


def _seed(name: str, text: str) -> Mapping[str, Any]:
    if not _SEED.fullmatch(text):
        raise ValueError(text)
    first = FIRST if text.startswith(FIRST) else ""
    number = text.removeprefix(first)
    if first and int(number) < 1:
        raise ValueError(text)
    return {name: number and f"{first}{int(number)}"}


def _fit(name: str, text: str) -> Mapping[str, Any]:
    if not _FIT.fullmatch(text):
        raise ValueError(text)
    return {name: text}


def _plain(value: object) -> str:
    return str(value)


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _bit(value: bool) -> str:
    return "1" if value else "0"


def _joined(heads: tuple[HeadId, ...]) -> str:
    return ".".join(map(str, heads))


def _listed(names: tuple[str, ...]) -> str:
    return ",".join(names)


# key in the address, field, how to write it, how to read it
_KEYS: tuple[tuple[str, str, Callable[[Any], str], Reader], ...] = (
    ("model", "model", _plain, _model),
    ("view", "view", _plain, _choice(View)),
    ("how", "how", _plain, _choice(How)),
    ("kind", "kind", _plain, _choice(Kind)),
    ("colour", "colour", _plain, _choice(Colour)),
    ("relation", "relation", _plain, _name),
    ("tau", "tau", _number, _share),
    ("top", "top", _plain, _count),
    ("tasks", "tasks", _listed, _names),
    ("columns", "columns", _plain, _choice(Columns)),
    ("gates", "gates", _plain, _choice(Gates)),
    ("seed", "seed", _plain, _seed),
    ("fit", "fit", _plain, _fit),
    ("role", "role", _number, _share),
    ("transpose", "transpose", _bit, _flag),
    ("palette", "palette", _plain, _choice(Palette)),
    ("theme", "theme", _plain, _choice(Theme)),
    ("pin", "pins", _joined, _heads),
    ("embed", "embed", _bit, _flag),
)
