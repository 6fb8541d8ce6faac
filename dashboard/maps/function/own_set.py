"""The custom relation set that a view of the function map adds to the built-in ones."""

from collections.abc import Sequence
from dataclasses import replace

from analysis.models.card import ModelCard
from analysis.results.own_sets import OwnSet, found_set, offered_sets
from dashboard.maps.control import Choice
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView

NONE = "none"  # chosen by a person; an address that names no set may still ask for a relation of one


def with_own_set(
    state: FunctionState, sets: Sequence[OwnSet], first: OwnSet | None, card: ModelCard
) -> tuple[FunctionState, list[str]]:
    """The state with its set under the name that it has now; a link to a relation of a set alone finds its set."""
    if state.own and state.own != NONE:
        chosen = found_set(sets, state.own)
        if chosen is None:
            notice = f"{card.id} has no relations {state.own!r} here; the built-in ones are shown."
            return replace(state, own=first.address if first is not None else ""), [notice]
        return replace(state, own=chosen.address), []
    for one in sets:
        if not state.own and state.relation in {item.name for item in one.items}:
            return replace(state, own=one.address), []
    return replace(state, own=first.address if first is not None else ""), []


def set_id(state: FunctionState) -> str:
    """The id of the set that a state names."""
    return state.own.rpartition("@")[2]


def chosen_set(shown: MapView[FunctionState]) -> OwnSet | None:
    """The set on the page."""
    return found_set(shown.sets, shown.state.own) if shown.state.own else None


def set_choices(shown: MapView[FunctionState] | None) -> list[Choice]:
    """The sets that can be chosen."""
    offered: list[Choice] = [{"value": NONE, "label": "None"}]
    if shown is not None:
        for one in offered_sets(shown.sets, shown.state.own):
            offered.append({"value": one.address, "label": one.name})
    return offered
