"""What a person may choose about the function map."""

from analysis.methods.shared_settings import WeightsSettings
from analysis.relations.settings import RelationSettings


class FunctionSettings(RelationSettings, WeightsSettings):
    """Relations, k and the first MLP."""
