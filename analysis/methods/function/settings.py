"""What a person may choose about the function map."""

from analysis.methods.relation_settings import RelationSettings
from analysis.methods.weights_settings import WeightsSettings


class FunctionSettings(RelationSettings, WeightsSettings):
    """Relations, k and the first MLP."""
