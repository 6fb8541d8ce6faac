"""Settings that several methods have in common."""

from typing import Annotated

from pydantic import Field

from analysis.data import relations, tasks
from analysis.data.files import WithFiles
from analysis.data.tasks import DEFAULT_TASKS
from analysis.errors import HeadError
from analysis.models.card import ModelCard
from analysis.settings import Settings, hints

MOST_LAYERS = 10_000
MOST_TASKS, MOST_RELATIONS = 50, 1000


class TaskNames(WithFiles):
    """Which tasks: for methods that run a model on them."""

    tasks: Annotated[list[str], Field(max_length=MOST_TASKS)] | None = Field(
        None,
        title="Tasks",
        description=f"built-in tasks by name; {' and '.join(DEFAULT_TASKS)} when nothing else is chosen",
        json_schema_extra=hints(metavar="NAME-or-FILE.jsonl", files=True, choices=tuple(tasks.TITLES.items())),
    )


class RelationNames(WithFiles):
    """Which relations: for methods that score heads for them or run a model on their pairs."""

    relations: Annotated[list[str], Field(max_length=MOST_RELATIONS)] | None = Field(
        None,
        title="Relations",
        description="built-in relations or categories by name",
        json_schema_extra=hints(metavar="NAME-or-FILE", files=True, choices=relations.titles()),
    )


class LayerSettings(Settings):
    """Which layers: for methods that go through a model layer by layer."""

    layers: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=MOST_LAYERS)] | None = Field(
        None,
        title="Layers",
        description="only these layers",
        json_schema_extra=hints(metavar="A-B,C", ranges=True, form=False),
    )

    def chosen_layers(self, card: ModelCard) -> tuple[int, ...]:
        """All layers of a model unless some were named."""
        if self.layers is None:
            return card.layers
        for layer in self.layers:
            if layer not in card.layers:
                last = card.layers[-1]
                raise HeadError(f"{card.id} has no layer {layer}", f"Its layers are {card.layers[0]} to {last}.")
        return tuple(sorted(set(self.layers)))


class WeightsSettings(LayerSettings):
    """The first MLP, and which layers: for methods that read weights alone."""

    first_mlp: bool = Field(
        True,
        title="First MLP",
        description="read the embeddings through the first block's MLP in all layers but the first",
        json_schema_extra=hints(form=False),
    )
