"""Where the panels of a view stand, by what they show."""

from collections.abc import Sequence

from analysis.models.card import ModelCard
from dashboard.arrange import LARGEST, Arrangement, arrange, arrange_grid
from dashboard.maps.function.panels import Panel
from dashboard.state import ViewState


def placed(
    panels: Sequence[Panel], state: ViewState, card: ModelCard, width: int, largest: int = LARGEST
) -> Arrangement:
    """The causal map as a grid of tasks and columns with layer profiles, the function map as it fits best."""
    cells = (card.heads, len(card.layers)) if state.heads_across else (len(card.layers), card.heads)
    if state.view != "causal":
        return arrange(len(panels), *cells, width, largest=largest)
    columns = len({panel.of[1] for panel in panels})
    return arrange_grid(len(panels) // columns, columns, cells, width, profile_beside=state.heads_across)
