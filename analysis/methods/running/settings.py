"""What a person may choose about the function map in the running model."""

from typing import Annotated

from pydantic import Field

from analysis.methods.relation_settings import RelationSettings
from analysis.settings import hints

CARRIERS = ("No", "The story of", "This is a document about", "When I think about")
SINGLE, ANY = "single", "any"

Carrier = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class RunningSettings(RelationSettings):
    """Relations, k, the carrier phrases, and which sources."""

    carriers: Annotated[list[Carrier], Field(min_length=1, max_length=16)] = Field(
        list(CARRIERS),
        title="Carriers",
        description="phrases before the source, each a sample of its own (default: four neutral ones)",
        json_schema_extra=hints(metavar="TEXT", choices=[(carrier, carrier) for carrier in CARRIERS]),
    )
    sources: Annotated[str, Field(pattern=f"^({SINGLE}|{ANY})$")] = Field(
        SINGLE,
        title="Sources",
        description=f"{SINGLE}: those of one token, as in the weights-only map (default); {ANY}: of several tokens too",
        json_schema_extra=hints(metavar=f"{SINGLE}|{ANY}", form=False),
    )

    def chosen_carriers(self) -> tuple[str, ...]:
        """Each once, without spaces around it: one space stands between carrier and source."""
        return tuple(dict.fromkeys(carrier.strip() for carrier in self.carriers))
