"""A method that no file of the product knows: is the sum of a head's layer and number even?

Importing this module changes nothing; `register` of `analysis.methods` makes the method part of Head Atlas.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr
from pydantic import Field

from analysis.method import Method, RequestSummary, Tool, digest
from analysis.models.card import ModelCard
from analysis.options import Command
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import DIMS, Missing, Scores
from analysis.settings import Settings

NAME = "parity"
VERSION = "1"  # part of every name in the store: raised whenever a score may come out differently


class ParitySettings(Settings):
    """What somebody may choose about parity."""

    shift: int = Field(0, ge=0, le=9, title="Shift", description="added before the parity is taken")


@dataclass(frozen=True)
class ParityStep:
    """The parities of one layer's heads."""

    key: str
    layer: int
    shift: int

    @property
    def words(self) -> str:
        """Which layer."""
        return f"layer {self.layer}"

    def run(self, model, progress) -> Iterator[tuple[str, bytes]]:
        """Computed where the model is, like every step."""
        model.device_name = "a toy"
        heads = model.checkpoint.card.heads
        yield self.key, json.dumps([(self.layer + head + self.shift) % 2 == 0 for head in range(heads)]).encode()


@dataclass(frozen=True)
class ParityPlan:
    """All layers of a model."""

    card: ModelCard
    shift: int

    @property
    def key(self) -> str:
        """Of the result."""
        return f"result/{self.card.fingerprint}/{NAME}/{digest([VERSION, self.shift])}"

    def layer_name(self, layer: int) -> str:
        """Of one layer's parities."""
        return f"unit/{self.card.fingerprint}/{NAME}/{digest([VERSION, self.shift, layer])}"

    @property
    def is_whole(self) -> bool:
        """Always."""
        return True

    @property
    def total(self) -> int:
        """Layers."""
        return len(self.card.layers)

    def left(self, store) -> int:
        """Layers that are to be done."""
        return len(self.ready(store))

    def ready(self, store, at_once=1):
        """A step for each of them."""
        names = {layer: self.layer_name(layer) for layer in self.card.layers}
        return [ParityStep(name, layer, self.shift) for layer, name in names.items() if not store.contains(name)]

    def keep(self, step, name, content, store) -> None:
        """As it is."""
        store.put(name, content)

    def assembled(self, store, device) -> Scores:
        """Layers that are not there are not computed."""
        shape = (1, 1, 1, len(self.card.layers), self.card.heads)
        score, missing = np.full(shape, np.nan), np.full(shape, Missing.NOT_COMPUTED, np.int8)
        for at, layer in enumerate(self.card.layers):
            content = store.get(self.layer_name(layer))
            if content is not None:
                score[0, 0, 0, at] = json.loads(content)
                missing[0, 0, 0, at] = Missing.PRESENT
        labels = ([NAME], ["even"], ["all"], list(self.card.layers), list(range(self.card.heads)))
        coords = dict(zip(DIMS, labels, strict=True))
        arrays = [xr.DataArray(values, coords, DIMS) for values in (score, np.full(shape, np.nan), missing)]
        item = ScoredItem(NAME, "Parity of layer + head", "toy", "Even sums are 1.")
        return Scores(*arrays, Provenance.now(self.card, NAME, "1", {"shift": self.shift}, (item,), device))

    def remarks(self, store) -> tuple[str, ...]:
        """Says something to whoever asked."""
        return ("parity is a toy",)


def parities(options, progress) -> str:
    """Both of them."""
    return "even, odd"


class ParityMethod(Method):
    """Whether layer + head is even."""

    name = NAME
    title = "Parity map"
    sentence = "Whether the sum of layer and head is even: no time at all."
    version = VERSION
    settings = ParitySettings
    commands = (Command("parity", "the parity of every head", ("shift",)),)

    def plan(self, card, settings) -> ParityPlan:
        """For a model."""
        return ParityPlan(card, settings.shift)

    def tools(self) -> tuple[Tool, ...]:
        """A list, as other methods list their items."""
        return (Tool("parities", "list the parities", parities),)

    def asked(self, settings, card=None) -> RequestSummary:
        """The shift, where there is one."""
        return RequestSummary((NAME,), words=f"shifted by {settings.shift}" if settings.shift else "")
