"""What a person may choose about the behaviour of heads."""

from pydantic import Field

from analysis.settings import Settings, hints


class BehaviourSettings(Settings):
    """The random tokens and the length of the text."""

    block: int = Field(
        40,
        ge=4,
        le=200,
        title="Block",
        description="random tokens, which are then repeated (default 40)",
        json_schema_extra=hints(form=False),
    )
    blocks: int = Field(
        8,
        ge=1,
        le=64,
        title="Blocks",
        description="how many such sequences (default 8)",
        json_schema_extra=hints(form=False),
    )
    random_seed: int = Field(
        0,
        ge=0,
        le=2**31 - 1,
        title="Random seed",
        description="seed of the random tokens (default 0)",
        json_schema_extra=hints(form=False),
    )
    text_tokens: int = Field(
        64,
        ge=8,
        le=64,
        title="Tokens of text",
        description="how many of each paragraph are read (default 64)",
        json_schema_extra=hints(form=False),
    )
