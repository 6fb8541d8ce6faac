"""What a method is: one question about every head, as settings, a plan of steps, and a result.

A method is one package under `analysis/methods/` and one entry in the list of `analysis.methods`. The engine, the
command line, the API, the form and the catalogue go over that list and name none of them.
"""

import argparse
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import xarray as xr

from analysis.data.files import OwnFile
from analysis.errors import HeadAtlasError
from analysis.models.card import HeadId, ModelCard
from analysis.models.open_model import OpenModel
from analysis.options import Command, written_options
from analysis.progress import Progress, ShownProgress
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.labels import LabelRule
from analysis.results.merging import merge
from analysis.results.provenance import COMPUTED_AS, JsonObject, PlainValues, Provenance
from analysis.results.scores import OLDER, Missing, Scores
from analysis.results.store import Store
from analysis.results.tables import csv_bytes
from analysis.settings import Settings


class Step(Protocol):
    """A piece of work: small, so that little is lost when a worker dies. It travels to the worker as it is."""

    @property
    def key(self) -> str:
        """Equal keys are the same work."""

    @property
    def words(self) -> str:
        """What is being done, for people; may be empty."""

    def run(self, model: OpenModel, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Compute; gives what is to be kept, each piece under its name, as soon as it is there."""


class Plan(Protocol):
    """A method for a model with settings, cut into steps.

    Names in the store are `result/<fingerprint>/<method>/<hash>` and `unit/<fingerprint>/<method>/<hash>`: the
    catalogue and pruning go by them. The hash is over all that the content depends on, the version included (`digest`).
    """

    @property
    def card(self) -> ModelCard:
        """The model."""

    @property
    def key(self) -> str:
        """The name of the finished result in the store."""

    @property
    def is_whole(self) -> bool:
        """Whether its result is kept as one; else only what the steps gave is."""

    @property
    def total(self) -> int:
        """How many steps there are in all."""

    def left(self, store: Store) -> int:
        """How many are still to be done."""

    def ready(self, store: Store, at_once: int = 1) -> Sequence[Step]:
        """Those that can be done now; none when all are done. Steps of one kind may be joined, `at_once` in one."""

    def keep(self, step: Any, name: str, content: bytes, store: Store) -> None:
        """Store one piece of what a step gave."""

    def assembled(self, store: Store, device: str) -> Scores | None:
        """What is there so far."""

    def remarks(self, store: Store) -> tuple[str, ...]:
        """What the person who asked should know, such as a relation that is of no use for this model."""


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Adds none."""


@dataclass(frozen=True)
class Tool:
    """A command that computes no map, such as a list of what can be asked for."""

    name: str
    help: str
    run: Callable[[argparse.Namespace, ShownProgress], str]  # gives what is printed
    add_options: Callable[[argparse.ArgumentParser], None] = _no_options
    of_model: bool = False  # it has the options of a model and a device


@dataclass(frozen=True)
class RequestSummary:
    """What of a method a request is about, as far as an address needs it."""

    items: tuple[str, ...] = ()  # names of relations or tasks
    choice: str = ""  # the short name of its result
    variant: str = ""  # a declared variant of the method, if it is not the plain one
    words: str = ""  # all of it for people; empty when it is the default
    own: str = ""  # the id of the custom relation set


class Method(ABC):
    """One question about every head. The defaults suit a method whose results need no merging of their own."""

    name: ClassVar[str]
    title: ClassVar[str]
    sentence: ClassVar[str]  # for people who choose what to compute
    version: ClassVar[str]  # raise whenever a score may come out differently
    settings: ClassVar[type[Settings]] = Settings
    by_default: ClassVar[bool] = False  # part of an analysis when nobody chose methods
    gallery_size: ClassVar[float] = 0  # bytes of the largest file for which `make gallery` computes it in any case
    commands: ClassVar[tuple[Command, ...]] = ()
    outputs: ClassVar[tuple[str, ...]] = (".parquet", ".csv")  # endings of files that --out takes
    not_of_head: ClassVar[tuple[str, ...]] = ()  # settings that nobody needs who asks for one head; see `for_head`

    @abstractmethod
    def plan(self, card: ModelCard, settings: Any) -> Plan:
        """What is to be done for a model; refuses invalid settings."""

    def command_line(self, model: str) -> str:
        """What computes it for a model with its defaults."""
        names = [command.name for command in self.commands]
        return f"python -m analysis {names[0] if names else self.name} {model}"

    def head_fields(self) -> tuple[str, ...]:
        """The settings that the command about one head offers as options."""
        fields = self.commands[0].fields if self.commands else ()
        return tuple(name for name in fields if name not in self.not_of_head)

    def commands_for(self, provenance: Provenance) -> list[list[str]]:
        """What computes a result again, as arguments of the command line; several where one command cannot."""
        if not self.commands:
            return []
        command, settings = self.commands[0], self.settings_of(provenance)
        card = provenance.model
        return [[command.name, *model_words(card), *written_options(self.settings, command.fields, settings)]]

    def settings_of(self, provenance: Provenance) -> JsonObject:
        """The settings under which a result is computed again; one's own files stand in them by their names."""
        fields = self.settings.model_fields
        return {name: value for name, value in provenance.settings.items() if name in fields}

    def files_of(self, provenance: Provenance) -> list[str]:
        """The names of the files of one's own that this takes."""
        return []

    def tools(self) -> Sequence[Tool]:
        """Further commands; methods of one family may offer the same."""
        return ()

    # ---- Requests --------------------------------------------------------------------------------------------------

    def asked(self, settings: Any, card: ModelCard | None = None) -> RequestSummary:
        """What a request is about; of a model that is open, as exactly as an address needs it."""
        return RequestSummary()

    def takes(self, field: str, file: OwnFile) -> bool:
        """Whether a file of one's own that stands in a field of the request is of use for it."""
        return False

    def check_files(self, settings: Any, folder: Path | None) -> dict[str, HeadAtlasError]:
        """By the name of an uploaded file, why it is of no use and what helps; as far as is known without the model.

        `folder` is the model's checkpoint, where that is at hand.
        """
        return {}

    def identity(self, settings: Any) -> Any:
        """All that the result depends on, as JSON can hold it: equal requests are one job."""
        fields = {name: getattr(settings, name) for name in self.settings.model_fields}
        return self.settings(**fields).model_dump(mode="json")

    def legacy_settings(self, values: PlainValues) -> JsonObject:
        """The settings in a request that the first version of Head Atlas wrote."""
        return {}

    def for_head(self, settings: Any, head: HeadId) -> Any:
        """The settings under which enough is computed to tell of one head."""
        return settings

    # ---- Results ---------------------------------------------------------------------------------------------------

    def read(self, content: bytes) -> Scores:
        """A result from the bytes of a file, of this version or an older one."""
        return self.upgraded(Scores.from_parquet(content))

    def pieces(self, card: ModelCard, store: Store) -> tuple[str, ...]:
        """The names of what the store has of a model that can be shown although no result was finished."""
        return ()

    def recovered(self, card: ModelCard, store: Store) -> Scores | None:
        """The result that those pieces make."""
        return None

    def upgraded(self, scores: Scores) -> Scores:
        """A result that an older version wrote, as this version writes it."""
        records = {name: value for name, value in scores.records.items() if name != OLDER}
        return replace(scores, records=records)

    def rank(self, scores: Scores) -> Any:
        """Which of several results to prefer, the largest rank first: more scores, then the newer one."""
        present = int((scores.missing == Missing.PRESENT).sum())
        return present > 0, present, scores.provenance.date

    def mergeable(self, provenance: Provenance) -> Any:
        """What must be equal for two results to stand in one map."""
        settings = {name: value for name, value in provenance.settings.items() if name != COMPUTED_AS}
        return provenance.version, json.dumps(settings, sort_keys=True)

    def merged(self, results: Sequence[Scores], first: Scores | None = None) -> Scores:
        """One map from all results of a model: the best, and the items that only others have."""
        ordered = sorted(results, key=self.rank, reverse=True)
        best = first or ordered[0]
        alike = [other for other in ordered if self.mergeable(other.provenance) == self.mergeable(best.provenance)]
        return merge(best, alike)

    def choice(self, provenance: Provenance) -> str:
        """A short name of a result that a person can choose; empty when there is nothing to choose."""
        return ""

    def words(self, provenance: Provenance) -> str:
        """What a result covers, in a few words."""
        count = len(provenance.items)
        return f"{count} {'item' if count == 1 else 'items'}"

    # ---- The terminal ----------------------------------------------------------------------------------------------

    def report(self, scores: Scores) -> JsonObject:
        """A summary as plain data."""
        return {
            "model": scores.provenance.model.to_dict(),
            "settings": dict(scores.provenance.settings),
            "items": [item.to_plain() for item in scores.provenance.items],
        }

    def report_text(self, scores: Scores) -> str:
        """The same for a terminal."""
        card = scores.provenance.model
        titles = ", ".join(item.title for item in scores.provenance.items)
        return f"{self.title} of {card.id}, {len(card.layers)} layers × {card.heads} heads: {titles}"

    samples_alike: ClassVar[bool] = False  # a report takes its samples together, as `over` says

    def over(self, scores: Scores, how: str) -> Scores:
        """The result with one score in place of several samples' (`OVER_SAMPLES`, or one of them), for a report."""
        return scores

    def head(self, scores: Scores, head: HeadId) -> JsonObject:
        """What the result says of one head as plain data: fields of the answer about a head."""
        values = scores.score.sel(layer=head.layer, head=head.head).mean("sample")
        listed = {}
        for item in scores.provenance.items:
            of_item = values.sel(item=item.name)
            listed[item.name] = {str(kind): float(of_item.sel(kind=kind)) for kind in of_item.kind.values}
        return {self.name: listed}

    def no_head(self, card: ModelCard, head: HeadId) -> JsonObject:
        """The same fields when the model has no result."""
        return {self.name: {}}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """The same for a terminal, line by line."""
        lines = [self.title]
        for item, kinds in self.head(scores, head)[self.name].items():
            numbers = ", ".join(f"{kind} {value:.2f}" for kind, value in kinds.items())
            lines.append(f"  {scores.item(item).title}: {numbers}")
        return lines

    # ---- Beside other methods --------------------------------------------------------------------------------------

    answers_what: ClassVar[bool] = False  # its labels say what a head does
    of_weights: ClassVar[bool] = False  # it says no more than the weights alone do, which may not be true of the model
    tells_heads_apart: ClassVar[bool] = True  # two heads, of two models too, are alike when its scores are
    answers_whether: ClassVar[bool] = False  # its labels say whether a head matters
    judges: ClassVar[bool] = False  # where its map disagrees with a quicker one's, that one does not hold

    category: ClassVar[str] = ""  # as which its strengths, 0 below its thresholds, can stand beside relations
    category_rule: ClassVar[tuple[str, str]] = ("", "")  # when a head belongs to it: how much of what, does what
    label: ClassVar[LabelRule | None] = None  # when a strength makes a label; None of a method that gives none

    def strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray | None:  # [item, layer, head]
        """What decides about a head's label of each item, over the samples as `how` says (`OVER_SAMPLES`)."""
        return None

    replacements: ClassVar[
        tuple[str, ...]
    ] = ()  # by what a head is replaced where its cause is decided; the usual first

    def strengths_replaced(self, scores: Scores, how: str, replaced: str) -> xr.DataArray | None:  # [item, layer, head]
        """The same as `strengths`, with one of the replacements where the method has several."""
        return self.strengths(scores, how)

    def specific_strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray | None:  # [item, layer, head]
        """The same of labels beyond copying alone, 0 where there is none; None where that cannot be told."""
        return None

    def unit(self, item: str, kind: str) -> str:
        """What a kind of score or a part is measured in: numbers of one unit have one scale and may be subtracted."""
        return kind

    # A method of a family is judged by others of it: `listed` are all methods, in the order of the list.

    def holding(self, results: Mapping[str, Scores], listed: Sequence["Method"]) -> "Method":
        """The method whose map is shown when nobody chose one: this, or another one that answers the same question.

        `results` are those that there are, by method; there is one of this method.
        """
        return self

    def weighed(self, finding: Finding, results: Mapping[str, Scores], listed: Sequence["Method"]) -> Finding:
        """One of its findings, with a remark where another method contradicts it."""
        return finding

    def judgement(
        self, model: str, results: Mapping[str, Scores], listed: Sequence["Method"]
    ) -> tuple[JsonObject, str]:
        """Whether the result holds by the model's others, by method: fields of the summary, a line for a terminal."""
        return {}, ""

    # ---- In plain words --------------------------------------------------------------------------------------------

    def findings(self, scores: Scores, head: HeadId) -> list[Finding]:
        """What the result supports about one head, the strongest first; nothing that it does not support."""
        return []

    def answers(self, scores: Scores, question: SearchQuestion) -> list[Finding]:
        """The heads that a question is about, the strongest first."""
        return []

    # ---- Files -----------------------------------------------------------------------------------------------------

    def exported(self, scores: Scores, ending: str) -> bytes:
        """A file of the result, by its ending."""
        return csv_bytes(scores.to_frame()) if ending == ".csv" else scores.to_parquet()


def model_words(card: ModelCard) -> list[str]:
    """A model on the command line, with the commit that it was fetched at."""
    is_commit = len(card.revision) == 40
    return [card.id, "--revision", card.revision] if is_commit else [card.id]


def digest(content: Any) -> str:
    """The hash under which something is kept that depends on this content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
