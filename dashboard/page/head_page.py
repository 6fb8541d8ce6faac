"""A page per head: what is known of it in words, then its numbers from every map."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from dash import dcc, html

from analysis import __version__
from analysis.evidence.heads import SimilarHead, heads_like, strongest_findings, summary
from analysis.models.card import HeadId, ModelCard
from analysis.results.scores import ranks
from dashboard.addresses import map_address, prompt_address
from dashboard.maps import MAPS
from dashboard.maps.head_part import AskedHead
from dashboard.maps.panel import Panel
from dashboard.page.small_map import small_map
from dashboard.palette import Colours, colours, tones
from dashboard.query import named
from dashboard.view import View


def head_address(view: View, head: HeadId) -> str:
    """Where a head's page is: the view without its pins, so that the settings of the maps come along."""
    return f"/head/{head}{replace(view.named, pins=()).to_query()}"


def head_title(view: View, head: HeadId) -> str:
    """What the browser's tab and a chat's preview say."""
    return f"{head} of {view.card.id} – Head Atlas"


def head_page(view: View, head: HeadId) -> list[Any]:
    """The page's content."""
    palette = colours(view.state.palette, dark=False)
    return [
        _header(view, head),
        html.Main(
            [
                html.H1([str(head), html.Small(f" of {view.card.id}")]),
                html.P(summary(view.results, head), className="summary"),
                html.Div(_maps(view, head), className="small-maps"),
                html.Section([html.H2("On every map"), _parts(view, head, palette)], className="card head-card"),
                _alike(view, head),
                _citation(view, head),
            ],
            className="head-page",
            style=tones(palette),
            **{"data-model": named(view.card)},
        ),
    ]


def _header(view: View, head: HeadId) -> html.Header:
    there = replace(view.named, pins=(head,))
    return html.Header(
        [
            html.A("Head Atlas", href="/", className="brand"),
            html.A("On the map", href=f"/{there.to_query()}", className="button"),
            html.A("On my prompt", href=prompt_address(view.card, head), className="button"),
            *_neighbours(view, head),
            html.Div(className="spring"),
            search_form(view.card),
            copy_button(),
        ],
        className="top",
    )


def copy_button() -> html.Button:
    """Copies the page's address; a script listens."""
    return html.Button("Copy link", type="button", className="button", **{"data-copy": "link"})


def _neighbours(view: View, head: HeadId) -> list[Any]:
    """Links to the head before and the head after."""
    card = view.card
    place = card.layers.index(head.layer) * card.heads + head.head
    links = []
    for words, other in (("← {}", place - 1), ("{} →", place + 1)):
        if 0 <= other < len(card.layers) * card.heads:
            name = HeadId(card.layers[other // card.heads], other % card.heads)
            links.append(html.A(words.format(name), href=head_address(view, name), className="button"))
    return links


def _maps(view: View, head: HeadId) -> list[Any]:
    """A panel of every map that the model has, with the head outlined; it leads to the map."""
    figures = []
    for each in MAPS:
        shown = view.of(each) if each.own_view else None
        if shown is not None:
            at = _telling(shown.panels, (view.card.layers.index(head.layer), head.head))
            title = shown.panels[at].title
            pictures = []
            for theme, dark in (("light-only", False), ("dark-only", True)):
                look = each.looks(shown, colours(view.state.palette, dark))[at]
                pictures.append(html.Span(small_map(title, look, view.card, head), className=theme))
            there = replace(view.named, view=each.name, pins=(head,))
            caption = html.Figcaption(f"{each.title}: {title}")
            figures.append(html.A(html.Figure([*pictures, caption]), href=f"/{there.to_query()}"))
    return figures


def _telling(panels: Sequence[Panel], cell: tuple[int, int]) -> int:
    """The place of the panel that says most of a head: of all categories, else of its best rank, where it belongs."""
    if panels[0].belongs is not None:
        return 0
    orders = [(not panel.member[cell], int(ranks(np.abs(panel.value))[cell])) for panel in panels]
    return orders.index(min(orders))


def _parts(view: View, head: HeadId, palette: Colours) -> html.Div:
    """What every map says of the head, and where its numbers come from."""
    content: list[Any] = []
    facts: list[Any] = []
    for each in MAPS:
        asked = AskedHead(head, (head,), view.card, palette, on_page=False)
        part = each.head_part(asked, view.of(each))
        if part is not None:
            content += part.content
            facts += part.facts
    return html.Div([*content, *_mates(view, head), *facts])


def _mates(view: View, head: HeadId) -> list[Any]:
    mates = view.card.group_mates(head)
    if not mates:
        return []
    links = [html.A(str(mate), href=head_address(view, mate), className="mate") for mate in mates]
    return [html.H3("Shares its value matrix with"), html.P(links, className="mates")]


def _alike(view: View, head: HeadId) -> html.Section:
    """Heads whose scores of all maps point in the same direction."""
    alike = heads_like(view.results, view.card, head)
    rows = [_alike_row(view, other) for other in alike]
    words = (
        "By the cosine of all their scores; below each, the two that add most to it."
        if rows
        else "No other head has scores like these."
    )
    content: list[Any] = [html.H2("Similar heads"), html.P(words, className="hint")]
    if rows:
        content.append(html.Table(html.Tbody(rows)))
    return html.Section(content, className="card")


def _alike_row(view: View, alike: SimilarHead) -> html.Tr:
    findings = strongest_findings(view.results, alike.head)
    words = findings[0].text if findings else ""
    link = html.A(str(alike.head), href=head_address(view, alike.head))
    by = html.Div(f"alike in {' · '.join(alike.by)}", className="hint")
    cosine = html.Td(f"{alike.cosine:.2f}", className="num")
    return html.Tr([html.Th(link, scope="row"), cosine, html.Td([words, by])])


def _citation(view: View, head: HeadId) -> html.Section:
    card = view.card
    lines = [
        f"{head} of {card.id}, fingerprint {card.fingerprint[:16]}, {card.note or card.dtype}.",
        f"Head Atlas {__version__}, {head_address(view, head)}",
    ]
    papers = []
    for each in MAPS:
        if each.paper is not None:
            papers.append(html.Li(html.A(each.paper.words, href=each.paper.address)))
    return html.Section(
        [html.H2("Cite"), html.P(html.Code(" ".join(lines))), html.P("The methods:"), html.Ul(papers)],
        className="card",
    )


def search_page(view: View, text: str, listed: Sequence[Any]) -> list[Any]:
    """The answers to a search, the strongest first, each a link to a head's page."""
    rows = []
    for answer in listed:
        link = html.A(str(answer.head), href=head_address(view, answer.head))
        words = [html.P(finding.text) for finding in answer.findings[:2]]
        rows.append(html.Tr([html.Th(link, scope="row"), html.Td(words)]))
    asked = bool(text.strip())
    nothing = "No head was found for these words. Try" if asked else "Search for"
    examples = f"{nothing} a relation, a token, a task, or a head's name."
    body: Any = html.Table(html.Tbody(rows)) if rows else html.P(examples)
    return [
        _header_of_search(view.card, text),
        html.Main(
            [
                html.H1(f"Heads of {view.card.id}" + (f": {text}" if asked else "")),
                html.Section(body, className="card"),
            ],
            className="head-page",
        ),
    ]


def _header_of_search(card: ModelCard, text: str) -> html.Header:
    back = html.A("Maps", href=map_address(card), className="button")
    brand, spring = html.A("Head Atlas", href="/", className="brand"), html.Div(className="spring")
    return html.Header([brand, back, spring, search_form(card, text), copy_button()], className="top")


def search_form(card: ModelCard, text: str = "") -> html.Form:
    """A field that leads to the answers; it needs no script."""
    fields = [
        dcc.Input(type="hidden", name="model", value=named(card)),
        dcc.Input(type="search", name="q", value=text, placeholder="capital, Paris, L23H4 …"),
    ]
    return html.Form(
        html.Label([html.Span("Search heads", className="unseen"), *fields]), action="/search", method="get"
    )
