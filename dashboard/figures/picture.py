"""The maps as a picture that stands alone: title, legend and provenance are in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis.methods.causal.plan import METHOD, ROLES
from analysis.results.provenance import Provenance
from dashboard.figures.numbers import plain
from dashboard.maps.causal.gates import scale_words
from dashboard.maps.function.panels import Panel, reasons
from dashboard.palette import Colours, colours
from dashboard.state import ViewState

_ABOVE, _BELOW = 64, 52  # pixels for title and legend, and for the provenance
_PAPER = {False: "#ffffff", True: "#14171c"}


def picture(
    figure: go.Figure, panels: Sequence[Panel], state: ViewState, provenance: Provenance, dark: bool = False
) -> go.Figure:
    """The same maps on paper of their own."""
    palette = colours(state.palette, dark)
    height = figure.layout.height
    figure.update_layout(
        height=height + _ABOVE + _BELOW,
        margin={"l": 8, "r": 8, "t": _ABOVE, "b": _BELOW, "autoexpand": False},
        width=figure.layout.width + 16,
        paper_bgcolor=_PAPER[dark],
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1 + 2 / height,
            "yanchor": "bottom",
            "itemclick": False,
            "bgcolor": "rgba(0,0,0,0)",
        },
    )
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    for trace, panel in zip(maps, panels, strict=True):
        _add_hover(trace, panel, state, provenance)
    _add_pins(figure, panels, state, provenance, palette, _PAPER[dark])
    figure.add_traces([_swatch(colour, name) for colour, name in _swatches(panels, state, palette)])
    for text, y, anchor, size in (
        (_heading(state, provenance), 1 + 34 / height, "bottom", 15),
        (_source(provenance), -12 / height, "top", 10),
    ):
        figure.add_annotation(
            text=text, x=0, y=y, xref="paper", yref="paper", xanchor="left", yanchor=anchor, showarrow=False,
            font={"size": size}, align="left",
        )  # fmt: skip
    return figure


def _add_hover(trace: go.Heatmap, panel: Panel, state: ViewState, provenance: Provenance) -> None:
    """Away from the page a square tells its own name and score."""
    names = np.array(
        [[f"L{layer}H{head}" for head in range(panel.value.shape[1])] for layer in provenance.model.layers]
    )
    numbers = dict(panel.measures) or {"": panel.value}
    stacked = np.stack(list(numbers.values()), axis=-1)
    told = ", ".join(f"{name} %{{customdata[{i}]:.3g}}".strip() for i, name in enumerate(numbers))
    turned = (names, stacked) if state.heads_across else (names.T, stacked.transpose(1, 0, 2))
    trace.update(
        text=turned[0], customdata=turned[1], hoverinfo=None, hovertemplate=f"%{{text}}: {told}<extra></extra>"
    )


def _add_pins(
    figure: go.Figure, panels: Sequence[Panel], state: ViewState, provenance: Provenance, palette: Colours, paper: str
) -> None:
    """Pinned heads are outlined in every map and named in the first."""
    marks = ["", *(str(number) for number in range(2, len(panels) + 1))]
    for head in state.pins:
        layer = provenance.model.layers.index(head.layer)
        x, y = (head.head, layer) if state.heads_across else (layer, head.head)
        corners = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
        for mark in marks:
            figure.add_shape(xref=f"x{mark}", yref=f"y{mark}", line={"color": palette.pin, "width": 2}, **corners)
        left = x > figure.layout.xaxis.range[1] / 2  # the name stands where the map has more room
        figure.add_annotation(
            text=str(head), xref="x", yref="y", x=x - 0.6 if left else x + 0.6, y=y,
            xanchor="right" if left else "left", yanchor="middle", showarrow=False,
            bgcolor=paper, bordercolor=palette.pin, borderpad=1, opacity=0.9, font={"size": 9},
        )  # fmt: skip


def _swatch(colour: str, name: str) -> go.Scatter:
    """A legend entry; it draws nothing."""
    marker = {"color": colour, "symbol": "square", "size": 11, "line": {"color": "#868e96", "width": 0.5}}
    return go.Scatter(x=[None], y=[None], mode="markers", name=name, marker=marker, xaxis="x", yaxis="y")


def _swatches(panels: Sequence[Panel], state: ViewState, palette: Colours) -> list[tuple[str, str]]:
    missing = [(palette.missing[reason], reason.words) for reason in reasons(panels)]
    if all(np.isnan(panel.value).all() for panel in panels):
        return missing
    if state.view == "causal":
        return [*_causal_swatches(panels, state, palette), *missing]
    singles = [panel for panel in panels if panel.belongs is None]
    found = [(palette.of(panel.tone), plain(panel.title)) for panel in singles]
    if state.colour == "scores":
        all_ = [(palette.accent, "All categories: score 1")] if panels[0].belongs is not None else []
        return all_ + [(colour, f"{name}: score 1") for colour, name in found] + [(palette.empty, "score 0"), *missing]
    several = [(palette.several[i], f"{i + 2} categories") for i in range(min(3, len(panels[0].categories) - 1))]
    return [*found, *several, (palette.empty, "Unclassified"), *missing]


def _causal_swatches(panels: Sequence[Panel], state: ViewState, palette: Colours) -> list[tuple[str, str]]:
    if state.gates == "preview":
        return [
            (palette.slope(-1), "g below 0: helps"),
            (palette.slope(0), "0"),
            (palette.slope(1), f"g above 0: hurts; full colour at {scale_words(panels)}"),
        ]
    if state.gates in ROLES:
        return [(palette.glow(state.gates, 1), f"{state.gates} 1"), (palette.glow(state.gates, 0), f"{state.gates} 0")]
    return [
        (palette.light(1, 0), "facilitating (F)"),
        (palette.light(0, 1), "interfering (N)"),
        (palette.light(1, 1), "both"),
        (palette.light(0, 0), "neither"),
    ]


def _heading(state: ViewState, provenance: Provenance) -> str:
    if state.view == "causal":
        return f"<b>{plain(provenance.model.id)}</b>: {_causal_words(state)}"
    what = {"both": "promote or suppress", "promote": "promote", "suppress": "suppress"}[state.kind]
    rule = "any relation" if state.how == "any" else "always: every relation"
    rule += f", the best {state.top} of each category" if state.top else ""
    return f"<b>{plain(provenance.model.id)}</b>: heads that {what} ({rule}, τ = {state.tau:g})"


def _causal_words(state: ViewState) -> str:
    if state.gates == "preview":
        return "gradient preview, a first-order estimate of which heads help and hurt"
    seeds = f"seed {state.one_seed}" if state.one_seed else "Always and Any over the seeds"
    return f"heads that tasks need and that hurt them ({seeds}, θ = {state.role:g}, dimmed below)"


def _source(provenance: Provenance) -> str:
    card = provenance.model
    settings: dict[str, Any] = provenance.settings
    if provenance.method == METHOD:
        updates = "+".join(str(settings[name]) for name in ("free_updates", "push_updates") if name in settings)
        return (
            f"Head Atlas {provenance.atlas} · causal map by learned gates, version {provenance.version} · "
            f"fingerprint {card.fingerprint[:16]} · {settings.get('seeds', '?')} seeds · {updates or '?'} updates · "
            f"{plain(card.note or card.dtype)} · {provenance.date[:10]}"
        )
    return (
        f"Head Atlas {provenance.atlas} · function map from the weights, version {provenance.version} · "
        f"fingerprint {card.fingerprint[:16]} · k = {settings['k_standard']} (copying {settings['k_copying']}) · "
        f"{plain(card.note or card.dtype)} · {provenance.date[:10]}"
    )
