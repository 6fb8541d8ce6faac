"""What a person may choose about the function map in the running model."""

from typing import Annotated

from pydantic import Field, field_validator

from analysis.relations.settings import RelationSettings
from analysis.results.scores import ONLY_SAMPLE, OVER_SAMPLES
from analysis.settings import hints

CARRIERS = ("No", "The story of", "This is a document about", "When I think about")
SINGLE, ANY = "single", "any"

RESERVED = (*OVER_SAMPLES, ONLY_SAMPLE)  # what a sample must not be called

Carrier = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\r\n]*[^\s][^\r\n]*$")]


class RunningSettings(RelationSettings):
    """Relations, k, the carrier phrases, and which sources."""

    carriers: Annotated[list[Carrier], Field(min_length=1, max_length=16)] = Field(
        list(CARRIERS),
        title="Carriers",
        description="phrases before the source, each a sample of its own (default: four neutral ones)",
        json_schema_extra=hints(metavar="TEXT", placeholder="\n".join(CARRIERS)),
    )
    sources: Annotated[str, Field(pattern=f"^({SINGLE}|{ANY})$")] = Field(
        SINGLE,
        title="Sources",
        description=f"{SINGLE}: those of one token, as in the weights-only map (default); {ANY}: of several tokens too",
        json_schema_extra=hints(
            metavar=f"{SINGLE}|{ANY}", choices=[(SINGLE, "of one token"), (ANY, "of several tokens too")]
        ),
    )

    @field_validator("carriers")
    @classmethod
    def _no_reserved(cls, carriers: list[str]) -> list[str]:
        for carrier in carriers:
            if carrier.strip() in RESERVED:
                raise ValueError(f"{carrier.strip()!r} is reserved and cannot be a carrier")
        return carriers

    def chosen_carriers(self) -> tuple[str, ...]:
        """Each once, without spaces around it: one space stands between carrier and source."""
        return tuple(dict.fromkeys(carrier.strip() for carrier in self.carriers))
