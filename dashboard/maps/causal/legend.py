"""What the causal map shows and its colours mean, in words."""

from typing import Any

import numpy as np
from dash import html

from analysis.methods.causal.result import ROLES
from dashboard.maps.causal.colours import scale_words
from dashboard.maps.causal.gates import LETTERS, PREVIEW, fitted_seeds, is_running, shown_tasks
from dashboard.maps.causal.state import CausalState
from dashboard.maps.legend import entry, ramp
from dashboard.maps.map import MapView
from dashboard.maps.swatch import Swatch
from dashboard.palette import Colours

Shown = MapView[CausalState]

_SWATCH = 7  # squares on a side of the legend's swatch
_PROMPTS = {
    "both": "Shown is the mean over the prompts; Always and Any are about prompts here too.",
    "always": "Shown is what holds for every prompt, 0 where prompts disagree.",
    "any": "Shown is the steepest gradient that any prompt gives.",
}


def sentence(shown: Shown) -> list[Any]:
    """How to read the causal map, in one sentence that follows the controls."""
    state = shown.state
    start = f"Each cell is one attention head of {shown.card.id}; "
    if state.gates == PREVIEW:
        what = "a first-order estimate, from gradients alone, of whether opening it helps or hurts the task"
        return [start, "its colour is ", html.B(what), f". Fitted gates may say otherwise. {_PROMPTS[state.columns]}"]
    helps, hurts = ("green", "red") if shown.common.palette == "paper" else ("blue", "orange")
    heads = {
        "both": [f"{helps} light means that the task ", html.B("needs"), " it (facilitation F), ",
                 f"{hurts} light that it ", html.B("hurts"), " the task (interference N)"],
        "facilitation": ["the brighter, the more the task ", html.B("needs"), " it (facilitation F)"],
        "interference": ["the brighter, the more it ", html.B("hurts"), " the task (interference N)"],
        "irrelevance": ["the brighter, the ", html.B("less it matters"), " to the task (irrelevance R)"],
    }[state.gates]  # fmt: skip
    return [start, *heads, f". {_seeds_shown(shown)}"]


def _seeds_shown(shown: Shown) -> str:
    causal, state = shown.result, shown.state
    if state.one_seed:
        return f"Shown is seed {state.one_seed} alone."
    counts = {len(fitted_seeds(causal, task)) for task in shown_tasks(causal, state)}
    asked = causal.provenance.settings.get("seeds", causal.score.sizes["sample"])
    so_far = f" of {asked}, so far" if is_running(causal) else ""
    if counts == {0} and not so_far:
        return "Nothing is fitted yet for what is shown; Preview shows the first-order estimate."
    if counts == {1}:
        return f"One seed{so_far}."
    number = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"Always: in each of the {number} seeds{so_far}. Any: in at least one."


def legend(shown: Shown, palette: Colours) -> list[Any]:
    """A square of both channels, or a colour bar."""
    state = shown.state
    if state.gates == PREVIEW:
        shades = [palette.slope(share) for share in np.linspace(-1, 1, 9)]
        words = "gate gradient g = ∂loss/∂gate: below 0 the head seems to help, above 0 to hurt (first-order estimate)"
        return [ramp(shades, f"{words}; full colour at {scale_words(shown.panels)}", ends=("−", "+"))]
    if state.gates in ROLES:
        shades = [palette.glow(state.gates, level) for level in (0, 0.5, 1)]
        words = f"{LETTERS[state.gates]}, {state.gates}; dimmed below θ = {state.threshold:g}"
        return [ramp(shades, words, ends=("0", "1"))]
    return [_square(palette), *_corners(palette), html.Span(f"dimmed below θ = {state.threshold:g}")]


def _square(palette: Colours) -> html.Span:
    """F across, N up: every mixture of the two lights."""
    steps = [i / (_SWATCH - 1) for i in range(_SWATCH)]
    cells = [html.I(style={"background": palette.light(f, n)}) for n in reversed(steps) for f in steps]
    label = "Colours: facilitation F from left to right, interference N from bottom to top"
    square = html.Span(cells, className="channels", role="img", **{"aria-label": label})
    return html.Span(
        [html.Span("N ↑", className="channel-up"), square, html.Span("F →", className="channel-right")],
        className="legend-entry",
    )


def _corners(palette: Colours) -> list[Any]:
    return [
        entry(palette.light(1, 0), "facilitating (F)"),
        entry(palette.light(0, 1), "interfering (N)"),
        entry(palette.light(1, 1), "both", "swatch outlined"),
        entry(palette.light(0, 0), "neither", "swatch outlined"),
    ]


def swatches(shown: Shown, palette: Colours) -> list[Swatch]:
    """The same for a picture."""
    gates = shown.state.gates
    if gates == PREVIEW:
        return [
            Swatch(palette.slope(-1), "g below 0: helps"),
            Swatch(palette.slope(0), "0"),
            Swatch(palette.slope(1), f"g above 0: hurts; full colour at {scale_words(shown.panels)}"),
        ]
    if gates in ROLES:
        return [Swatch(palette.glow(gates, 1), f"{gates} 1"), Swatch(palette.glow(gates, 0), f"{gates} 0")]
    return [
        Swatch(palette.light(1, 0), "facilitating (F)"),
        Swatch(palette.light(0, 1), "interfering (N)"),
        Swatch(palette.light(1, 1), "both"),
        Swatch(palette.light(0, 0), "neither"),
    ]


def heading(state: CausalState) -> str:
    """What a picture says of itself."""
    if state.gates == PREVIEW:
        return "gradient preview, a first-order estimate of which heads help and hurt"
    seeds = f"seed {state.one_seed}" if state.one_seed else "Always and Any over the seeds"
    return f"heads that tasks need and that hurt them ({seeds}, θ = {state.threshold:g}, dimmed below)"
