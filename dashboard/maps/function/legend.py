"""What the page shows and its colours mean, in words, and the counts beside them."""

from typing import Any

import numpy as np
from dash import html

from analysis.results.scores import Missing, Scores
from dashboard.maps.function.panels import Panel, reasons
from dashboard.palette import TINTS, Colours, colours
from dashboard.state import ViewState
from dashboard.view import View


def sentence(view: View) -> list[Any]:
    """How to read what is on the page, in one sentence that follows the controls."""
    state = view.state
    does = {"both": "promotes or suppresses", "promote": "promotes", "suppress": "suppresses"}[state.kind]
    if state.relation:
        item = view.scores.item(state.relation)
        what = ["the targets of ", html.B(item["title"]), f" ({item['sentence']})"]
    elif state.how == "any":
        what = ["the right words of ", html.B("any"), " relation of the category"]
    else:
        what = ["the right words of ", html.B("every"), " relation of the category"]
    best = f" Only the best {state.top} of each category are." if state.top else ""
    start = f"Each square is one attention head of {view.scores.provenance.model.id}; "
    if state.colour == "scores":
        return [start, f"the stronger its colour, the more often it, by its weights alone, {does} ", *what, "."]
    end = f" for more than {100 * state.tau:g} % of the word pairs.{best}"
    return [start, f"it is coloured when, by its weights alone, it {does} ", *what, end]


def legend(panels: tuple[Panel, ...], state: ViewState, dark: bool, failure: str = "") -> list[Any]:
    """The colours that the maps on the page use, most telling first."""
    palette = colours(state.palette, dark)
    missing = missing_entries(panels, palette, failure)
    if all(np.isnan(panel.value).all() for panel in panels):
        return missing
    if state.colour == "scores":
        return [_score_ramp(palette), *missing]
    singles = [panel for panel in panels if panel.belongs is None]
    entries = [entry(palette.of(panel.tone), panel.title) for panel in singles]
    if panels[0].belongs is not None:
        most = int(panels[0].belongs.sum(0).max(initial=0))
        words = ("2 categories", "3 categories", "4 or more")
        entries += [
            entry(palette.several[i], words[i]) for i in range(3) if i + 2 <= max(most, 2) and i + 2 <= len(singles)
        ]
    tints = [palette.tint(singles[0].tone, step) for step in range(1, TINTS)]
    entries.append(ramp(tints, f"unclassified, below τ = {state.tau:g}: the stronger, the nearer"))
    entries.append(entry(palette.empty, "score 0"))
    return entries + missing


def _score_ramp(palette: Colours) -> html.Span:
    shades = [palette.empty, palette.accent]
    return ramp(shades, "score: the share of word pairs, in each panel's colour", ends=("0", "1"))


def missing_entries(panels: tuple[Panel, ...], palette: Colours, failure: str) -> list[Any]:
    """Only the reasons that occur; a failure says why."""
    why = {Missing.FAILED: f": {failure}"} if failure else {}
    return [
        entry(palette.missing[reason], reason.words + why.get(reason, ""), "swatch outlined")
        for reason in reasons(panels)
    ]


def entry(colour: str, words: str, name: str = "swatch") -> html.Span:
    """A colour and what it means."""
    return html.Span([html.I(className=name, style={"background": colour}), words], className="legend-entry")


def ramp(shades: list[str], words: str, ends: tuple[str, str] | None = None) -> html.Span:
    """A colour bar, with the numbers at its ends if there are any."""
    gradient = {"background": f"linear-gradient(90deg, {', '.join(shades)})"}
    bar = [html.I(className="ramp", style=gradient)]
    scale = [html.Span(ends[0]), *bar, html.Span(ends[1])] if ends else bar
    return html.Span([*scale, words], className="legend-entry")


def counts(panels: tuple[Panel, ...], scores: Scores, state: ViewState, dark: bool) -> list[Any]:
    """How many heads each panel's question is true of."""
    palette = colours(state.palette, dark)
    card = scores.provenance.model
    total = len(card.layers) * card.heads
    rows = []
    for panel in panels:
        colour = palette.of(panel.tone) if panel.tone else palette.faint
        bar = html.Span(
            html.I(style={"width": f"{100 * panel.count / total:.1f}%", "background": colour}), className="bar"
        )
        rows.append(
            html.Tr([html.Th(panel.title, scope="row"), html.Td(bar), html.Td(f"{panel.count}", className="num")])
        )
    shown = f", the best {state.top} of each panel" if state.top else ""
    caption = html.Caption(f"Heads above τ, of {total:,}{shown}")
    return [html.Table([caption, html.Tbody(rows)], className="counts")]


def not_applicable(scores: Scores) -> list[Any]:
    """The relations that say nothing about this model, with the reason."""
    items = [item for item in scores.provenance.items if not item["applicable"]]
    if not items:
        return []
    least = scores.provenance.settings.get("min_pairs", 30)
    names = ", ".join(f"{item['title']} ({item['kept']} of {item['pairs']} pairs)" for item in items)
    return [html.B("Not applicable to this model: "), f"{names}. At least {least} pairs must be single tokens of it."]
