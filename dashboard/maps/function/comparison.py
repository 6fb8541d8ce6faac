"""Where a model has two results for the same relations: how far they agree, relation by relation and head by head."""

import json
from typing import Any

from dash import html

from analysis.relations.agreement import (
    HOLDS,
    RelationAgreement,
    in_words,
    label_counts,
    shared_relations,
)
from analysis.results.scores import Scores
from dashboard.figures.numbers import Figure
from dashboard.maps.function.basis import (
    FunctionView,
    address,
    agreed,
    averaged,
    bases,
    basis_of,
    compared,
    over_carriers,
)
from dashboard.maps.function.scatter import HEIGHT, best_scores, scatter
from dashboard.maps.section import Content, Section
from dashboard.palette import Colours, tone_name

_HINT = (
    "One point per head: its score for the chosen relation, or else its highest score for any relation. Dashed: equal "
    "scores; dotted: τ. Heads that score 0 on both are left out. Hover to find a head on the maps, click to pin it."
)


def sections() -> tuple[Section, ...]:
    """Heads as points, and the relations as a list."""
    title = " and ".join(method.basis.lower() for method in bases()[:2])
    return (
        Section("scatter", title.capitalize(), _HINT, is_figure=True, height=HEIGHT, beside=True, has_heads=True),
        Section("agreement", "Agreement", beside=True),
    )


def contents(shown: FunctionView, dark: bool) -> dict[str, Content]:
    """Both, where there is something to compare; no points for a relation that only one of the two has."""
    pair = compared(shown)
    if pair is None:
        return {}
    agreement, palette = agreed(*pair), shown.palette(dark)
    if not agreement.relations:
        return {}
    facts = [shown.named.without_local().to_query(), dark, agreement.overall, list(agreement.relations.values())]
    below = {"agreement": Content(json.dumps(facts), lambda: _list(shown, pair, agreement))}
    shared = shared_relations(*pair)
    relation = shown.state.relation
    if not relation or relation in shared:
        figure = _figure(shown, pair, [relation] if relation else shared, palette)
        below["scatter"] = Content(json.dumps([figure["data"], figure["layout"]]), lambda: figure)
    return below


def _figure(shown: FunctionView, pair: tuple[Scores, Scores], items: list[str], palette: Colours) -> Figure:
    """The relation on the page, or the best of all."""
    state = shown.state
    tone = pair[0].item(state.relation).category if state.relation else ""
    numbers = [best_scores(over_carriers(scores, state.carriers), items, state.kinds) for scores in pair]
    names = [basis_of(scores.provenance).basis for scores in pair]
    return scatter(numbers[0], numbers[1], (names[0], names[1]), shown.card, state.tau, tone, palette)


def _list(shown: FunctionView, pair: tuple[Scores, Scores], agreement: RelationAgreement) -> list[Any]:
    """The relations, those that agree best first; each leads to its own map."""
    ordered = sorted(agreement.relations, key=lambda name: -agreement.relations[name])
    rows = [_row(shown, pair[0], name, agreement.relations[name]) for name in ordered]
    first, second = [basis_of(scores.provenance).basis.lower() for scores in pair]
    words = (
        f"Pearson's r over all heads is {in_words(agreement.overall)} (mean of {len(rows)} relations), "
        f"with the {second}'s scores{averaged(shown)}. "
        f"At {HOLDS:g} or more, the {first}-only map is considered reliable."
    )
    return [
        html.P([words, *_found(shown, pair)], className="hint"),
        html.Div(html.Table(html.Tbody(rows), className="counts agreed"), className="tall"),
    ]


def _found(shown: FunctionView, pair: tuple[Scores, Scores]) -> list[Any]:
    """Of a quicker map that holds: how many of the other's labels it finds all the same, and the way there."""
    if shown.whole is not pair[0] or agreed(*pair).fails:
        return []
    counts, method = label_counts(*pair), basis_of(pair[1].provenance)
    words = f" Even so it finds {counts.shared} of the {counts.reference} labels that the "
    address_there = address(shown, basis=method.name)
    link = html.A(method.basis.lower(), href=address_there, **{"data-set": f"basis {method.name}"})
    return [words, link, " shows."]


def _row(shown: FunctionView, scores: Scores, name: str, r: float) -> html.Tr:
    item = scores.item(name)
    link = html.A(item.title, href=address(shown, relation=name), **{"data-set": f"relation {name}"})
    share = {"width": f"{100 * max(r, 0):.0f}%", "background": tone_name(item.category)}
    bar = html.Span(html.I(style=share), className="bar")
    number = html.Td(in_words(r), className="num")
    return html.Tr([html.Th(link, scope="row"), html.Td(bar), number])
