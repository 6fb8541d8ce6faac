"""Where a model has two results for the same relations: how far they agree, relation by relation and head by head."""

import json
from collections.abc import Mapping, Sequence
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
    all_compared,
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
        Section("agreement", "Correlation", beside=True),
    )


def contents(shown: FunctionView, dark: bool) -> dict[str, Content]:
    """Both, where there is something to compare; no points for a relation that only one of the two has."""
    pair = compared(shown)
    if pair is None:
        return {}
    palette = shown.palette(dark)
    if not agreed(*pair).relations:
        return {}
    columns = {_pair_words(two): agreed(*two) for two in all_compared(shown)}
    numbers = [[column.overall, *column.relations.values()] for column in columns.values()]
    facts = [shown.named.without_local().to_query(), dark, numbers]
    below = {"agreement": Content(json.dumps(facts), lambda: _list(shown, pair, columns))}
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


def _pair_words(pair: tuple[Scores, Scores]) -> str:
    """What two results are read from, as the head of a column."""
    return " – ".join(basis_of(scores.provenance).basis.lower() for scores in pair)


def _list(shown: FunctionView, pair: tuple[Scores, Scores], columns: Mapping[str, RelationAgreement]) -> list[Any]:
    """The relations, those first on which the first two maps agree best; each leads to its own map.

    Where there are more than two maps, a column for every two of them.
    """
    agreement = columns[_pair_words(pair)]
    ordered = sorted(agreement.relations, key=lambda name: -agreement.relations[name])
    rows = []
    for name in ordered:
        rows.append(_row(shown, pair[0], name, [column.relations.get(name) for column in columns.values()]))
    header = []
    if len(columns) > 1:
        rows.append(_means(columns))
        titles = [html.Th(words, scope="col", className="num") for words in columns]
        header = [html.Thead(html.Tr([html.Th("Pearson's r"), html.Td(), *titles]))]
    first, second = [basis_of(scores.provenance).basis.lower() for scores in pair]
    taken = f"mean of {len(ordered)} relations" if len(ordered) > 1 else "one relation"
    words = (
        f"Pearson's r over all heads is {in_words(agreement.overall)} ({taken}), "
        f"with the {second}'s scores{averaged(shown)}. "
        f"At {HOLDS:g} or more, the {first}-only map is considered reliable."
    )
    return [
        html.P([words, *_found(shown, pair)], className="hint"),
        html.Div(html.Table([*header, html.Tbody(rows)], className=_table_class(columns)), className="tall"),
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


def _table_class(columns: Mapping[str, RelationAgreement]) -> str:
    """Bars beside the numbers only where there is one column of them."""
    return "counts agreed" if len(columns) == 1 else "counts agreed several"


def _means(columns: Mapping[str, RelationAgreement]) -> html.Tr:
    """The last row: the mean of the relations, by which a map is judged."""
    cells = [html.Td(in_words(column.overall), className="num") for column in columns.values()]
    return html.Tr([html.Th("mean", scope="row"), html.Td(), *cells], className="strong")


def _row(shown: FunctionView, scores: Scores, name: str, numbers: Sequence[float | None]) -> html.Tr:
    """A relation's r of every two maps, that of the first two as a bar as well."""
    item, r = scores.item(name), numbers[0] or 0.0
    link = html.A(item.title, href=address(shown, relation=name), **{"data-set": f"relation {name}"})
    share = {"width": f"{100 * max(r, 0):.0f}%", "background": tone_name(item.category)}
    bar = html.Span(html.I(style=share), className="bar")
    cells = [html.Td("" if number is None else in_words(number), className="num") for number in numbers]
    return html.Tr([html.Th(link, scope="row"), html.Td(bar), *cells])
