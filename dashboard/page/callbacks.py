"""Between the page and the rest: read what changed, open the view, draw it. Nothing is decided here."""

import math
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate
from starlette.concurrency import run_in_threadpool

from analysis.errors import StoreError
from analysis.evidence.catalogue import Catalogue
from analysis.models.sources import listed_models
from dashboard.jobs import JobState
from dashboard.maps import MAPS
from dashboard.page import hover, ids
from dashboard.page.controls import all_controls, control_props, model_choices
from dashboard.page.inspector import inspector
from dashboard.page.layout import downloads
from dashboard.page.markup import as_data
from dashboard.page.sections import all_sections, drawn_sections, section_output, section_parts
from dashboard.page.table import content, grid
from dashboard.page.workshop import job_list, model_list
from dashboard.setting import Setting, settings_of
from dashboard.state import MODELS, TABLE, ReadState, ViewState, all_settings
from dashboard.view import View, choices_of, open_view, opened, view_of_controls

_NOT_ASKED = {f"{ids.SCREEN}.data", f"{ids.FRESH}.data"}  # changes that nobody asked for leave notices alone
EMBEDDED = "embedded"  # the page's class without what surrounds the maps
_HIDDEN = (
    ids.WARNING,
    ids.EMPTY,
    ids.FRAME,
    ids.TABLE_FRAME,
    ids.WORKSHOP,
    ids.ATLAS,
)  # parts that some views do not show

Jobs = Callable[[], Sequence[JobState]]  # as the server knows them
CallbackValues = dict[str, Any]  # of a callback's inputs or outputs, by their names


def painting() -> CallbackValues:
    """What the maps on the screen need, and what it depends on."""
    props, local = control_props(), local_keys()
    return {
        "output": {
            "heads": Output(ids.HEADS, "data"),
            "query": Output(ids.QUERY, "data"),
            "controls": {key: Output(*where) for key, where in props.items()},
            "choices": {key: Output(key, "data") for key in _pickers()},
            "hidden_groups": {each.name: Output(ids.group(each.name), "hidden") for each in MAPS},
            "hidden_controls": {key: Output(ids.control(key), "hidden") for key in _conditional()},
            "pins": Output(ids.PINS, "data"),
            "notices": Output(ids.NOTICES, "children"),
            "page": Output(ids.PAGE, "className"),
        },
        "inputs": {
            "address": Input(ids.ADDRESS, "data"),
            "screen": Input(ids.SCREEN, "data"),
            "fresh": Input(ids.FRESH, "data"),
            "controls": {key: (State if key in local else Input)(*where) for key, where in props.items()},
            "page": State(ids.PAGE, "className"),
            "pins": State(ids.PINS, "data"),
        },
    }


def describing() -> CallbackValues:
    """Everything around the maps."""
    folded = [section.key for section in all_sections() if section.folded]
    own_size = [section.key for section in all_sections() if section.has_own_size]
    return {
        "output": {
            "warning": Output(ids.WARNING, "children"),
            "empty": Output(ids.EMPTY, "children"),
            "sections": {section.key: section_output(section) for section in all_sections()},
            "open": {key: Output(ids.card(key), "open") for key in folded},
            "sizes": {key: Output(key, "style") for key in own_size},
            "sent": Output(ids.SENT, "data"),
            "downloads": Output(ids.DOWNLOADS, "children"),
            "table": Output(ids.TABLE_CONTENT, "data"),
            "grid": Output(ids.TABLE_GRID, "children"),
            "hidden": {name: Output(name, "hidden") for name in (*_HIDDEN, *section_parts())},
        },
        "inputs": {
            "query": Input(ids.QUERY, "data"),
            "followed": Input(ids.FOLLOWED, "data"),
            "screen": Input(ids.SCREEN, "data"),
            "fresh": Input(ids.FRESH, "data"),
            "sent": State(ids.SENT, "data"),
        },
    }


def inspecting() -> CallbackValues:
    """The cards of the pinned heads."""
    return {
        "output": Output(ids.CARDS, "data"),
        "inputs": {
            "pins": Input(ids.PINS, "data"),
            "query": Input(ids.QUERY, "data"),
            "screen": Input(ids.SCREEN, "data"),
        },
    }


def listing() -> CallbackValues:
    """The lists of the view of models and jobs."""
    return {
        "output": {
            "jobs": Output(ids.JOB_LIST, "children"),
            "models": Output(ids.MODEL_LIST, "children"),
            "finished": Output(ids.FINISHED, "data"),
        },
        "inputs": {"news": Input(ids.NEWS, "data"), "finished": State(ids.FINISHED, "data")},
    }


def register(app: Dash, catalogue: Catalogue, models: Path | None, read_only: bool, jobs: Jobs) -> None:
    """Connect the page's parts."""
    later = {"prevent_initial_call": True}  # the page comes with what they would give (`dashboard.page.start`)
    made: list[tuple[CallbackValues, Callable[..., Any]]] = [
        (painting(), lambda **values: paint(catalogue, set(ctx.triggered_prop_ids), **values)),
        (describing(), lambda **values: describe(catalogue, **values)),
        (inspecting(), lambda **values: inspect(catalogue, **values)),
        (listing(), lambda **values: list_jobs(catalogue, models, read_only, jobs, **values)),
    ]
    for parts, answer in made:
        app.callback(**parts, **later)(_in_a_thread(answer))
    _register_scripts(app)


def _in_a_thread(answer: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The same off the event loop, where Dash would call it while everybody else waits."""

    async def called(**values: Any) -> Any:
        return await run_in_threadpool(answer, **values)

    return called


# ---- The maps --------------------------------------------------------------------------------------------------------


def paint(
    catalogue: Catalogue, changed: set[str], *,
    address: Any, screen: Any, fresh: Any, controls: CallbackValues, page: Any, pins: Any,
) -> CallbackValues:  # fmt: skip
    """The maps alone, so that a change is on the screen as soon as it can be; the scripts draw them."""
    if address is None or screen is None:
        raise PreventUpdate
    from_address = f"{ids.ADDRESS}.data" in changed
    another_model = from_address or f"{ids.MODEL}.value" in changed
    values = {**controls, "embed": page == EMBEDDED, "pin": pins if isinstance(pins, list) else None}
    if another_model:
        values |= dict.fromkeys(_keys(lambda setting: setting.resets))
    view = open_view(catalogue, str(address)) if from_address else view_of_controls(catalogue, values)
    other_choices = another_model or bool(changed & _deciding_choices())
    return {
        "heads": {**hover.packed(view, read_screen(screen)[1]), "asked": None if from_address else _local(controls)},
        "query": view.query,
        "controls": _controls(view, from_address, another_model),
        "choices": choices(catalogue, view) if other_choices else dict.fromkeys(_pickers(), no_update),
        "hidden_groups": {each.name: each is not view.map for each in MAPS},
        "hidden_controls": _hidden_controls(catalogue, view),
        "pins": [str(head) for head in view.state.pins] if another_model else no_update,
        "notices": no_update if changed <= _NOT_ASKED else _notices(view),
        "page": (EMBEDDED if view.state.embed else "") if from_address else no_update,
    }


def _notices(view: View) -> list[Any]:
    return [html.Div(text, className="notice") for text in view.notices]


def _pickers() -> list[str]:
    """The keys of the controls whose choices come with the view."""
    return [ids.MODEL, *(control.key for control in all_controls() if control.is_picker)]


def _conditional() -> list[str]:
    """The keys of the controls that are hidden where they would change nothing."""
    return [control.key for control in all_controls() if control.conditional]


def _hidden_controls(catalogue: Catalogue, view: View) -> dict[str, bool]:
    needless: set[str] = set()
    for each in MAPS:
        results = choices_of(catalogue, each, view.card)
        needless |= each.needless(view.of(each), view.state.of(each.part), results)
    return {key: key in needless for key in _conditional()}


def _deciding_choices() -> set[str]:
    """Changes after which pickers may offer something else, as Dash names them."""
    deciding = [f"{control.key}.{control.prop}" for control in all_controls() if control.decides_choices]
    return {f"{ids.FRESH}.data", *deciding}


def control_values(view: View) -> CallbackValues:
    """What the controls say for a view."""
    state = view.named
    values = {
        ids.MODEL: f"{state.model}@{state.fingerprint}",
        ids.VIEW: state.view,
        ids.TRANSPOSE: state.transpose,
        ids.PALETTE: state.palette,
    }
    for each in MAPS:
        values |= each.control_values(view.of(each), state.of(each.part))
    return values


def _controls(view: View, from_address: bool, another_model: bool) -> CallbackValues:
    """The controls that are to say something else: all for an address, those of the model for another model."""
    values = control_values(view) if another_model else {}
    written = set(values) if from_address else _keys(lambda setting: setting.of_model)
    changes = {}
    for key in control_props():
        changes[key] = values[key] if key in written and key in values else no_update
    return changes


def local_keys() -> set[str]:
    """The keys of the settings that the page follows by itself."""
    return {key for key, setting in all_settings().items() if setting.local}


def _local(controls: CallbackValues) -> CallbackValues:
    """What the local controls said, as they were sent."""
    return {key: value for key, value in controls.items() if key in local_keys()}


def _keys(wanted: Callable[[Setting], bool]) -> set[str]:
    """The keys of some of the maps' settings."""
    keys: set[str] = set()
    for each in MAPS:
        keys |= {key for key, setting in settings_of(each.part).items() if wanted(setting)}
    return keys


def choices(catalogue: Catalogue, view: View) -> CallbackValues:
    """What the pickers offer."""
    offered: CallbackValues = {ids.MODEL: model_choices(catalogue.models())}
    for each in MAPS:
        offered |= each.offered(view.of(each), choices_of(catalogue, each, view.card))
    return offered


# ---- Around the maps -------------------------------------------------------------------------------------------------


def describe(
    catalogue: Catalogue, query: Any, screen: Any, fresh: Any, sent: Any = None, followed: Any = None
) -> CallbackValues:
    """Everything around the maps, of the view that the page has come to from the server's by itself, if it has."""
    if query is None or screen is None:
        raise PreventUpdate
    if isinstance(followed, list) and len(followed) == 2 and followed[0] == query:
        query = followed[1]
    return described(open_view(catalogue, str(query)), *read_screen(screen), sent)


def described(view: View, width: int, dark: bool, sent: Any = None) -> CallbackValues:
    """Sections, downloads, table, and which parts of the page are hidden."""
    shown, in_table = view.shown, view.state.view == TABLE
    warning = view.map.warning(shown) if shown is not None else []
    below = drawn_sections(view, width, dark, sent)
    hidden = {
        ids.WARNING: not warning,
        ids.EMPTY: shown is not None,
        ids.FRAME: shown is None,
        ids.TABLE_FRAME: not in_table,
        ids.WORKSHOP: view.state.view != MODELS,
        ids.ATLAS: view.state.view == MODELS,
        **below.hidden,
    }
    return {
        "warning": warning,
        "empty": view.map.absent(view.card, view.state.of(view.map.part)) if shown is None else [],
        "sections": below.contents,
        "open": below.open,
        "sizes": below.sizes,
        "sent": below.sent,
        "downloads": downloads(view.named.shared),
        "table": content(view) if in_table else no_update,
        "grid": _grid(in_table, below.sent),
        "hidden": hidden,
    }


def _grid(in_table: bool, sent: dict[str, str]) -> Any:
    """The table's grid, if it is needed and the page does not have it yet."""
    if not in_table or ids.TABLE_GRID in sent:
        return no_update
    sent[ids.TABLE_GRID] = "there"
    return grid()


# ---- Heads, models and jobs ------------------------------------------------------------------------------------------


def inspect(catalogue: Catalogue, pins: Any, query: Any, screen: Any) -> list[Any]:
    """The cards of the pinned heads; a browser may send anything as pins."""
    if query is None or screen is None:
        raise PreventUpdate
    state = ViewState.from_query(str(query)).state
    view = opened(catalogue, ReadState(state.pinned(pins).state))
    return [as_data(piece) for piece in inspector(view, read_screen(screen)[1])]


def list_jobs(
    catalogue: Catalogue, models: Path | None, read_only: bool, jobs: Jobs, news: Any = True, finished: Any = None
) -> CallbackValues:
    """The jobs, of which the page only says that it received others; the models again when another job has finished."""
    if news is None:
        raise PreventUpdate
    try:
        listed = jobs()
    except StoreError:  # the page keeps its lists, and asks again when it receives other jobs
        return dict.fromkeys(listing()["output"], no_update)
    now = [f"{job.id} {job.finished}" for job in listed if not job.active]
    again = finished is None or now != finished
    return {
        "jobs": job_list(listed, read_only),
        "models": model_list(catalogue, listed_models(models), read_only) if again else no_update,
        "finished": now if again else no_update,
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


def _register_scripts(app: Dash) -> None:
    """What happens in the browser alone; the functions are in assets/."""

    def script(name: str, *parts: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("atlas", name), *parts, **options)

    script(
        "theme",
        Output(ids.SCREEN, "data"),
        Output(ids.PROVIDER, "forceColorScheme"),
        Input(ids.THEME, "value"),
        prevent_initial_call=True,
    )
    for section in all_sections():
        if section.is_figure:
            script("figure", Input(ids.figure(section.key), "data"), State(section.key, "id"))
    script("write", Input(ids.QUERY, "data"), Input(ids.PINS, "data"))
    script("settled", Input(ids.SENT, "data"))
    script("draw", Input(ids.HEADS, "data"))
    script("pin", Input(ids.PINS, "data"))
    script("cards", Input(ids.CARDS, "data"))
    script("rows", Output(ids.TABLE, "rowData"), Output(ids.TABLE, "columnDefs"), Input(ids.TABLE_CONTENT, "data"))
    script("select", Output(ids.TABLE, "selectedRows"), Input(ids.PINS, "data"), Input(ids.TABLE, "rowData"))
    script("pick", Input(ids.TABLE, "cellClicked"), prevent_initial_call=True)
    script("jobs", Output(ids.NEWS, "data"), Input(ids.JOBS, "data"), Input(ids.WORKSHOP, "hidden"))
    script("poll", Input(ids.POLL, "n_intervals"), prevent_initial_call=True)
    script("help", Output(ids.HELP, "opened"), Input(ids.HELP_OPEN, "n_clicks"), prevent_initial_call=True)
