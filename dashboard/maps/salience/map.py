"""Salient tokens: which tokens a head stretches most, and what it then makes more and less likely."""

from collections.abc import Sequence

from dash import html

from analysis import methods
from analysis.data.printable import printable
from analysis.evidence.comparison import failing
from analysis.methods.salience.method import SalienceMethod
from analysis.methods.salience.tokens import SENTENCE, SalientToken, salient_tokens
from analysis.models.card import HeadId
from dashboard.maps.head_part import AskedHead, HeadPart
from dashboard.maps.head_rows import HeadCell, HeadRow, HeadRows
from dashboard.maps.map import Map, MapView
from dashboard.setting import Part

_TOKENS, _FEW = 8, 3  # salient tokens shown, and of each of several heads


class SalienceMap(Map[Part]):
    """No panels: a table on the card of a head."""

    name = SalienceMethod.name
    title = SalienceMethod.title
    own_view = False

    def reads(self) -> Sequence[str]:
        """Beside its own, the results that say whether the weights alone can be believed."""
        return (*self.methods(), *(method.name for method in methods.relation_methods()))

    def head_part(self, asked: AskedHead, shown: MapView[Part] | None) -> HeadPart | None:
        """The head's salient tokens, or how to compute them."""
        title = html.H3(self.title)
        tokens = salient_tokens(shown.result, asked.head) if shown is not None else None
        if shown is None or tokens is None:
            command = html.Code(self.command(asked.card.id))
            return HeadPart([html.Div([title, html.P(["Not computed for this model. Compute them: ", command])])])
        rows = [_row(token) for token in tokens[:_TOKENS]]
        names = ("token", "σ", "promotes", "suppresses")
        header = html.Tr([html.Th(name, scope="col", className="num" if name == "σ" else "") for name in names])
        table = html.Table([html.Thead(header), html.Tbody(rows)], className="tokens")
        remark = failing(dict(shown.by_method))
        hint = f"{SENTENCE} But {remark}." if remark else SENTENCE
        return HeadPart([html.Div([title, html.P(hint, className="hint"), table])])

    def head_rows(self, heads: Sequence[HeadId], shown: MapView[Part]) -> HeadRows | None:
        """The first tokens of each head."""
        cells = []
        for head in heads:
            tokens = salient_tokens(shown.result, head)
            first = [] if tokens is None else tokens[:_FEW]
            cells.append(HeadCell([_token(token.text) for token in first]))
        return HeadRows(self.title, (HeadRow("acts most on", tuple(cells)),))


def _row(token: SalientToken) -> html.Tr:
    return html.Tr(
        [
            html.Td(_token(token.text)),
            html.Td(f"{token.sigma:.2f}", className="num"),
            html.Td([_token(entry.text) for entry in token.promoted]),
            html.Td([_token(entry.text) for entry in token.suppressed]),
        ]
    )


def _token(text: str) -> html.Code:
    """A token as text: no markup, no control or direction-changing characters, spaces visible."""
    return html.Code(html.Bdi(printable(text)), className="token")
