"""What a person may choose about the causal map."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field, field_validator

from analysis.data import tasks
from analysis.data.files import OwnFile
from analysis.data.tasks import DEFAULT_TASKS, Contrast, Task
from analysis.errors import TaskError
from analysis.results.provenance import JsonObject
from analysis.settings import hints
from analysis.shared_settings import TaskNames

SEEDS, MAX_SEEDS = 5, 100
CONTRAST_SEEDS, CONTRAST_UPDATES = 1, 500
MAX_UPDATES, MAX_BATCH, MAX_RATE, MAX_PUSH, MAX_CLIP = 10_000, 1024, 10, 10, 1000


@dataclass(frozen=True)
class GateSettings:
    """How gates are fitted. The defaults suit a small model on a CPU; see `published`."""

    free_updates: int = 120
    push_updates: int = 260
    batch: int = 16
    free_rate: tuple[float, float] = (1.0, 0.1)  # at the first and at the last update
    push_rate: tuple[float, float] = (0.5, 0.1)
    push: float = 0.1  # λ
    clip: float = 1.0  # of the gradient's norm

    @classmethod
    def published(cls) -> "GateSettings":
        """The paper's."""
        return cls(free_updates=500, push_updates=500, batch=64, free_rate=(0.1, 0.01))

    @property
    def total(self) -> int:
        """Updates of one fit; the two pushes run side by side."""
        return self.free_updates + self.push_updates

    @property
    def rates(self) -> tuple[float, ...]:
        """First and last of the free stage, first and last of the pushed one."""
        return (*self.free_rate, *self.push_rate)


_DEFAULT = GateSettings()
_PUBLISHED = GateSettings.published()
Updates = Annotated[int, Field(ge=1, le=MAX_UPDATES)]
Rate = Annotated[float, Field(gt=0, le=MAX_RATE)]


def spaced(numbers: tuple[float, ...]) -> str:
    """Numbers as they are typed."""
    return " ".join(f"{number:g}" for number in numbers)


def _optional(title: str, words: str, default: str, note: str = "") -> Any:
    """A field that may be left out: the help names its default, and the form's empty field shows it."""
    description = f"{words} (default {default}{note})"
    return Field(None, title=title, description=description, json_schema_extra=hints(placeholder=default))


class CausalSettings(TaskNames):
    """Tasks or pairs to contrast, and how gates are fitted to them."""

    contrast: OwnFile | None = Field(
        None,
        title="Pairs to contrast (JSONL)",
        description='pairs to contrast instead of tasks: lines of {"forget": {…}, "retain": {…}}',
        json_schema_extra=hints(metavar="PAIRS.jsonl"),
    )
    seeds: Annotated[int, Field(ge=0, le=MAX_SEEDS)] | None = _optional(
        "Seeds", "random initialisations; 0: only the preview", str(SEEDS), f", {CONTRAST_SEEDS} for a contrast"
    )
    updates: Annotated[list[Updates], Field(min_length=2, max_length=2)] | None = _optional(
        "Updates: free, pushed",
        "updates of the two stages",
        spaced((_DEFAULT.free_updates, _DEFAULT.push_updates)),
        f"; a contrast has only the first, default {CONTRAST_UPDATES}",
    )
    batch: Annotated[int, Field(ge=1, le=MAX_BATCH)] | None = _optional(
        "Batch size", "prompts per update", str(_DEFAULT.batch)
    )
    rates: Annotated[list[Rate], Field(min_length=4, max_length=4)] | None = _optional(
        "Learning rates",
        "learning rates: first and last of the free stage, first and last of the pushed one",
        spaced(_DEFAULT.rates),
    )
    push: Annotated[float, Field(ge=0, le=MAX_PUSH)] | None = _optional(
        "Push λ", "how hard gates are pushed", f"{_DEFAULT.push:g}"
    )
    clip: Annotated[float, Field(gt=0, le=MAX_CLIP)] | None = _optional(
        "Gradient clip", "maximum gradient norm", f"{_DEFAULT.clip:g}"
    )
    published: bool = Field(
        False,
        title="Published settings",
        description=f"the paper's updates ({spaced((_PUBLISHED.free_updates, _PUBLISHED.push_updates))}), "
        f"batch size ({_PUBLISHED.batch}) and rates ({spaced(_PUBLISHED.rates)}) where none are given; hours on a CPU",
    )
    together: Annotated[int, Field(ge=1, le=MAX_SEEDS)] = Field(
        1, title="Seeds in one batch", description="seeds that share a batch: faster, more memory, the same result"
    )

    @field_validator("contrast")
    @classmethod
    def _pairs(cls, file: OwnFile | None) -> OwnFile | None:
        if file is not None and not file.is_task:
            raise ValueError("pairs to contrast are a .jsonl file")
        return file

    def chosen_tasks(self) -> tuple[Task, ...]:
        """Built-in ones by name and one's own; the default ones when there is neither."""
        own = [tasks.read_task(file.name, file.content.encode()) for file in self.files if file.is_task]
        default = [] if own else list(DEFAULT_TASKS)
        names = default if self.tasks is None else self.tasks
        chosen = (*tasks.choose(names), *own)
        if not chosen or len({task.name for task in chosen}) < len(chosen):
            raise TaskError(
                "at least one task is needed, and no name may appear twice", "Choose some, or rename the file."
            )
        return chosen

    def chosen_contrast(self) -> Contrast | None:
        """The pairs to contrast, if there are any."""
        return tasks.read_contrast(self.contrast.name, self.contrast.content.encode()) if self.contrast else None

    def chosen_seeds(self) -> int:
        """How many seeds are fitted."""
        if self.contrast is None:
            return SEEDS if self.seeds is None else self.seeds
        if self.seeds == 0:
            raise TaskError("pairs to contrast have no preview", "Choose at least one seed.")
        return CONTRAST_SEEDS if self.seeds is None else self.seeds

    def gates(self) -> GateSettings:
        """How the gates are fitted: the defaults or the paper's, with what was chosen otherwise."""
        settings = GateSettings.published() if self.published else GateSettings()
        if self.contrast is not None and self.updates is None:
            settings = replace(settings, free_updates=CONTRAST_UPDATES)
        chosen: JsonObject = {}
        if self.updates is not None:
            chosen["free_updates"], chosen["push_updates"] = self.updates
        if self.rates is not None:
            chosen["free_rate"], chosen["push_rate"] = tuple(self.rates[:2]), tuple(self.rates[2:])
        for name in ("batch", "push", "clip"):
            value = getattr(self, name)
            if value is not None:
                chosen[name] = value
        return replace(settings, **chosen)
