"""The maps that the page knows, one package each. A map is added here and nowhere else."""

from typing import Any

from dashboard.maps.ablation.map import AblationMap
from dashboard.maps.agreement.map import AgreementMap
from dashboard.maps.behaviour.map import BehaviourMap
from dashboard.maps.causal.map import CausalMap
from dashboard.maps.function.map import FunctionMap
from dashboard.maps.map import Map
from dashboard.maps.salience.map import SalienceMap
from dashboard.palette import colours
from dashboard.setting import settings_of
from dashboard.state import MODELS, TABLE, ViewState

MAPS: list[Map[Any]] = []  # in the order of the page; the first is the view that an empty address shows


def register(added: Map[Any]) -> None:
    """Add a map; its name and the keys of its state must be its own."""
    taken = {MODELS, TABLE, *(each.name for each in MAPS)}
    keys = {"model", "view", *settings_of(ViewState)}
    for each in MAPS:
        keys |= set(settings_of(each.part))
    if not added.name or added.name in taken:
        raise ValueError(f"there is already a view {added.name!r}, or it has no name")
    if keys & set(settings_of(added.part)):
        raise ValueError(f"addresses have the keys {sorted(keys & set(settings_of(added.part)))} already")
    sections = {section.key for each in MAPS for section in each.sections()}
    if any(section.key in sections for section in added.sections()):
        raise ValueError(f"a section of {added.name!r} has the key of another map's")
    scales = colours(ViewState.palette, dark=False)
    if set(scales.tones) & set(added.tones(scales)):
        raise ValueError(f"a colour of {added.name!r} has the name of another one")
    MAPS.append(added)


def map_of_method(method: str) -> Map[Any] | None:
    """The map that shows the results of a method, if there is one."""
    for each in MAPS:
        if method in each.methods():
            return each
    return None


def map_of(name: str) -> Map[Any] | None:
    """The map of that name, if there is one."""
    for each in MAPS:
        if each.name == name:
            return each
    return None


for _map in (FunctionMap(), CausalMap(), BehaviourMap(), AblationMap(), AgreementMap(), SalienceMap()):
    register(_map)
