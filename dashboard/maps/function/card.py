"""The function map's part of a head's card: a row for each relation, and where the numbers come from."""

import json
from typing import Any

import numpy as np
from dash import html

from analysis.data.relations import OWN
from analysis.models.card import HeadId
from analysis.relations.labels import copy_like
from analysis.results.provenance import JsonObject, ScoredItem
from analysis.results.scores import Scores
from dashboard.maps.function.basis import FunctionView, address, bases, basis_of, carrier_words, has_carriers
from dashboard.maps.function.best import RANKED, VERBS
from dashboard.maps.function.head import Effect, RelationRow, head_scores
from dashboard.maps.head_part import AskedHead, HeadPart, provenance_table
from dashboard.palette import tone_name

_TITLES = {"beyond": "β", "copied": "copied", "control": "control"}
_EXPLAINED = {
    "beyond": "of the hits, the share whose target outranks the source itself; below 0.5 a label is copy-like",
    "copied": "the share of all pairs whose source itself is among the k",
    "control": "the score with the targets shuffled among the pairs; above τ a label is unspecific",
}

_INTERVAL = "the interval of the larger score; below it that of the other, when it has hits"


def head_part(asked: AskedHead, shown: FunctionView | None, command: str) -> HeadPart:
    """The relations of a head; with several heads they stand in the same order in all cards."""
    title = basis_of(shown.whole.provenance).title if shown is not None else "Function map"
    heading = [] if asked.on_page else [html.H3(title), *_elsewhere(asked.head, shown)]
    rows = {row.item.name: row for row in head_scores(shown.result, asked.head)} if shown is not None else {}
    if shown is None or not rows:
        return HeadPart([*heading, html.P(["No function map yet: ", html.Code(command)], className="hint")])
    in_order = [rows[name] for name in ordered(shown.result, asked.pinned)]
    table = _relations(in_order, asked, shown)
    return HeadPart([*heading, table], [_provenance(shown)], wide=True)


def _elsewhere(head: HeadId, shown: FunctionView | None) -> list[html.P]:
    """What the scores are read from, with links to the head's page by the model's other results."""
    there = dict(shown.by_method) if shown is not None else {}
    links: list[Any] = []
    for method in bases():
        if shown is not None and method.name in there and method.name != shown.whole.provenance.method:
            links += [" · ", html.A(method.where, href=f"/head/{head}{address(shown, basis=method.name)[1:]}")]
    if shown is None or not links:
        return []
    here = basis_of(shown.whole.provenance).where
    return [html.P([f"What the head does {here}. The same ", *links[1:], "."], className="hint")]


def ordered(scores: Scores, heads: tuple[HeadId, ...]) -> list[str]:
    """Relations by the best score that any of the heads has."""
    best: dict[str, float] = {}
    for head in heads:
        for row in head_scores(scores, head):
            best[row.item.name] = max(best.get(row.item.name, -1.0), row.order)
    return sorted(best, key=lambda name: -best[name])


def _relations(rows: list[RelationRow], asked: AskedHead, shown: FunctionView) -> html.Div:
    """Bars to the right for what the head promotes, to the left for what it suppresses."""
    columns = _measured_columns(rows)
    body = [_relation_row(row, columns, asked, shown) for row in rows if row.item.applicable]
    header = [
        html.Th("Relation", scope="col"),
        html.Th("suppresses", scope="col", className="left"),
        html.Th("promotes", scope="col"),
        html.Th("95 % interval, hits / pairs", scope="col", className="num", title=_INTERVAL),
        *(html.Th(_TITLES[name], scope="col", className="num", title=_EXPLAINED[name]) for name in columns),
        html.Th(f"rank of {shown.total:,}", scope="col", className="num"),
    ]
    table = html.Table([html.Thead(html.Tr(header)), html.Tbody(body)], className="relations")
    return html.Div(table, className="wide")


def _measured_columns(rows: list[RelationRow]) -> list[str]:
    """Those of β, copied share and control that are known of any relation."""
    columns = []
    for name in _TITLES:
        values = [getattr(row.stronger, name) for row in rows]
        if not np.isnan(values).all():
            columns.append(name)
    return columns


def _relation_row(row: RelationRow, columns: list[str], asked: AskedHead, shown: FunctionView) -> html.Tr:
    colour = tone_name(row.item.category)
    best, second = row.stronger, row.second(0.0)
    link = shown.link(row.item.title, relation=row.item.name)
    tau = shown.state.tau
    return html.Tr(
        [
            html.Th([link, html.Span(_remarks(row, tau), className="remarks")], scope="row"),
            html.Td(_bar(row.suppress.score, colour), className="left"),
            html.Td(_bar(row.promote.score, colour)),
            html.Td([*_hits(row, asked.head, shown), *_second_interval(second)], className="num"),
            *(html.Td(_shares(best, second, name), className="num", **_label(_TITLES[name])) for name in columns),
            html.Td(str(best.rank) if best.score > 0 else "", className="num", **_label("rank")),
        ],
        className="strong" if best.score > tau else "",
        **{"data-effects": _effects(row)},
    )


def _label(title: str) -> dict[str, str]:
    """What a narrow card writes before a number, which has no column of its own there (assets/5-cards.css)."""
    return {"data-label": title}


def _remarks(row: RelationRow, tau: float) -> list[html.Small]:
    """What is to be said against its labels; scripts follow τ (assets/atlas/maps/function_card.mjs)."""
    return [html.Small(words, className="remark") for words in remark_words(row, tau)]


def remark_words(row: RelationRow, tau: float) -> list[str]:
    """The same as texts; of the weaker score with its verb."""
    said = row.stronger.remarks(tau)
    second = row.second(tau)
    if second is not None:
        said += [f"{VERBS[second.kind]}: {words}" for words in second.remarks(tau)]
    return said


def _effects(row: RelationRow) -> str:
    """What the scripts need to say which scores are labels at τ, and what speaks against them; the stronger first."""
    weaker = row.promote if row.stronger is row.suppress else row.suppress
    effects = [_plain(effect) for effect in (row.stronger, weaker) if not np.isnan(effect.score)]
    return json.dumps(effects)


def _plain(effect: Effect) -> JsonObject:
    control = None if np.isnan(effect.control) else effect.control
    return {
        "verb": VERBS[effect.kind],
        "score": effect.score,
        "low": effect.low,
        "high": effect.high,
        "copies": bool(copy_like(effect.beyond)),
        "control": control,
    }


def _second_interval(second: Effect | None) -> list[Any]:
    """Below the interval of the larger score, that of the other."""
    if second is None:
        return []
    return [html.Div(f"{VERBS[second.kind]} {second.low:.2f}–{second.high:.2f}", className="interval")]


def _shares(best: Effect, second: Effect | None, name: str) -> list[Any]:
    """β, copied share or control of the larger score, and below it of the other when it has hits."""
    below = [] if second is None else [html.Div(_share(getattr(second, name)), title=VERBS[second.kind])]
    return [_share(getattr(best, name)), *below]


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def _hits(row: RelationRow, head: HeadId, shown: FunctionView) -> list[Any]:
    """Hits of both kinds, each leading to the pairs behind it; one alone when the other has none."""
    best, kept = row.stronger, row.item.kept
    if np.isnan(best.score):
        return [row.missing]
    pieces: list[Any] = [html.Span(f"{best.low:.2f}–{best.high:.2f}", className="interval")]
    if not best.score > 0:
        return [*pieces, _pairs_button(f"0 / {kept}", row, "promote", head, shown)]
    promoted, suppressed = row.promote.hits, row.suppress.hits
    if suppressed:
        end = "," if promoted else ""
        pieces.append(_pairs_button(f"{_count(suppressed)} / {kept} suppressed{end}", row, "suppress", head, shown))
    if promoted:
        pieces.append(_pairs_button(f"{_count(promoted)} / {kept}", row, "promote", head, shown))
    return pieces


def _pairs_button(text: str, row: RelationRow, kind: str, head: HeadId, shown: FunctionView) -> html.Button:
    """A number of hits that opens the list of its pairs (scripts); of several carriers one at a time."""
    samples = shown.whole.samples if has_carriers(shown.whole) else []
    first = [shown.state.carriers] if shown.state.carriers in samples else samples[:1]
    where, called = basis_of(shown.whole.provenance).sampled
    asked = {
        "data-pairs": row.item.name,
        "data-head": str(head),
        "data-kind": kind,
        "data-method": shown.whole.provenance.method,
        "data-own": shown.state.own if row.item.category == OWN else "",
        "data-result": shown.state.result,
        "data-sample": "".join(first),
        "data-samples": "\n".join(samples),
        "data-verb": VERBS[kind],
        "data-title": row.item.title,
        "data-place": RANKED[kind],
        "data-where": where,
        "data-called": called,
    }
    return html.Button(text, className="pairs", title=_pairs_title(shown, first) + _several(row.item), **asked)


def _several(item: ScoredItem) -> str:
    """How many of the pairs have a source of several tokens."""
    return f" ({item.several} of the {item.kept} have a source of several tokens)" if item.several else ""


def _pairs_title(shown: FunctionView, first: list[str]) -> str:
    """What opens; of a score over several carriers the pairs of one."""
    count = len(shown.whole.samples)
    if not first or count < 2 or shown.state.carriers in shown.whole.samples:
        return "The pairs behind this score"
    where, samples = basis_of(shown.whole.provenance).sampled
    words = f"mean of {count} {samples}" if shown.state.carriers == "mean" else carrier_words(shown)
    return f"{words[:1].upper()}{words[1:]}: opens the pairs {where} “{first[0]}”"


def _count(hits: float) -> str:
    """A whole number; the mean over several carriers may have a decimal."""
    return f"{hits:.0f}" if hits == round(hits) else f"{hits:.1f}"


def _bar(score: float, colour: str) -> html.Span:
    share = 0.0 if np.isnan(score) else score
    text = f"{share:.2f}" if share else ""
    bar = html.I(style={"width": f"{100 * share:.1f}%", "background": colour})
    return html.Span([bar, html.Span(text)], className="bar")


def _own_settings(shown: FunctionView) -> str:
    """The carriers, or what else the basis depends on."""
    if has_carriers(shown.whole):
        phrases = ", ".join(f"“{carrier}”" for carrier in shown.whole.samples)
        return f"carriers {phrases}; shown {carrier_words(shown)}"
    return basis_of(shown.whole.provenance).report_settings(shown.whole.provenance)


def _provenance(shown: FunctionView) -> html.Details:
    """Where the numbers come from."""
    facts = shown.result.provenance
    card, settings, method = facts.model, facts.settings, basis_of(facts)
    rows = {
        "model": f"{card.id} ({card.family}, {len(card.layers)} × {card.heads} heads)",
        "fingerprint": card.fingerprint[:16],
        "weights": card.note or card.dtype,
        "method": f"{method.title.lower()}, version {facts.version}",
        "settings": f"k = {settings['k_standard']}, copying {settings['k_copying']}; {_own_settings(shown)}",
        "computed": f"{facts.date} on {facts.device}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.libraries.items()),
    }
    return provenance_table("Provenance of the function map", rows)
