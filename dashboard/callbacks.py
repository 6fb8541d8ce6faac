"""Between the page and the rest: read what changed, open the view, draw it. Nothing is decided here."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from analysis.engine import Engine
from analysis.sources import listed_models
from dashboard import hover, ids
from dashboard.arrange import LARGEST, arrange
from dashboard.figures.head_map import head_maps
from dashboard.figures.profile import profile
from dashboard.library import Library
from dashboard.markup import as_data
from dashboard.panels.controls import model_choices, relation_choices
from dashboard.panels.inspector import inspector
from dashboard.panels.legend import counts, legend, not_applicable, sentence
from dashboard.panels.page import downloads
from dashboard.panels.table import columns, rows
from dashboard.panels.workshop import job_list, model_list
from dashboard.view import View, open_view, view_of_controls

# The controls: the key in an address, the control's name and property.
CONTROLS = {
    "model": (ids.MODEL, "value"),
    "view": (ids.VIEW, "value"),
    "how": (ids.HOW, "value"),
    "kind": (ids.KIND, "value"),
    "colour": (ids.COLOUR, "value"),
    "relation": (ids.RELATION, "value"),
    "tau": (ids.TAU, "value"),
    "top": (ids.TOP, "value"),
    "transpose": (ids.TRANSPOSE, "checked"),
    "palette": (ids.PALETTE, "value"),
    "theme": (ids.THEME, "value"),
}


_NOT_ASKED = {f"{ids.SCREEN}.data", f"{ids.FRESH}.data"}  # changes that nobody asked for leave notices alone
EMBEDDED = "embedded"  # the page's class without what surrounds the maps

PAINT: dict[str, Any] = {
    "output": {
        "painted": {"heads": Output(ids.HEADS, "data"), "query": Output(ids.QUERY, "data")},
        "controls": {key: Output(*where) for key, where in CONTROLS.items()},
        "choices": {"models": Output(ids.MODEL, "data"), "relations": Output(ids.RELATION, "data")},
        "pins": Output(ids.PINS, "data"),
        "notices": Output(ids.NOTICES, "children"),
        "page": Output(ids.PAGE, "className"),
    },
    "inputs": {
        "address": Input(ids.ADDRESS, "data"),
        "screen": Input(ids.SCREEN, "data"),
        "fresh": Input(ids.FRESH, "data"),
        "controls": {key: Input(*where) for key, where in CONTROLS.items()},
        "page": State(ids.PAGE, "className"),
        "pins": State(ids.PINS, "data"),
    },
}
DESCRIBE: dict[str, Any] = {
    "output": {
        "profile": Output(ids.PROFILE, "figure"),
        "legend": Output(ids.LEGEND, "children"),
        "counts": Output(ids.COUNTS, "children"),
        "title": Output(ids.TITLE, "data"),
        "sentence": Output(ids.SENTENCE, "children"),
        "absent": Output(ids.ABSENT, "children"),
        "downloads": Output(ids.DOWNLOADS, "children"),
        "rows": Output(ids.TABLE, "rowData"),
        "columns": Output(ids.TABLE, "columnDefs"),
        "no_table": Output(ids.TABLE_FRAME, "hidden"),
        "no_workshop": Output(ids.WORKSHOP, "hidden"),
        "no_atlas": Output(ids.ATLAS, "hidden"),
    },
    "inputs": {
        "query": Input(ids.QUERY, "data"),
        "screen": Input(ids.SCREEN, "data"),
        "fresh": Input(ids.FRESH, "data"),
    },
}
INSPECT: dict[str, Any] = {
    "output": Output(ids.CARDS, "data"),
    "inputs": {
        "pins": Input(ids.PINS, "data"),
        "query": Input(ids.QUERY, "data"),
        "screen": Input(ids.SCREEN, "data"),
    },
}


JOB_LISTS: dict[str, Any] = {
    "output": {"jobs": Output(ids.JOB_LIST, "children"), "models": Output(ids.MODEL_LIST, "children")},
    "inputs": {"told": Input(ids.JOBS, "data")},
}


def register(app: Dash, library: Library, engine: Engine, models: Path | None, read_only: bool) -> None:
    """Connect the page's parts."""
    app.callback(**PAINT)(lambda **values: paint(library, set(ctx.triggered_prop_ids), **values))
    app.callback(**DESCRIBE)(lambda **values: describe(library, **values))
    app.callback(**INSPECT)(lambda **values: inspect(library, **values))
    app.callback(**JOB_LISTS)(lambda told: job_lists(library, engine, models, read_only, told))
    _register_scripts(app)


def paint(
    library: Library, changed: set[str], *,
    address: Any, screen: Any, fresh: Any, controls: dict[str, Any], page: Any, pins: Any,
) -> dict[str, Any]:  # fmt: skip
    """The maps alone, so that a change is on the screen as soon as it can be; the scripts draw them."""
    if address is None or screen is None:
        raise PreventUpdate
    opened = f"{ids.ADDRESS}.data" in changed
    asked = controls | {"embed": page == EMBEDDED, "pin": pins if isinstance(pins, list) else None}
    view = open_view(library, str(address)) if opened else view_of_controls(library, asked)
    another = opened or f"{ids.MODEL}.value" in changed
    return {
        "painted": painted(view, *read_screen(screen)),
        "controls": control_values(view) if opened else _unchanged(CONTROLS),
        "choices": choices(library, view) if another else _unchanged(("models", "relations")),
        "pins": [str(head) for head in view.state.pins] if another else no_update,
        "notices": no_update if changed <= _NOT_ASKED else _notices(view),
        "page": (EMBEDDED if view.state.embed else "") if opened else no_update,
    }


def _notices(view: View) -> list[Any]:
    return [html.Div(text, className="notice") for text in view.notices]


def describe(library: Library, query: Any, screen: Any, fresh: Any) -> dict[str, Any]:
    """Everything around the maps."""
    if query is None or screen is None:
        raise PreventUpdate
    return described(open_view(library, str(query)), read_screen(screen)[1])


def inspect(library: Library, pins: Any, query: Any, screen: Any) -> list[Any]:
    """The cards of the pinned heads; a browser may send anything as pins."""
    if query is None or screen is None:
        raise PreventUpdate
    names = ".".join(str(pin) for pin in pins) if isinstance(pins, list) else ""
    view = open_view(library, f"{query or '?'}&pin={quote(names, errors='replace')}" if names else str(query))
    card = view.scores.provenance.model
    salience = {head: library.salience(card, head) for head in view.state.pins}
    return [as_data(piece) for piece in inspector(view, salience, read_screen(screen)[1])]


def job_lists(library: Library, engine: Engine, models: Path | None, read_only: bool, told: Any) -> dict[str, Any]:
    """The lists of the view of models and jobs."""
    if told is None:
        raise PreventUpdate
    return {
        "jobs": job_list(engine.jobs(), read_only),
        "models": model_list(library.listed(), listed_models(models)),
    }


def read_screen(screen: Any) -> tuple[int, bool]:
    """The page's width in pixels and whether it is dark; a browser may say anything."""
    fields = screen if isinstance(screen, dict) else {}
    width = fields.get("width")
    try:
        sane = isinstance(width, (int, float)) and math.isfinite(width)
    except OverflowError:
        sane = False
    return int(min(max(float(width or 0), 280), 4000)) if sane else 1240, bool(fields.get("dark"))


def control_values(view: View) -> dict[str, Any]:
    """What the controls say for a view."""
    state = view.named
    return {
        "model": f"{state.model}@{state.fingerprint}",
        **{key: getattr(state, key) for key in CONTROLS if key != "model"},
        "top": state.top or "",  # an empty field stands for all
    }


def choices(library: Library, view: View) -> dict[str, Any]:
    """What the model and relation pickers offer."""
    return {"models": model_choices(library.models()), "relations": relation_choices(view.scores)}


def _unchanged(names: Iterable[str]) -> dict[str, Any]:
    return dict.fromkeys(names, no_update)


def painted(view: View, width: int, dark: bool) -> dict[str, Any]:
    """The maps with the numbers behind them."""
    state, scores = view.state, view.scores
    card = scores.provenance.model
    in_table = state.view == "table"
    drawn = view.panels[:1] if in_table else view.panels
    cells = (card.heads, len(card.layers)) if state.transpose else (len(card.layers), card.heads)
    place = arrange(len(drawn), *cells, width, largest=14 if in_table else LARGEST)
    figure = head_maps(drawn, state, card.layers, place, dark)
    return {"heads": {**hover.packed(scores, view.panels, state), "figure": figure}, "query": view.query}


def described(view: View, dark: bool) -> dict[str, Any]:
    """Legend, profile, counts, table, downloads."""
    state, scores, panels = view.state, view.scores, view.panels
    in_table = state.view == "table"
    return {
        "profile": profile(panels[0], state, scores.provenance.model.layers, dark),
        "legend": legend(panels, state, dark, view.failure),
        "counts": counts(panels, scores, state, dark),
        "title": view.title,
        "sentence": sentence(view),
        "absent": not_applicable(scores),
        "downloads": downloads(view.named.to_query()),
        "rows": rows(scores, panels, state) if in_table else no_update,
        "columns": columns(scores, panels) if in_table else no_update,
        "no_table": not in_table,
        "no_workshop": state.view != "models",
        "no_atlas": state.view == "models",
    }


def _register_scripts(app: Dash) -> None:
    """What happens in the browser alone; the functions are in assets/atlas.js."""

    def script(name: str, *parts: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("atlas", name), *parts, **options)

    script("open", Output(ids.ADDRESS, "data"), Input(ids.PROVIDER, "id"))
    script(
        "theme",
        Output(ids.SCREEN, "data"),
        Output(ids.PROVIDER, "forceColorScheme"),
        Input(ids.THEME, "value"),
    )
    script("number", Output(ids.TAU_SHOWN, "children"), Input(ids.TAU, "value"))
    script("write", Input(ids.QUERY, "data"), Input(ids.PINS, "data"))
    script("title", Input(ids.TITLE, "data"))
    script("draw", Input(ids.HEADS, "data"))
    script("pin", Input(ids.PINS, "data"))
    script("cards", Input(ids.CARDS, "data"))
    script(
        "select",
        Output(ids.TABLE, "selectedRows"),
        Output(ids.TABLE, "scrollTo"),
        Input(ids.PINS, "data"),
        Input(ids.TABLE, "rowData"),
    )
    script("pick", Input(ids.TABLE, "cellClicked"), prevent_initial_call=True)
    script("told", Input(ids.JOBS, "data"))
    script("poll", Input(ids.POLL, "n_intervals"), prevent_initial_call=True)
    script("help", Output(ids.HELP, "opened"), Input(ids.HELP_OPEN, "n_clicks"), prevent_initial_call=True)
