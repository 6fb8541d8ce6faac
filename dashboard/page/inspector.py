"""One head from all sides, and several side by side: cards of equal build, so that the eye can compare rows."""

from typing import Any

import numpy as np
from dash import html

from analysis.methods.function.report import printable
from analysis.models.card import HeadId, ModelCard
from analysis.results.scores import Scores
from dashboard.maps.causal.card import causal_provenance, gates_of_head, roles_of_head
from dashboard.maps.function.panels import head_scores
from dashboard.palette import Colours, colours
from dashboard.state import ViewState
from dashboard.view import View

Salience = list[dict[str, Any]]

_TOKENS = 8  # salient tokens shown


def inspector(view: View, salience: dict[HeadId, Salience | None], dark: bool) -> list[Any]:
    """A card for each pinned head; with several, relations stand in the same order in all of them."""
    heads = view.state.pins
    if not heads:
        return [_invitation()]
    palette = colours(view.state.palette, dark)
    order = _order(view.scores, heads)
    return [_card(view, head, order, salience.get(head), palette) for head in heads]


def _invitation() -> html.Div:
    return html.Div(
        [
            html.H2("No head pinned"),
            html.P(
                "Hover over a square to see what the head does. Click to pin it here, shift-click to compare several, "
                "or press / and type a name such as 10.7."
            ),
        ],
        className="card invitation",
    )


def _order(scores: Scores, heads: tuple[HeadId, ...]) -> list[str]:
    """Relations by the best score that any of the heads has."""
    best: dict[str, float] = {}
    for head in heads:
        for row in head_scores(scores, head):
            value = -1.0 if np.isnan(row["best"]) else row["best"]
            best[row["name"]] = max(best.get(row["name"], -1.0), value)
    return sorted(best, key=lambda name: -best[name])


def _card(view: View, head: HeadId, order: list[str], salience: Salience | None, palette: Colours) -> html.Section:
    rows = {row["name"]: row for row in head_scores(view.scores, head)}
    card = view.scores.provenance.model
    return html.Section(
        [
            html.Header(
                [
                    html.H2(str(head)),
                    html.Span(_roles(view, head), className="roles"),
                    _neighbours(card, head, view.state),
                    html.Button("×", className="unpin", **{"aria-label": f"Unpin {head}", "data-unpin": str(head)}),
                ]
            ),
            html.Div(_sides(view, head, [rows[name] for name in order], salience, palette), className="head-body"),
        ],
        className="card head-card",
        **{"aria-label": f"Head {head}"},
    )


def _sides(
    view: View, head: HeadId, rows: list[dict[str, Any]], salience: Salience | None, palette: Colours
) -> list[html.Div]:
    """The map that the page shows comes first; the other one of the same head stays near it."""
    card = view.scores.provenance.model
    gates = gates_of_head(view, head, palette)
    relations = _relations(view, rows, palette) if rows else html.P(_no_relations(card), className="hint")
    facts = [_provenance(view.scores)] if rows else []
    facts += [causal_provenance(view.causal)] if view.causal is not None else []
    tokens, mates = _salient(card, head, salience), _mates(view.scores, head)
    if view.is_causal:
        return [html.Div([*gates, tokens]), html.Div([html.H3("Function map"), relations, mates, *facts])]
    return [html.Div([relations, *gates]), html.Div([tokens, mates, *facts])]


def _no_relations(card: ModelCard) -> list[Any]:
    return ["No function map yet: ", html.Code(f"python -m analysis map {card.id}")]


def _neighbours(card: ModelCard, head: HeadId, state: ViewState) -> html.Span:
    """Buttons to the heads beside it, as the map lies: over the layers one way, over the heads the other."""
    at = card.layers.index(head.layer)
    layers, heads = ((at - 1, head.head), (at + 1, head.head)), ((at, head.head - 1), (at, head.head + 1))
    across, down = (heads, layers[:: -1 if state.upward else 1]) if state.heads_across else (layers, heads)
    steps = [(arrow, *cell) for arrow, cell in zip("←→↑↓", (*across, *down), strict=True)]
    buttons = []
    for arrow, layer, other in steps:
        exists = 0 <= layer < len(card.layers) and 0 <= other < card.heads
        name = str(HeadId(card.layers[layer], other)) if exists else ""
        go = {"data-instead": f"{head} {name}", "aria-label": f"Go to {name}"} if exists else {"aria-hidden": "true"}
        buttons.append(html.Button(arrow, className="step", disabled=not exists, title=name, **go))
    return html.Span(buttons, className="steps")


def _roles(view: View, head: HeadId) -> str:
    """What the maps on the page say of it."""
    at = view.scores.provenance.model.layers.index(head.layer)
    if view.is_causal:
        return "" if view.causal is None else roles_of_head(view.causal, head, view.state)
    names = [panel.title for panel in view.panels if panel.belongs is None and panel.member[at, head.head]]
    return " · ".join(names) or "Unclassified"


def _relations(view: View, rows: list[dict[str, Any]], palette: Colours) -> html.Table:
    """Bars to the right for what the head promotes, to the left for what it suppresses."""
    card = view.scores.provenance.model
    total = len(card.layers) * card.heads
    body = [_relation_row(row, view.state.tau, total, palette) for row in rows if row["applicable"]]
    header = html.Tr(
        [
            html.Th("Relation", scope="col"),
            html.Th("suppresses", scope="col", className="left"),
            html.Th("promotes", scope="col"),
            html.Th("hits / pairs", scope="col", className="num"),
            html.Th(f"rank of {total:,}", scope="col", className="num"),
        ]
    )
    return html.Table([html.Thead(header), html.Tbody(body)], className="relations")


def _relation_row(row: dict[str, Any], tau: float, total: int, palette: Colours) -> html.Tr:
    colour = palette.of(row["category"])
    return html.Tr(
        [
            html.Th(row["title"], scope="row"),
            html.Td(_bar(row["suppress"], colour), className="left"),
            html.Td(_bar(row["promote"], colour)),
            html.Td(_hits(row), className="num"),
            html.Td(_rank(row), className="num"),
        ],
        className="strong" if row["best"] > tau else "",
    )


def _hits(row: dict[str, Any]) -> str:
    """Hits of both kinds; one alone when the other has none."""
    if np.isnan(row["best"]):
        return str(row["missing"])
    promoted, suppressed = int(row["promote_hits"]), int(row["suppress_hits"])
    counts = [f"{promoted}"] if promoted or not suppressed else []
    counts += [f"−{suppressed}"] if suppressed else []
    return f"{', '.join(counts)} / {row['kept']}"


def _rank(row: dict[str, Any]) -> str:
    kind = "suppress" if row["suppress"] > row["promote"] else "promote"
    return str(row[f"{kind}_rank"]) if row["best"] > 0 else ""


def _bar(score: float, colour: str) -> html.Span:
    share = 0.0 if np.isnan(score) else score
    text = "" if not share else f"{share:.2f}"
    bar = html.I(style={"width": f"{100 * share:.1f}%", "background": colour})
    return html.Span([bar, html.Span(text)], className="bar")


def _salient(card: ModelCard, head: HeadId, salience: Salience | None) -> html.Div:
    title = html.H3("Salient tokens")
    if salience is None:
        command = html.Code(f"python -m analysis salience {card.id}")
        return html.Div([title, html.P(["Not computed for this model. Compute them: ", command])])
    body = [
        html.Tr(
            [
                html.Td(_token(operation["text"])),
                html.Td(f"{operation['sigma']:.2f}", className="num"),
                html.Td([_token(entry["text"]) for entry in operation["promoted"]]),
                html.Td([_token(entry["text"]) for entry in operation["suppressed"]]),
            ]
        )
        for operation in salience[:_TOKENS]
    ]
    names = ("token", "σ", "promotes", "suppresses")
    header = html.Tr([html.Th(name, scope="col", className="num" if name == "σ" else "") for name in names])
    hint = "The tokens whose vector the head stretches most (σ), and what it then makes more and less likely."
    return html.Div(
        [title, html.P(hint, className="hint"), html.Table([html.Thead(header), html.Tbody(body)], className="tokens")]
    )


def _token(text: str) -> html.Code:
    """A token as text: no markup, no control or direction-changing characters, spaces visible."""
    return html.Code(html.Bdi(printable(text)), className="token")


def _mates(scores: Scores, head: HeadId) -> html.Div | None:
    mates = scores.provenance.model.group_mates(head)
    if not mates:
        return None
    buttons = [html.Button(str(mate), className="mate", **{"data-pin": str(mate)}) for mate in mates]
    return html.Div(
        [
            html.H3("Shares its value matrix with"),
            html.P(buttons, className="mates"),
        ]
    )


def _provenance(scores: Scores) -> html.Details:
    """Where the numbers come from."""
    facts = scores.provenance
    card, settings = facts.model, facts.settings
    rows = {
        "model": f"{card.id} ({card.family}, {len(card.layers)} × {card.heads} heads)",
        "fingerprint": card.fingerprint[:16],
        "weights": card.note or card.dtype,
        "method": f"{facts.method} map, version {facts.version}",
        "settings": f"k = {settings['k_standard']}, copying {settings['k_copying']}; "
        f"first MLP {'on' if settings['first_mlp'] else 'off'}",
        "computed": f"{facts.date} on {facts.device}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.libraries.items()),
    }
    body = [html.Tr([html.Th(name, scope="row"), html.Td(value)]) for name, value in rows.items()]
    return html.Details(
        [html.Summary("Provenance of the function map"), html.Table(html.Tbody(body), className="provenance")]
    )
