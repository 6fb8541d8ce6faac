"""The map of the toy method: a whole map in one screen. No file of the product knows it."""

from dataclasses import dataclass

from dash import html

from dashboard.maps.control import Control, slider
from dashboard.maps.head_part import HeadPart
from dashboard.maps.map import Map
from dashboard.maps.plain import PlainPanel, PlainPanels
from dashboard.setting import SHARE, Part, setting
from tests.toy_method import ParityMethod


@dataclass(frozen=True)
class ParityState(Part):
    """From which number on a head is even."""

    evenness: float = setting(0.5, SHARE, local=True)


class ParityMap(Map[ParityState]):
    """Whether the sum of a head's layer and number is even."""

    name, title, part = ParityMethod.name, ParityMethod.title, ParityState

    def controls(self):
        """How even is even."""
        return [Control("evenness", "Evenness", "How even.", slider("evenness", "Evenness", 0.5), has_number=True)]

    def plain(self, shown):
        """One panel, in which even heads belong."""
        value = shown.result.score.values[0, 0, 0]
        reason = shown.result.missing.values[0, 0, 0]
        panel = PlainPanel("even", "Even heads", value, reason, called="even", number="p")
        return PlainPanels([panel], threshold="evenness", otherwise="odd")

    def head_part(self, asked, shown):
        """One line with the head's number, as the method computed it."""
        if shown is None:
            return None
        layer = list(shown.result.score["layer"].values).index(asked.head.layer)
        value = shown.panels[0].value[layer, asked.head.head]
        return HeadPart([html.P(f"Counted from zero: evenness {value:.0f}.")])

    def columns(self, shown):
        """One."""
        return [{"field": "parity", "headerName": "Parity"}]

    def cells(self, shown):
        """Of every head."""
        return {"parity": shown.panels[0].value.ravel().tolist()}
