"""A control of the page: what it is called, what it does, and which part of the address it sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dash_mantine_components as dmc

from analysis.results.provenance import ScoredItem

Choice = dict[str, Any]  # value and label, or a group of them, as a picker offers it


@dataclass(frozen=True)
class Control:
    """A control under its name; hovering explains it, and so does the help."""

    key: str  # in the address; the id of the component
    label: str
    explained: str
    component: Any
    prop: str = "value"  # the property of the component that holds its value
    is_picker: bool = False  # what it offers comes with the model on the page
    has_number: bool = False  # its value stands beside its name
    decides_choices: bool = False  # what pickers offer depends on its value
    conditional: bool = False  # hidden where it would change nothing
    advanced: bool = False  # folded away until somebody wants it


def segments(key: str, label: str, value: str, **labels: str) -> dmc.SegmentedControl:
    """A choice of few words, all in sight; screen readers say the label that stands above it."""
    data = [{"value": each, "label": words} for each, words in labels.items()]
    return dmc.SegmentedControl(id=key, value=value, data=data, size="xs", **{"aria-label": label})


def slider(key: str, label: str, value: float) -> dmc.Slider:
    """A share from 0 to 1; the default is marked."""
    return dmc.Slider(
        id=key, value=value, min=0, max=1, step=0.01, precision=2, marks=[{"value": value}],
        size="sm", w=130, updatemode="drag", thumbLabel=label,
    )  # fmt: skip


def picker(key: str, label: str, width: int, **more: Any) -> dmc.Select:
    """One of a list that comes with the model."""
    return dmc.Select(
        id=key, data=[], value="", clearable=False, allowDeselect=False, size="xs", w=width,
        **more, **{"aria-label": label},
    )  # fmt: skip


def item_picker(key: str, label: str, explained: str, conditional: bool = False) -> Control:
    """One of what a map has scores for, instead of all; people may type a part of its name."""
    select = picker(
        key, label, 210, searchable=True, clearSearchOnFocus=True,
        nothingFoundMessage=f"No {label.lower()} with that name", maxDropdownHeight=360,
    )  # fmt: skip
    return Control(key, label, explained, select, is_picker=True, conditional=conditional)


def item_choices(every: str, groups: Mapping[str, Sequence[ScoredItem]]) -> list[Choice]:
    """What such a picker offers: all together, then each, under the names of their groups where there are several."""
    choices: list[Choice] = [{"value": "", "label": every}]
    for name, items in groups.items():
        ones = [{"value": item.name, "label": item.title} for item in items]
        choices += [{"group": name.capitalize(), "items": ones}] if len(groups) > 1 else ones
    return choices


def best_heads(key: str, explained: str) -> Control:
    """How many heads of each panel; an empty field stands for all."""
    label = "Only the best"
    field = dmc.NumberInput(
        id=key, value="", placeholder="all", min=0, max=999, allowDecimal=False, allowNegative=False,
        size="xs", w=70, **{"aria-label": label},
    )  # fmt: skip
    return Control(key, label, explained, field, advanced=True)
