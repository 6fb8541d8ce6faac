"""A control of the page: what it is called, what it does, and which part of the address it sets."""

from dataclasses import dataclass
from typing import Any

import dash_mantine_components as dmc

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
