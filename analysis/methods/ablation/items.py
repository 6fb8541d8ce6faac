"""What heads are switched off on: a task, a relation's pairs, or one prompt; each gives prompts with targets."""

import hashlib
from dataclasses import dataclass
from typing import ClassVar

from analysis.data.prompts import Encoded, encode
from analysis.data.relation_prompts import relation_prompts
from analysis.data.relations import Relation
from analysis.data.tasks import Task, TaskPrompt
from analysis.errors import TaskError
from analysis.models.vocabulary import Vocabulary
from analysis.results.provenance import JsonObject, ScoredItem

PROMPT, TASK = "prompt", "task"  # categories; a relation has its own
_SHOWN = 40  # characters of a prompt in its title
MOST_TOKENS = 1_024  # of a prompt
_UNUSABLE = "Prompt and target must not share a token: begin the target with a space."


@dataclass(frozen=True)
class EncodedPrompts:
    """The prompts of an item, as a model reads them."""

    encoded: tuple[Encoded, ...]
    kept: int  # usable prompts or pairs in all


@dataclass(frozen=True)
class TaskItem:
    """The validation prompts of a task."""

    task: Task
    relation: ClassVar[Relation | None] = None

    @property
    def name(self) -> str:
        """The task's."""
        return self.task.name

    @property
    def title(self) -> str:
        """The same for people."""
        return self.task.title

    @property
    def hash(self) -> str:
        """What a score depends on."""
        return self.task.hash

    def described(self, kept: int) -> ScoredItem:
        """As provenance has it."""
        task = self.task
        return ScoredItem(task.name, task.title, TASK, task.sentence, task.hash, pairs=len(task.validation), kept=kept)

    def prompts(self, vocabulary: Vocabulary, size: int, most: int) -> EncodedPrompts:
        """The first so many; kinds of questions take turns in them."""
        usable = _usable(encode(self.task.validation, vocabulary, size))
        if not usable:
            raise TaskError(f"no prompt of {self.name} can be used with this model", _UNUSABLE)
        return EncodedPrompts(tuple(usable[:most]), len(usable))


@dataclass(frozen=True)
class RelationItem:
    """The pairs of a relation, whose targets should come next."""

    relation: Relation
    templates: bool  # neutral phrases rather than worked examples

    @property
    def name(self) -> str:
        """The relation's."""
        return self.relation.name

    @property
    def title(self) -> str:
        """The same for people."""
        return self.relation.title

    @property
    def hash(self) -> str:
        """What a score depends on."""
        return f"{self.relation.hash}{'-templates' if self.templates else ''}"

    def described(self, kept: int) -> ScoredItem:
        """As provenance has it."""
        one = self.relation
        return ScoredItem(one.name, one.title, one.category, one.sentence, one.hash, pairs=len(one.pairs), kept=kept)

    def prompts(self, vocabulary: Vocabulary, size: int, most: int) -> EncodedPrompts:
        """From the first pairs on."""
        encoded, kept = relation_prompts(self.relation, vocabulary, size, self.templates, most)
        if not encoded:
            raise TaskError(
                f"no pair of {self.relation.title} is made of single tokens of this model",
                "`python -m analysis relations MODEL` says which relations have any.",
            )
        return EncodedPrompts(tuple(encoded), kept)


@dataclass(frozen=True)
class PromptItem:
    """A text and what should follow it."""

    prompt: str
    target: str
    relation: ClassVar[Relation | None] = None

    @property
    def name(self) -> str:
        """Of every prompt its own."""
        return f"{PROMPT}-{self.hash[:8]}"

    @property
    def title(self) -> str:
        """Its last words and what should follow them."""
        words = " ".join(self.prompt.split())
        shown = words if len(words) <= _SHOWN else f"…{words[1 - _SHOWN :]}"
        return f"“{shown}” → {self.target.strip()[:_SHOWN]}"

    @property
    def hash(self) -> str:
        """What a score depends on."""
        return hashlib.sha256(f"{self.prompt}\0{self.target}".encode()).hexdigest()[:16]

    def described(self, kept: int) -> ScoredItem:
        """As provenance has it; the text itself is part of it."""
        own = {"prompt": self.prompt, "target": self.target}
        sentence = f"{self.prompt} → {self.target}"
        return ScoredItem(self.name, self.title, PROMPT, sentence, self.hash, pairs=1, kept=kept, settings=own)

    def prompts(self, vocabulary: Vocabulary, size: int, most: int) -> EncodedPrompts:
        """The one."""
        usable = _usable(encode([TaskPrompt(PROMPT, self.prompt, self.target)], vocabulary, size))
        if not usable:
            raise TaskError("this prompt cannot be used with this model", _UNUSABLE)
        return EncodedPrompts(tuple(usable), 1)


def old_prompt(item: ScoredItem) -> JsonObject:
    """Prompt and target as results of older versions have them: in the item's sentence alone."""
    prompt, _, target = item.sentence.rpartition(" → ")
    return {"prompt": prompt, "target": target}


AblationItem = TaskItem | RelationItem | PromptItem


def _usable(encoded: list[Encoded | None]) -> list[Encoded]:
    return [one for one in encoded if one is not None and len(one.ids) <= MOST_TOKENS]
