"""Where a result comes from: everything one needs to compute it again or to doubt it."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

from analysis.models.card import ModelCard

_LIBRARIES = ("torch", "transformers", "safetensors", "tokenizers", "numpy")


@dataclass(frozen=True)
class Provenance:
    """Travels with every result, figure and export."""

    model: ModelCard
    method: str
    version: str  # of the method
    settings: dict[str, Any]  # k, first MLP, the τ it is usually read with …
    items: tuple[dict[str, Any], ...]  # relations or tasks: name, category, title, k, hash, pairs, kept
    device: str
    libraries: dict[str, str]
    date: str  # UTC, to the second
    atlas: str  # version of this project

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps({**asdict(self), "model": self.model.to_dict()}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The inverse of `to_json`."""
        fields = json.loads(text)
        return cls(**{**fields, "model": ModelCard.from_dict(fields["model"]), "items": tuple(fields["items"])})


def now() -> str:
    """The present, as provenance writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def libraries() -> dict[str, str]:
    """Installed versions of the libraries that a number may depend on."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
