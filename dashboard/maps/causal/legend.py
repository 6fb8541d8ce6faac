"""What the colours of the causal map mean."""

from analysis.methods.causal.result import HEAD_ROLES
from dashboard.maps.causal import trial
from dashboard.maps.causal.colours import glow, light, mixtures, scale_words
from dashboard.maps.causal.gates import COLUMN_NAMES, PREVIEW, is_of_one_seed
from dashboard.maps.causal.panels import NAMED_ROLES, NEAR_ZERO, shown_columns
from dashboard.maps.causal.words import CausalView
from dashboard.maps.entry import LegendEntry
from dashboard.maps.look import slopes
from dashboard.maps.sentences import number
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours

_SWATCH = 7  # squares on a side of the legend's swatch
_SIDES = ("N ↑", "F →", "facilitation F from left to right, interference N from bottom to top")
_CORNERS = ("needs it (F)", "hurts it (N)", "both (mostly in different seeds)", "neither")
_ALONE = {
    HEAD_ROLES[0]: "how much the task needs it (F, facilitation)",
    HEAD_ROLES[1]: "how much it hurts the task (N, interference)",
    HEAD_ROLES[2]: "how little it matters (R, irrelevance)",
}
_NOTHING = {"both": "all gradients are 0 here", "always": "no head helps or hurts on every prompt"}
_HEADINGS = {
    "both": "heads that help or hurt the tasks",
    HEAD_ROLES[0]: "heads that tasks need, by facilitation F",
    HEAD_ROLES[1]: "heads that hurt tasks, by interference N",
    HEAD_ROLES[2]: "heads that do not matter to tasks, by irrelevance R",
}
_SLOPE = "gate gradient g = ∂loss/∂gate: below 0 the head seems to help, above 0 to hurt (first-order estimate)"


def legend(shown: CausalView, palette: Colours) -> list[LegendEntry]:
    """A square of both roles, or a colour bar."""
    state = shown.state
    if state.gates == PREVIEW:
        words = f"{_SLOPE}; {_scale(shown)}"
        return [LegendEntry(words, kind="ramp", shades=tuple(slopes(palette, 9)), ends=("−", "+"))]
    fainter = f"fainter below θ = {number(state.threshold)}"
    if state.gates in HEAD_ROLES:
        shades = tuple(glow(palette, state.gates, level) for level in (0, 0.5, 1))
        return [LegendEntry(f"{_ALONE[state.gates]}; {fainter}", kind="ramp", shades=shades, ends=("0", "1"))]
    helps, hurts, both, neither = corner_words(shown)
    return [
        LegendEntry(helps, light(palette, 1, 0)),
        LegendEntry(hurts, light(palette, 0, 1)),
        LegendEntry(both, light(palette, 1, 1), "outlined"),
        LegendEntry(neither, light(palette, 0, 0), "outlined"),
        LegendEntry(fainter, kind="square", shades=_square(palette), ends=_SIDES),
    ]


def _scale(shown: CausalView) -> str:
    """How far the preview's colours go; where all is 0 they go nowhere."""
    scale = scale_words(shown.panels)
    if not scale:
        return _NOTHING.get(shown.state.columns, _NOTHING["both"])
    return f"full colour at {scale}, not counted below {number(100 * NEAR_ZERO)} % of that"


def corner_words(shown: CausalView) -> tuple[str, str, str, str]:
    """What the four corners of the square mean."""
    helps, hurts, both, neither = _CORNERS
    alone = bool(shown.state.one_seed) or is_of_one_seed(shown.result)
    return helps, hurts, "both" if alone else both, neither


def _square(palette: Colours) -> tuple[str, ...]:
    """Every mixture of the two roles, F across and N up."""
    shades = mixtures(palette, _SWATCH)
    rows = [shades[hurts::_SWATCH] for hurts in reversed(range(_SWATCH))]
    return tuple(shade for row in rows for shade in row)


def swatches(shown: CausalView, palette: Colours) -> list[Swatch]:
    """The same for a picture."""
    gates = shown.state.gates
    if gates == PREVIEW:
        scale = scale_words(shown.panels)
        if not scale:
            return [Swatch(palette.slope(0), f"g = 0: {_scale(shown)}")]
        return [
            Swatch(palette.slope(-1), "g below 0: helps"),
            Swatch(palette.slope(0), "0"),
            Swatch(palette.slope(1), f"g above 0: hurts; full colour at {scale}"),
        ]
    if gates in HEAD_ROLES:
        ends = (1, 0)
        return [Swatch(glow(palette, gates, end), f"{NAMED_ROLES[gates]} = {end}") for end in ends]
    words = corner_words(shown)
    corners = ((1, 0), (0, 1), (1, 1), (0, 0))
    return [Swatch(light(palette, *corner), text) for corner, text in zip(corners, words, strict=True)]


def heading(shown: CausalView) -> str:
    """What a picture says of itself: which score of which columns, from which threshold on."""
    state = shown.state
    columns = shown_columns(shown.result, state)
    names = " and ".join(COLUMN_NAMES.get(column, column) for column in columns)
    if state.gates == PREVIEW:
        over = f"{names.lower() if state.columns == 'both' else names} over the prompts"
        return f"gradient preview, a first-order estimate of which heads help and hurt ({over})"
    first = f"first {state.first_seeds} " if state.first_seeds else ""
    over = f" over the {first}seeds" if set(columns) <= set(COLUMN_NAMES) else ""
    of_trials = trial.trials(shown)
    warned = f", trial fit: {', '.join(of_trials)}" if of_trials else ""
    return f"{_HEADINGS[state.gates]} ({names}{over}, θ = {state.threshold:g}, fainter below){warned}"
