"""What somebody asks to be analysed, as the API takes it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from analysis.data.relations import builtin, choose_builtin, parse
from analysis.data.tasks import builtin as builtin_tasks
from analysis.data.tasks import read_contrast, read_task
from analysis.errors import RelationError, TaskError
from analysis.jobs import job as jobs
from analysis.methods.causal.plan import CONTRAST_SEEDS, MAX_SEEDS, SEEDS, GateSettings
from analysis.models import builtin as default_model
from dashboard.web.guard import MAX_UPLOAD

Rate = Annotated[float, Field(gt=0, le=10)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\w./-]+$")]


class OwnFile(BaseModel):
    """One's own relation (.csv with two columns, .json list of pairs) or task (.jsonl with prompt and target)."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=80, pattern=r"^[\w][\w .-]*\.(csv|jsonl?)$")]
    content: Annotated[str, Field(max_length=MAX_UPLOAD)]


class PairsFile(BaseModel):
    """Matched pairs for contrastive gates: lines of {"forget": {"prompt", "target"}, "retain": {…}}."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=80, pattern=r"^[\w][\w .-]*\.jsonl$")]
    content: Annotated[str, Field(max_length=MAX_UPLOAD)]


class Submission(BaseModel):
    """What to analyse."""

    model_config = ConfigDict(extra="forbid")
    model: Name = Field(examples=[default_model.ID])
    revision: Annotated[str, Field(max_length=100, pattern=r"^[\w./-]*$")] = ""
    methods: Annotated[list[jobs.Method], Field(min_length=1, max_length=3)] = list(jobs.USUAL)
    relations: Annotated[list[str], Field(max_length=50)] | None = Field(
        None, description="built-in relations or categories by name; all of them when left out"
    )
    files: Annotated[list[OwnFile], Field(max_length=5)] = []
    tasks: Annotated[list[str], Field(max_length=5)] | None = Field(
        None, description="for the causal map: built-in tasks by name; math and syntax, or the files', when left out"
    )
    contrast: PairsFile | None = Field(None, description="for the causal map: pairs to contrast, instead of tasks")
    seeds: Annotated[int, Field(ge=0, le=MAX_SEEDS)] | None = Field(
        None, description=f"{SEEDS} when left out ({CONTRAST_SEEDS} for a contrast); 0 for the preview alone"
    )
    updates: Annotated[list[Annotated[int, Field(ge=1, le=10_000)]], Field(min_length=2, max_length=2)] | None = Field(
        None, description="of the two stages of a fit"
    )
    batch: Annotated[int, Field(ge=1, le=1024)] | None = Field(None, description="prompts in an update")
    rates: Annotated[list[Rate], Field(min_length=4, max_length=4)] | None = Field(
        None, description="learning rates: first and last of the free stage, first and last of the pushed one"
    )
    push: Annotated[float, Field(ge=0, le=10)] | None = Field(None, description="λ: how hard gates are pushed")
    clip: Annotated[float, Field(gt=0, le=1000)] | None = Field(None, description="largest norm of a gradient")
    published: bool = Field(False, description="the paper's updates, batch and rates where none are given")
    together: Annotated[int, Field(ge=1, le=MAX_SEEDS)] = Field(1, description="seeds fitted in one batch: faster")

    def request(self) -> jobs.Request:
        """As the engine takes it; a file that is malformed or named like another is refused."""
        found = list(choose_builtin(self.relations) if self.relations is not None else builtin().values())
        for file in self.files:
            if not file.name.endswith(".jsonl"):
                relation = parse(file.content.encode(), file.name)
                if relation.name in {other.name for other in found}:
                    raise RelationError(f"two relations are called {relation.name!r}", "Rename the file.")
                found.append(relation)
        methods = tuple(dict.fromkeys(self.methods))
        if "causal" not in methods and (
            self.tasks or self.contrast or any(f.name.endswith(".jsonl") for f in self.files)
        ):
            raise TaskError("tasks and pairs are for the causal map", "Ask for the method causal too.")
        return jobs.Request(self.model, self.revision, methods, tuple(found), self._causal())

    def _causal(self) -> jobs.CausalRequest:
        own = [read_task(file.name, file.content.encode()) for file in self.files if file.name.endswith(".jsonl")]
        names = self.tasks if self.tasks is not None else ([] if own else ["math", "syntax"])
        unknown = [name for name in names if name not in builtin_tasks()]
        if unknown:
            raise TaskError(f"there is no task {unknown[0][:80]!r}", f"Choose from {', '.join(builtin_tasks())}.")
        numbers = {"batch": self.batch, "push": self.push, "clip": self.clip}
        settings = GateSettings.chosen(self.published, self.updates, self.rates, **numbers)
        pairs = read_contrast(self.contrast.name, self.contrast.content.encode()) if self.contrast else None
        tasks = (*(builtin_tasks()[name] for name in names), *own)
        seeds = self.seeds if self.seeds is not None else CONTRAST_SEEDS if pairs else SEEDS
        settings = settings.of_contrast(self.updates is None) if pairs else settings
        return jobs.CausalRequest(tasks, pairs, seeds, settings, self.together).checked()
