"""Records: what a result holds beside its scores, typed by the method that made it."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A part of a result that has not one value per head."""

    model_config = ConfigDict(frozen=True, extra="ignore")
