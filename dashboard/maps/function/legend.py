"""What the function map shows and its colours mean, in words, and what stands below it."""

import json
from typing import Any

from dash import html

from analysis.methods.relation_agreement import in_words
from analysis.results.scores import Scores
from dashboard.maps.function import comparison
from dashboard.maps.function.basis import address, bases, basis_of, better, carrier_words, has_carriers
from dashboard.maps.function.labels import BEYOND, COPY_LIKE, UNCERTAIN, UNSPECIFIC
from dashboard.maps.function.profile import HEIGHT, profile
from dashboard.maps.function.state import FunctionState
from dashboard.maps.legend import entry, ramp
from dashboard.maps.map import MapView
from dashboard.maps.section import Content, Section
from dashboard.maps.swatch import Swatch
from dashboard.palette import TINTS, Colours, blend

_DOES = {"both": "promotes or suppresses", "promote": "promotes", "suppress": "suppresses"}


def sentence(shown: MapView[FunctionState]) -> list[Any]:
    """How to read what is on the page, in one sentence that follows the controls."""
    state, does = shown.state, _DOES[shown.state.kind]
    start = f"Each square is one attention head of {shown.card.id}, {basis_of(shown.whole.provenance).about}; "
    what = _what(shown)
    carriers = f", {carrier_words(shown)}" if has_carriers(shown.whole) else ""
    if state.colour == "scores":
        end = f"{carriers}.{_filter(state)}"
        return [start, f"the stronger its colour, the more often it {does} ", *what, end, *_not_yet(shown)]
    best = f" Only the best {state.top} of each category are." if state.top else ""
    end = f" for more than {100 * state.tau:g} % of the word pairs{carriers}.{_filter(state)}{best}"
    return [start, f"it is coloured when it {does} ", *what, end, *_not_yet(shown)]


def _filter(state: FunctionState) -> str:
    """Which labels count, when not all do."""
    return f" Only labels {BEYOND} count." if state.labels == "beyond" else ""


def _not_yet(shown: MapView[FunctionState]) -> list[Any]:
    """How to get the map that reads what heads really read, where the model has none."""
    last = [method for method in bases() if method.judges][-1]
    if last.name in dict(shown.by_method):
        return []
    command = html.Code(last.command_line(shown.card.id))
    return [
        f" There is no map of it by the {last.basis.lower()} yet: compute it under Models and jobs, or run ",
        command,
        ".",
    ]


def warning(shown: MapView[FunctionState]) -> list[Any]:
    """That the map does not hold, by how much, and the way to the one that does."""
    found = better(shown)
    if found is None:
        return []
    method, agreement = found
    mine = basis_of(shown.whole.provenance).basis.lower()
    words = (
        f"For this model the {mine}-only map does not hold: over all heads its scores agree with the "
        f"{method.basis.lower()}'s only at r = {in_words(agreement.overall)}. "
    )
    link = html.A(
        f"See the map in the {method.basis.lower()}", href=address(shown, basis=method.name), **comparison.VIEW_LINK
    )
    return [words, link, "."]


def _what(shown: MapView[FunctionState]) -> list[Any]:
    if shown.state.relation:
        item = shown.result.item(shown.state.relation)
        return ["the targets of ", html.B(item.title), f" ({item.sentence})"]
    which = "any" if shown.state.how == "any" else "every"
    return ["the right words of ", html.B(which), " relation of the category"]


def legend(shown: MapView[FunctionState], palette: Colours) -> list[Any]:
    """A colour for each category and for several at once, tints below τ; or a colour bar of the scores."""
    panels, state = shown.panels, shown.state
    if state.colour == "scores":
        words = "score: the share of word pairs, in each panel's colour"
        return [ramp([palette.empty, palette.accent], words, ends=("0", "1"))]
    singles = [panel for panel in panels if panel.belongs is None]
    entries = [entry(palette.of(panel.tone), panel.title) for panel in singles]
    if panels[0].belongs is not None:
        most = max(2, int(panels[0].belongs.sum(0).max(initial=0)))
        for i, words in enumerate(("2 categories", "3 categories", "4 or more")):
            if i + 2 <= min(most, len(singles)):
                entries.append(entry(palette.several[i], words))
    entries += [entry(each.colour, each.words, "swatch framed", each.inside) for each in insides(shown, palette)]
    tints = [palette.tint(singles[0].tone, step) for step in range(1, TINTS)]
    entries.append(ramp(tints, f"unclassified, below τ = {state.tau:g}: the stronger, the nearer"))
    entries.append(entry(palette.empty, "score 0"))
    return entries


def insides(shown: MapView[FunctionState], palette: Colours, short: bool = False) -> list[Swatch]:
    """What cells that are not filled mean, where there are any; short in a picture, whose legend is one line."""
    panel, swatches = shown.panels[0], []
    if panel.hollow is not None and panel.hollow.any():
        words = f"hollow: {COPY_LIKE} (the source itself ranks higher) or {UNSPECIFIC} (shuffled targets do as well)"
        words = f"{COPY_LIKE} or {UNSPECIFIC}" if short else words
        swatches.append(Swatch(palette.faint, words, palette.empty))
    if panel.pale is not None and panel.pale.any():
        words = UNCERTAIN if short else f"lighter inside: {UNCERTAIN} (the 95 % interval contains τ)"
        swatches.append(Swatch(palette.faint, words, blend(palette.empty, palette.faint, 0.5)))
    return swatches


SECTIONS = (
    Section(
        "profile",
        "By layer",
        "Share of a layer's heads in each category, stacked: a head of two counts in both.",
        is_figure=True,
        height=HEIGHT,
        beside=True,
    ),
    Section("counts", "Counts", beside=True),
    *comparison.sections(),
    Section("absent"),
)


def contents(shown: MapView[FunctionState], dark: bool) -> dict[str, Content]:
    """Layer profile, counts, a comparison of two results, and the relations that say nothing about the model."""
    counted = [[panel.key, panel.title, panel.count] for panel in shown.panels]
    facts = [shown.card.fingerprint, shown.common.palette, dark]
    layers = profile(shown.panels[0], shown.common, shown.card.layers, dark)
    below = {
        "profile": Content(json.dumps([*facts, layers["data"]]), lambda: layers),
        "counts": Content(
            json.dumps([*facts, counted, shown.state.top, shown.state.labels]), lambda: _counts(shown, dark)
        ),
    }
    below |= comparison.contents(shown, dark)
    words = _not_applicable(shown.result)
    if words:
        below["absent"] = Content(words, lambda: [html.B("Not applicable to this model: "), words])
    return below


def _counts(shown: MapView[FunctionState], dark: bool) -> html.Table:
    """How many heads each panel's question is true of."""
    palette, rows = shown.palette(dark), []
    for panel in shown.panels:
        colour = palette.of(panel.tone) if panel.tone else palette.faint
        share = {"width": f"{100 * panel.count / shown.total:.1f}%", "background": colour}
        bar = html.Span(html.I(style=share), className="bar")
        number = html.Td(f"{panel.count}", className="num")
        rows.append(html.Tr([html.Th(panel.title, scope="row"), html.Td(bar), number]))
    only = f", the best {shown.state.top} of each panel" if shown.state.top else ""
    which = f", {BEYOND}" if shown.state.labels == "beyond" else ""
    caption = html.Caption(f"Heads above τ{which}, of {shown.total:,}{only}")
    return html.Table([caption, html.Tbody(rows)], className="counts")


def _not_applicable(scores: Scores) -> str:
    """The relations that say nothing about this model, with the reason; empty when all do."""
    items = [item for item in scores.provenance.items if not item.applicable]
    if not items:
        return ""
    least = scores.provenance.settings.get("min_pairs", 30)
    plain = f"pairs are single tokens of it, and {least} are needed"  # of a result that was stored without reasons
    reasons = [f"{item.title} ({item.reason or f'{item.kept} of {item.pairs} {plain}'})" for item in items]
    return f"{', '.join(reasons)}."
