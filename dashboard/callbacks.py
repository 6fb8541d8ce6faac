"""Between the page and the rest: read what changed, open the view, draw it. Nothing is decided here."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from analysis.jobs.engine import Engine
from analysis.methods.causal.plan import STAGES
from analysis.models.sources import listed_models
from analysis.results.catalogue import Library
from dashboard import hover, ids
from dashboard.arrange import LARGEST
from dashboard.figures.head_map import head_maps
from dashboard.figures.losses import loss_curves
from dashboard.figures.profile import profile
from dashboard.figures.validation import validation_curves
from dashboard.gates import shown_tasks
from dashboard.markup import as_data
from dashboard.panels.causal import (
    causal_legend,
    causal_sentence,
    facts,
    has_losses,
    has_validation,
    is_running,
    no_causal_map,
)
from dashboard.panels.controls import fit_choices, model_choices, relation_choices, seed_choices, task_choices
from dashboard.panels.inspector import inspector
from dashboard.panels.legend import counts, legend, not_applicable, sentence
from dashboard.panels.page import downloads
from dashboard.panels.table import columns, rows
from dashboard.panels.workshop import job_list, model_list
from dashboard.places import placed
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
    "tasks": (ids.TASKS, "value"),
    "columns": (ids.COLUMNS, "value"),
    "gates": (ids.GATES, "value"),
    "seed": (ids.SEED, "value"),
    "fit": (ids.FIT, "value"),
    "role": (ids.ROLE, "value"),
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
        "choices": {
            "models": Output(ids.MODEL, "data"),
            "relations": Output(ids.RELATION, "data"),
            "tasks": Output(ids.TASKS, "data"),
            "seeds": Output(ids.SEED, "data"),
            "fits": Output(ids.FIT, "data"),
        },
        "no_function_controls": Output(ids.FUNCTION_CONTROLS, "hidden"),
        "no_causal_controls": Output(ids.CAUSAL_CONTROLS, "hidden"),
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
        "facts": Output(ids.FACTS, "children"),
        "validation": Output(ids.VALIDATION, "figure"),
        "losses": Output(ids.LOSSES, "figure"),
        "no_validation": Output(ids.VALIDATION_CARD, "hidden"),
        "no_losses": Output(ids.LOSSES_CARD, "hidden"),
        "losses_open": Output(ids.LOSSES_CARD, "open"),
        "no_causal": Output(ids.NO_CAUSAL, "children"),
        "causal_is_there": Output(ids.NO_CAUSAL, "hidden"),
        "no_beside": Output(ids.BESIDE, "hidden"),
        "no_evidence": Output(ids.EVIDENCE, "hidden"),
        "no_frame": Output(ids.FRAME, "hidden"),
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
        "curves": Output(ids.CURVES, "data"),
    },
    "inputs": {
        "query": Input(ids.QUERY, "data"),
        "screen": Input(ids.SCREEN, "data"),
        "fresh": Input(ids.FRESH, "data"),
        "curves": State(ids.CURVES, "data"),
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
    fresher = {f"{ids.FRESH}.data", f"{ids.FIT}.value"} & changed  # another seed of a running fit; another fit
    return {
        "painted": painted(view, *read_screen(screen)),
        "controls": control_values(view) if opened else changed_by_model(view, another),
        "choices": choices(library, view)
        if another or fresher
        else _unchanged(("models", "relations", "tasks", "seeds", "fits")),
        "no_function_controls": view.is_causal,
        "no_causal_controls": not view.is_causal,
        "pins": [str(head) for head in view.state.pins] if another else no_update,
        "notices": no_update if changed <= _NOT_ASKED else _notices(view),
        "page": (EMBEDDED if view.state.embed else "") if opened else no_update,
    }


def _notices(view: View) -> list[Any]:
    return [html.Div(text, className="notice") for text in view.notices]


def describe(library: Library, query: Any, screen: Any, fresh: Any, curves: Any = None) -> dict[str, Any]:
    """Everything around the maps."""
    if query is None or screen is None:
        raise PreventUpdate
    return described(open_view(library, str(query)), *read_screen(screen), curves)


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
        "tasks": list(shown_tasks(view.causal, state)) if view.causal is not None else [],
    }


def changed_by_model(view: View, another: bool) -> dict[str, Any]:
    """The controls that another model changes: it has other tasks and seeds."""
    values = control_values(view) if another else {}
    return {key: values.get(key, no_update) if key in {"tasks", "seed", "fit"} else no_update for key in CONTROLS}


def choices(library: Library, view: View) -> dict[str, Any]:
    """What the pickers offer."""
    return {
        "models": model_choices(library.models()),
        "relations": relation_choices(view.scores),
        "tasks": task_choices(view.causal),
        "seeds": seed_choices(library.causal(view.scores.provenance.model, view.state.fit)),
        "fits": fit_choices(library.fits(view.scores.provenance.model)),
    }


def _unchanged(names: Iterable[str]) -> dict[str, Any]:
    return dict.fromkeys(names, no_update)


def painted(view: View, width: int, dark: bool) -> dict[str, Any]:
    """The maps with the numbers behind them."""
    state, scores = view.state, view.scores
    card = scores.provenance.model
    in_table = state.view == "table"
    drawn = view.panels[:1] if in_table else view.panels
    place = placed(drawn, state, card, width, largest=14 if in_table else LARGEST)
    figure = head_maps(drawn, state, card.layers, place, dark)
    return {"heads": {**hover.packed(scores, view.panels, state), "figure": figure}, "query": view.query}


def described(view: View, width: int, dark: bool, curves: Any = None) -> dict[str, Any]:
    """Legend, profile, counts, table, downloads."""
    state, scores, panels = view.state, view.scores, view.panels
    in_table = state.view == "table"
    around = _around_causal(view, width, dark, curves) if view.is_causal else _around_function(view, dark)
    return {
        **around,
        "title": view.title,
        "downloads": downloads(view.named.to_query()),
        "rows": rows(scores, panels, state, view.causal) if in_table else no_update,
        "columns": columns(scores, panels, view.causal) if in_table else no_update,
        "no_table": not in_table,
        "no_workshop": state.view != "models",
        "no_atlas": state.view == "models",
    }


def _around_function(view: View, dark: bool) -> dict[str, Any]:
    state, scores, panels = view.state, view.scores, view.panels
    return {
        "profile": profile(panels[0], state, scores.provenance.model.layers, dark),
        "legend": legend(panels, state, dark, view.failure),
        "counts": counts(panels, scores, state, dark),
        "sentence": sentence(view),
        "absent": not_applicable(scores),
        **_unchanged(("facts", "validation", "losses", "no_validation", "no_losses", "losses_open", "no_causal")),
        "curves": no_update,
        "no_beside": False,
        "no_evidence": True,
        "causal_is_there": True,
        "no_frame": False,
    }


def _around_causal(view: View, width: int, dark: bool, before: Any) -> dict[str, Any]:
    causal, state = view.causal, view.state
    inner = width - 34  # a card's padding
    validated, fitted = has_validation(view), has_losses(view)
    curves = _drawn_from(view, width, dark)
    again = causal is not None and curves != before
    return {
        **_unchanged(("profile", "counts")),
        "legend": causal_legend(view.panels, state, dark, view.failure) if causal is not None else [],
        "sentence": causal_sentence(view) if causal is not None else [],
        "absent": [],
        "facts": facts(view, dark),
        "validation": validation_curves(causal, state, inner, dark)
        if causal is not None and again and validated
        else no_update,
        "losses": loss_curves(causal, state, inner, dark) if causal is not None and again and fitted else no_update,
        "no_validation": not validated,
        "no_losses": not fitted,
        "losses_open": True if is_running(causal) else no_update,
        "no_causal": no_causal_map(view) if causal is None else [],
        "no_beside": True,
        "no_evidence": causal is None,
        "causal_is_there": causal is not None,
        "no_frame": causal is None,
        "curves": curves if again else no_update,
    }


def _drawn_from(view: View, width: int, dark: bool) -> str:
    """All that the curves below the causal map depend on."""
    if view.causal is None:
        return ""
    state, facts = view.state, view.causal.provenance
    curves = [item.get("curves") or {} for item in facts.items]
    points = [[len(losses) for stage in STAGES for losses in of_task.get(stage, [])] for of_task in curves]
    measured = [bool(item.get("effect")) for item in facts.items]
    shown = [facts.model.fingerprint, list(shown_tasks(view.causal, state)), state.seed, state.fit, state.palette]
    return json.dumps([*shown, dark, width, points, measured, view.causal.score.sizes["sample"]])


def _register_scripts(app: Dash) -> None:
    """What happens in the browser alone; the functions are in assets/atlas/main.mjs."""

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
    script("number", Output(ids.ROLE_SHOWN, "children"), Input(ids.ROLE, "value"))
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
