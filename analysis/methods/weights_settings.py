"""What the methods that read weights alone have in common."""

from pydantic import Field

from analysis.methods.layer_settings import LayerSettings
from analysis.settings import hints


class WeightsSettings(LayerSettings):
    """The first MLP, and which layers."""

    first_mlp: bool = Field(
        True,
        title="First MLP",
        description="read the embeddings through the first block's MLP in all layers but the first",
        json_schema_extra=hints(form=False),
    )
