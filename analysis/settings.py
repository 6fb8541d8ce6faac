"""What a person may choose, said once: the command line, the API, the form and a job's record all read it from here."""

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """A group of settings. A field's name is its name in the API, the form and the command line.

    Each field says its limits and its default, a title for the form and a sentence for the help. In `json_schema_extra`
    it may add: `metavar` for the command line, `files` (a value may also be a file), `ranges` (numbers such as 0-5,10),
    `form` (false: not offered in the form), `placeholder` and `choices` for the form.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
