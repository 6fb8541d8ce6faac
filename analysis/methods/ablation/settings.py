"""What a person may choose about ablation."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from analysis.data import relations, tasks
from analysis.data.tasks import DEFAULT_TASKS
from analysis.errors import TaskError
from analysis.methods.ablation.items import AblationItem, PromptItem, RelationItem, TaskItem
from analysis.settings import hints
from analysis.shared_settings import RelationNames, TaskNames

DEFAULT_RELATIONS = ("country_capital",)
LAST, ALL = "last", "all"
EXAMPLES, TEMPLATES = "examples", "templates"
PROMPTS, MAX_PROMPTS = 24, 2_000


class AblationSettings(TaskNames, RelationNames):
    """Tasks, relations or a prompt, where heads are off, and what stands in their place."""

    prompt: Annotated[str, Field(min_length=1, max_length=2_000)] | None = Field(
        None, title="Prompt", description="your own text instead", json_schema_extra=hints(metavar="TEXT")
    )
    target: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None,
        title="Target",
        description="what should follow the prompt, with a leading space if it starts a word",
        json_schema_extra=hints(metavar="TEXT"),
    )
    positions: Literal["last", "all"] = Field(
        "last",
        title="Positions",
        description="last: heads are off only where the target is predicted (default); all: at every position, slower",
        json_schema_extra=hints(
            metavar=f"{LAST}|{ALL}", choices=[(LAST, "where the target is predicted"), (ALL, "at every token, slower")]
        ),
    )
    prompts: Annotated[int, Field(ge=1, le=MAX_PROMPTS)] = Field(
        PROMPTS, title="Prompts", description=f"at most this many per task or relation (default {PROMPTS})"
    )
    wording: Literal["examples", "templates"] = Field(
        "examples",
        title="Prompts of a relation",
        description="examples: after three worked examples (default); templates: in four neutral phrases, in which few "
        "models say the target",
        json_schema_extra=hints(
            metavar=f"{EXAMPLES}|{TEMPLATES}",
            choices=[(EXAMPLES, "after three worked examples"), (TEMPLATES, "in neutral phrases")],
        ),
    )
    curve: bool = Field(
        True,
        title="Curve of a relation",
        description="switch off a relation's best heads one after another, by the weights' and by the running "
        "model's scores, and random ones",
        json_schema_extra=hints(form=False),
    )

    @model_validator(mode="after")
    def _both_or_none(self) -> "AblationSettings":
        if (self.prompt is None) != (self.target is None):
            raise ValueError("a prompt and its target must be given together")
        return self

    def chosen_items(self) -> tuple[AblationItem, ...]:
        """What was named; the default tasks and relations when nothing was."""
        own_tasks = [tasks.read_task(file.name, file.content.encode()) for file in self.files if file.is_task]
        own = [relations.parse(file.content.encode(), file.name) for file in self.files if not file.is_task]
        named = bool(own_tasks or own or self.tasks is not None or self.relations is not None or self.prompt)
        task_names = self.tasks if self.tasks is not None else () if named else DEFAULT_TASKS
        relation_names = self.relations if self.relations is not None else () if named else DEFAULT_RELATIONS
        items: list[AblationItem] = [TaskItem(task) for task in (*tasks.choose(list(task_names)), *own_tasks)]
        items += [RelationItem(one, self.wording == TEMPLATES) for one in (*relations.choose(relation_names), *own)]
        if self.prompt is not None and self.target is not None:
            items.append(PromptItem(self.prompt, self.target))
        if not items or len({item.name for item in items}) < len(items):
            raise TaskError(
                "at least one task, relation or prompt is needed, and no name may appear twice",
                "Choose some, or rename the file.",
            )
        return tuple(items)
