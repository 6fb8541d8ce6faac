"""Addresses that a card leads to, whatever the controls say: a card does not follow them."""

from analysis.models.card import HeadId, ModelCard
from dashboard.state import ViewState


def page_of(card: ModelCard, head: HeadId) -> str:
    """The head's own page."""
    return f"/head/{head}{ViewState(model=card.id, fingerprint=card.fingerprint[:8]).to_query()}"
