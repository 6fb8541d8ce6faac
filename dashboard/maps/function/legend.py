"""What the colours of the function map mean, what stands above it and below it."""

from typing import Any

from dash import html

from analysis.relations.agreement import in_words
from analysis.results.scores import Scores
from dashboard.maps.counts import PanelCounts
from dashboard.maps.entry import LegendEntry
from dashboard.maps.function import comparison
from dashboard.maps.function.basis import address, averaged, basis_of, better
from dashboard.maps.function.colours import SEVERAL, SEVERAL_TONES, TINTS, tint
from dashboard.maps.function.labels import BEYOND, COPY_LIKE, UNCERTAIN, UNSPECIFIC
from dashboard.maps.function.profile import HINT
from dashboard.maps.function.state import FunctionState
from dashboard.maps.map import MapView
from dashboard.maps.section import Content, Section
from dashboard.maps.sentences import number
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours, blend

HOLLOW_WORDS = (
    f"hollow: {COPY_LIKE} (the source itself ranks higher) or {UNSPECIFIC} (shuffled targets score above τ, too)"
)
PALE_WORDS = f"lighter inside: {UNCERTAIN} (the 95 % interval contains τ)"
HALF_WORDS = "lower left half: suppresses (pushes the right words down)"
HALF_ABOVE_WORDS = f"{HALF_WORDS}, shown above τ only"
SCORE_WORDS = "score: the share of word pairs, in each panel's colour"


def warning(shown: MapView[FunctionState]) -> list[Any]:
    """That the map does not hold, by how much, and the way to the one that does."""
    holding = better(shown)
    if holding is None:
        return []
    method, agreement = holding
    mine = basis_of(shown.whole.provenance).basis.lower()
    words = (
        f"For this model the {mine}-only map is not reliable: over all heads, its scores correlate with the "
        f"{method.basis.lower()}'s{averaged(shown)} at only r = {in_words(agreement.overall)}. "
    )
    link = html.A(
        f"See the map in the {method.basis.lower()}",
        href=address(shown, basis=method.name),
        **{"data-set": f"basis {method.name}"},
    )
    return [words, link, "."]


def legend(shown: MapView[FunctionState], palette: Colours) -> list[LegendEntry]:
    """A colour for each category and for several at once, marks, tints below τ; or a colour bar of the scores."""
    panels, state = shown.panels, shown.state
    if state.colour == "scores":
        bar = LegendEntry(SCORE_WORDS, kind="ramp", shades=(palette.empty, palette.accent), ends=("0", "1"))
        return [bar, *_half(shown, palette), *_framed(shown, palette)]
    singles = [panel for panel in panels if panel.belongs is None]
    entries = [LegendEntry(panel.title, palette.of(panel.tone)) for panel in singles]
    entries += [LegendEntry(each.words, each.colour) for each in several(shown, palette)]
    entries += _half(shown, palette)
    entries += _framed(shown, palette)
    tints = tuple(tint(palette, singles[0].tone, step) for step in range(1, TINTS))
    entries.append(
        LegendEntry(f"below τ = {number(state.tau)} ({palette.stronger} = closer)", kind="ramp", shades=tints)
    )
    entries.append(LegendEntry("score 0", palette.empty))
    return entries


def several(shown: MapView[FunctionState], palette: Colours) -> list[Swatch]:
    """Colours for heads of several categories, up to as many as any head has."""
    whole = shown.panels[0]
    if whole.belongs is None:
        return []
    most = min(max(2, int(whole.belongs.sum(0).max(initial=0))), len(whole.categories))
    return [Swatch(palette.of(SEVERAL_TONES[i]), words) for i, words in enumerate(SEVERAL) if i + 2 <= most]


def _half(shown: MapView[FunctionState], palette: Colours) -> list[LegendEntry]:
    """What half a square means, where there is one."""
    if not suppresses(shown):
        return []
    words = HALF_WORDS if shown.state.colour == "scores" else HALF_ABOVE_WORDS
    return [LegendEntry(words, palette.faint, "half", palette.empty)]


def _framed(shown: MapView[FunctionState], palette: Colours) -> list[LegendEntry]:
    """What squares that are not filled mean, where there are any."""
    return [LegendEntry(each.words, each.colour, "framed", each.inside) for each in insides(shown, palette)]


def suppresses(shown: MapView[FunctionState]) -> bool:
    """Whether any square on the maps is half of one: by score also below τ, where tints by category have no sign."""
    in_scores = shown.state.colour == "scores"
    halves = [panel.falls if in_scores else panel.half for panel in shown.panels]
    return any(flags is not None and bool(flags.any()) for flags in halves)


def insides(shown: MapView[FunctionState], palette: Colours, short: bool = False) -> list[Swatch]:
    """What cells that are not filled mean, where there are any; short in a picture, whose legend is one line."""
    panel, swatches = shown.panels[0], []
    if panel.hollow is not None and panel.hollow.any():
        words = f"{COPY_LIKE} or {UNSPECIFIC}" if short else HOLLOW_WORDS
        swatches.append(Swatch(palette.faint, words, palette.empty))
    if panel.pale is not None and panel.pale.any() and shown.state.colour != "scores":
        words = UNCERTAIN if short else PALE_WORDS
        swatches.append(Swatch(palette.faint, words, blend(palette.empty, palette.faint, 0.5)))
    return swatches


SECTIONS = (
    Section("profile", "By layer", HINT, beside=True, scripted=True),
    Section("counts", "Counts", beside=True, scripted=True),
    *comparison.sections(),
    Section("absent"),
)


def contents(shown: MapView[FunctionState], dark: bool) -> dict[str, Content]:
    """Layer profile, counts, a comparison of two results, and the relations that say nothing about the model."""
    below = {key: Content("", lambda: None) for key in ("profile", "counts")} if shown.result.items() else {}
    below |= comparison.contents(shown, dark)
    words = _not_applicable(shown.result)
    if words:
        below["absent"] = Content(words, lambda: [html.B("Not applicable to this model: "), words])
    return below


def counts(shown: MapView[FunctionState], palette: Colours) -> PanelCounts | None:
    """How many heads each panel's question is true of."""
    if not shown.result.items():
        return None
    rows = []
    for panel in shown.panels:
        colour = palette.of(panel.tone) if panel.tone else palette.faint
        rows.append((panel.title, panel.count, colour, shown.total))
    return PanelCounts(_caption(shown.total, shown.state), tuple(rows))


def _caption(total: int, state: FunctionState) -> str:
    """What is counted."""
    which = f", {BEYOND}" if state.labels == "beyond" else ""
    only = f", the top {state.top} per category" if state.top else ""
    return f"Heads above τ{which}, of {total:,}{only}"


def _not_applicable(scores: Scores) -> str:
    """The relations that say nothing about this model, with the reason; empty when all do."""
    items = [item for item in scores.provenance.items if not item.applicable]
    if not items:
        return ""
    least = scores.provenance.settings.get("min_pairs", 30)
    plain = f"pairs are single tokens of it, and {least} are needed"  # of a result that was stored without reasons
    reasons = [f"{item.title} ({item.reason or f'{item.kept} of {item.pairs} {plain}'})" for item in items]
    return f"{', '.join(reasons)}."
