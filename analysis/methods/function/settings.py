"""What a person may choose about the function map."""

from analysis.relations.settings import RelationSettings
from analysis.shared_settings import WeightsSettings


class FunctionSettings(RelationSettings, WeightsSettings):
    """Relations, k and the first MLP."""
