"""Salient tokens: which tokens a head stretches most, and what it then makes more and less likely."""

from typing import Any

from dash import html

from analysis.methods.function.report import printable
from analysis.models.card import HeadId, ModelCard
from dashboard.catalogue_adapter import Catalogue
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.map import Map, MapView
from dashboard.setting import Part

_TOKENS = 8  # salient tokens shown
_HINT = "The tokens whose vector the head stretches most (σ), and what it then makes more and less likely."


class SalienceMap(Map[Part]):
    """No panels: a table on the card of a head."""

    name = "salience"
    title = "Salient tokens"
    own_view = False

    def head_part(self, asked: AskedHead, shown: MapView[Part] | None) -> HeadPart | None:
        """The head's salient tokens, or how to compute them."""
        title = html.H3(self.title)
        tokens = asked.catalogue.salience(asked.card, asked.head)
        if tokens is None:
            command = html.Code(self.command(asked.card.id))
            return HeadPart([html.Div([title, html.P(["Not computed for this model. Compute them: ", command])])])
        rows = [_row(operation) for operation in tokens[:_TOKENS]]
        names = ("token", "σ", "promotes", "suppresses")
        header = html.Tr([html.Th(name, scope="col", className="num" if name == "σ" else "") for name in names])
        table = html.Table([html.Thead(header), html.Tbody(rows)], className="tokens")
        return HeadPart([html.Div([title, html.P(_HINT, className="hint"), table])])

    def head_data(self, catalogue: Catalogue, card: ModelCard, head: HeadId) -> dict[str, Any]:
        """The same as data."""
        return {"salient": catalogue.salience(card, head) or []}


def _row(operation: dict[str, Any]) -> html.Tr:
    return html.Tr(
        [
            html.Td(_token(operation["text"])),
            html.Td(f"{operation['sigma']:.2f}", className="num"),
            html.Td([_token(entry["text"]) for entry in operation["promoted"]]),
            html.Td([_token(entry["text"]) for entry in operation["suppressed"]]),
        ]
    )


def _token(text: str) -> html.Code:
    """A token as text: no markup, no control or direction-changing characters, spaces visible."""
    return html.Code(html.Bdi(printable(text)), className="token")
