"""What a person may choose about the function map with context."""

from typing import Annotated

from pydantic import Field, field_validator

from analysis.data import relation_prompts
from analysis.relations.settings import RelationSettings
from analysis.settings import hints

SOURCE = "<X>"  # where the source stands in a template
TEMPLATES = tuple(template.format(SOURCE) for template in relation_prompts.TEMPLATES)

Template = Annotated[str, Field(min_length=len(SOURCE), max_length=200, pattern=r"^[^\r\n]*$")]


class ContextSettings(RelationSettings):
    """Relations, k, and the prompts that sources stand in."""

    templates: Annotated[list[Template], Field(min_length=1, max_length=16)] = Field(
        list(TEMPLATES),
        title="Templates",
        description=f"prompts with {SOURCE} for the source, each a sample of its own (default: four neutral ones)",
        json_schema_extra=hints(metavar="TEXT", form=False),
    )

    @field_validator("templates")
    @classmethod
    def _one_source(cls, templates: list[str]) -> list[str]:
        for template in templates:
            if template.count(SOURCE) != 1:
                raise ValueError(f"a template must have one {SOURCE}, where the source stands")
        return templates

    def chosen_templates(self) -> tuple[str, ...]:
        """Each once, with one space on either side of the source."""
        chosen = []
        for template in self.templates:
            before, after = sides(template)
            chosen.append(f"{before} {SOURCE} {after}".strip())
        return tuple(dict.fromkeys(chosen))


def sides(template: str) -> tuple[str, str]:
    """What stands before the source, and what after it; both may be empty."""
    before, _, after = template.partition(SOURCE)
    return before.strip(), after.strip()
