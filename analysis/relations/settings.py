"""What a person may choose about methods that score heads for relations."""

from typing import Annotated, TypedDict

from pydantic import Field

from analysis.data import relations
from analysis.data.files import OwnFile
from analysis.data.relations import Relation
from analysis.errors import RelationError, SettingError
from analysis.models.card import ModelCard
from analysis.results.own_sets import LONGEST_NAME
from analysis.settings import hints
from analysis.shared_settings import LayerSettings, RelationNames

LARGE_VOCABULARY = 100_000  # from here on k is larger
_SMALL, _LARGE = (1, 10), (3, 25)  # k of copying and of all other relations, by the size of the vocabulary

K = Annotated[int, Field(ge=1)]


class PlanFields(TypedDict):
    """What every plan for relations is made of, under the names of its fields."""

    card: ModelCard
    relations: tuple[Relation, ...]
    k_copying: int
    k_standard: int
    layers: tuple[int, ...]
    set_name: str


class RelationSettings(RelationNames, LayerSettings):
    """Relations, all of them when left out, and k."""

    set_name: str = Field(
        "",
        max_length=LONGEST_NAME,
        pattern=r"^[^@,\x00-\x1f\x7f]*$",
        title="Name for your relations",
        description="a name for your own relations as a set, so that a map can select it",
        json_schema_extra=hints(metavar="NAME", placeholder="the file's name"),
    )
    k: K | None = Field(
        None,
        title="k",
        description=f"targets among the k largest count (default {_SMALL[1]}, large vocabularies {_LARGE[1]})",
    )
    k_copying: K | None = Field(
        None, title="k of copying", description=f"the same for copying relations (default {_SMALL[0]}, or {_LARGE[0]})"
    )

    def for_plan(self, card: ModelCard) -> PlanFields:
        """All of it for a model; refuses a k or layers that it does not have."""
        copying, standard = self.chosen_ks(card)
        return {
            "card": card,
            "relations": self.chosen_relations(),
            "k_copying": copying,
            "k_standard": standard,
            "layers": self.chosen_layers(card),
            "set_name": self.set_name.strip(),
        }

    def chosen_relations(self) -> tuple[Relation, ...]:
        """Built-in ones, all of them unless some are named, and one's own."""
        own = [relation_of(file) for file in self.files if not file.is_task]
        named = self.relations if self.relations is not None else list(relations.builtin())
        chosen = {relation.name: relation for relation in relations.choose(named)}
        for relation in own:
            if relation.name in chosen:
                raise RelationError(f"two relations are called {relation.name!r}", "Rename the file.")
            chosen[relation.name] = relation
        if not chosen:
            raise RelationError("no relation was chosen", "Name one, or leave the option out for all.")
        return tuple(chosen.values())

    def chosen_ks(self, card: ModelCard) -> tuple[int, int]:
        """The k of copying and the k of all other relations for a model."""
        copying, standard = default_ks(card.vocabulary)
        copying = copying if self.k_copying is None else self.k_copying
        standard = standard if self.k is None else self.k
        for k in (copying, standard):
            if not 1 <= k < card.vocabulary:
                raise SettingError(f"k = {k} is out of range", f"Choose 1 to {card.vocabulary - 1}.")
        return copying, standard


def default_ks(vocabulary: int) -> tuple[int, int]:
    """The published values: 1 for copying and 10, or 3 and 25 for large vocabularies."""
    return _LARGE if vocabulary >= LARGE_VOCABULARY else _SMALL


def relation_of(file: OwnFile) -> Relation:
    """A user's own relation."""
    return relations.parse(file.content.encode(), file.name)
