"""The page as it is first sent: everything that its callbacks would fill in is there already."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dash import no_update
from dash.development.base_component import Component

from analysis.evidence.catalogue import Catalogue
from dashboard.maps.legend import legend
from dashboard.page import callbacks, ids
from dashboard.page.controls import all_controls, unfolded
from dashboard.page.layout import THEMES, page
from dashboard.setting import SettingValues
from dashboard.state import MODELS, ViewState
from dashboard.view import View, open_view


def started(
    catalogue: Catalogue,
    models: Path | None,
    read_only: bool,
    address: str,
    screen: SettingValues,
    jobs: callbacks.Jobs,
    theme: str = "",
) -> Component:
    """The page of an address on a screen; the theme as the browser remembers it."""
    whole = page(read_only)
    parts = _parts(whole)
    calls = _calls(catalogue, models, read_only, address, screen, jobs)
    for declared, values in calls:
        _fill(parts, declared["output"], values)
    for control in all_controls():
        if control.has_number:
            parts[ids.number(control.key)].children = f"{float(getattr(parts[control.key], control.prop)):.2f}"
    _fill_texts(parts, open_view(catalogue, address), screen["dark"])
    parts[ids.ADDRESS].data = address
    parts[ids.SCREEN].data = screen
    if theme in THEMES:
        parts[ids.THEME].value = theme
    parts[ids.PROVIDER].forceColorScheme = "dark" if screen["dark"] else "light"
    return whole


def _calls(
    catalogue: Catalogue,
    models: Path | None,
    read_only: bool,
    address: str,
    screen: SettingValues,
    jobs: callbacks.Jobs,
) -> Iterator[tuple[SettingValues, Any]]:
    """What the callbacks declare and what they give, as if the address had just been opened."""
    drawing = callbacks.painting()
    asked = _blank(drawing["inputs"]) | {"address": address, "screen": screen}
    painted = callbacks.paint(catalogue, {f"{ids.ADDRESS}.data"}, **asked)
    yield drawing, painted
    query = painted["query"]
    yield callbacks.describing(), callbacks.describe(catalogue, query=query, screen=screen, fresh=None)
    yield callbacks.inspecting(), callbacks.inspect(catalogue, painted["pins"], query, screen)
    if ViewState.from_query(address).state.view == MODELS:
        yield callbacks.listing(), callbacks.list_jobs(catalogue, models, read_only, jobs)


def _fill_texts(parts: Mapping[str, Component], view: View, dark: bool) -> None:
    """What the scripts write as soon as they run, so that nothing moves then."""
    parts[ids.HEADING].children = view.title
    for fold, is_open in unfolded(view.state).items():
        parts[fold].open = is_open
    if view.shown is not None:
        parts[ids.SENTENCE].children = view.map.sentence(view.shown)
        parts[ids.LEGEND].children = legend(view.shown, dark)


def _blank(inputs: Mapping[str, Any]) -> SettingValues:
    """The inputs of a callback before anybody has chosen anything."""
    return {name: {} if isinstance(each, dict) else None for name, each in inputs.items()}


def _parts(whole: Component) -> dict[str, Component]:
    """The components that have a name."""
    named = {getattr(part, "id", None): part for part in whole._traverse()}
    named[whole.id] = whole
    return {name: part for name, part in named.items() if isinstance(name, str)}


def _fill(parts: Mapping[str, Component], outputs: Any, values: Any) -> None:
    """Put a callback's values where its outputs are."""
    if isinstance(outputs, dict):
        for name, output in outputs.items():
            _fill(parts, output, values[name])
    elif values is not no_update:
        setattr(parts[outputs.component_id], outputs.component_property, values)
