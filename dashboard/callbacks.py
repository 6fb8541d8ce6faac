"""Between the page and the rest: read what changed, open the view, draw it. Nothing is decided here."""

from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from dashboard import ids
from dashboard.arrange import arrange
from dashboard.figures.head_map import head_maps
from dashboard.figures.profile import profile
from dashboard.hover import packed
from dashboard.library import Library
from dashboard.panels.controls import model_choices, relation_choices
from dashboard.panels.inspector import inspector
from dashboard.panels.legend import counts, legend, not_applicable
from dashboard.panels.page import downloads
from dashboard.panels.table import columns, rows
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


def register(app: Dash, library: Library) -> None:
    """Connect the page's parts."""

    @app.callback(
        output={
            "shown": {
                "maps": Output(ids.MAPS, "figure"),
                "profile": Output(ids.PROFILE, "figure"),
                "legend": Output(ids.LEGEND, "children"),
                "counts": Output(ids.COUNTS, "children"),
                "heads": Output(ids.HEADS, "data"),
                "query": Output(ids.QUERY, "data"),
                "title": Output(ids.TITLE, "data"),
                "notices": Output(ids.NOTICES, "children"),
                "sentence": Output(ids.SENTENCE, "children"),
                "absent": Output(ids.ABSENT, "children"),
                "downloads": Output(ids.DOWNLOADS, "children"),
                "rows": Output(ids.TABLE, "rowData"),
                "columns": Output(ids.TABLE, "columnDefs"),
                "no_table": Output(ids.TABLE_FRAME, "hidden"),
                "relations": Output(ids.RELATION, "data"),
                "models": Output(ids.MODEL, "data"),
                "page": Output(ids.PAGE, "className"),
            },
            "controls": {key: Output(*where) for key, where in CONTROLS.items()},
            "pins": Output(ids.PINS, "data"),
            "embed": Output(ids.EMBED, "data"),
        },
        inputs={
            "address": Input(ids.ADDRESS, "data"),
            "screen": Input(ids.SCREEN, "data"),
            "controls": {key: Input(*where) for key, where in CONTROLS.items()},
            "embed": State(ids.EMBED, "data"),
        },
    )
    def draw(address: Any, screen: Any, controls: dict[str, Any], embed: Any) -> dict[str, Any]:
        if address is None or screen is None:
            raise PreventUpdate
        opened = f"{ids.ADDRESS}.data" in ctx.triggered_prop_ids
        view = open_view(library, str(address)) if opened else view_of_controls(library, controls | {"embed": bool(embed)})
        set_controls = control_values(view) if opened else dict.fromkeys(CONTROLS, no_update)
        return {
            "shown": shown(library, view, *read_screen(screen)),
            "controls": set_controls,
            "pins": [str(head) for head in view.state.pins] if opened else no_update,
            "embed": view.state.embed,
        }

    @app.callback(
        Output(ids.INSPECTOR, "children"),
        Input(ids.PINS, "data"),
        Input(ids.QUERY, "data"),
        State(ids.SCREEN, "data"),
    )
    def inspect(pins: Any, query: Any, screen: Any) -> list[Any]:
        if query is None:
            raise PreventUpdate
        return inspected(library, query, pins, read_screen(screen)[1])

    _register_scripts(app)


def read_screen(screen: Any) -> tuple[int, bool]:
    """The page's width in pixels and whether it is dark; a browser may say anything."""
    fields = screen if isinstance(screen, dict) else {}
    width = fields.get("width")
    sane = isinstance(width, (int, float)) and width == width
    return (int(min(max(width, 280), 4000)) if sane else 1240), bool(fields.get("dark"))


def control_values(view: View) -> dict[str, Any]:
    """What the controls say for a view."""
    state = view.named
    return {
        "model": f"{state.model}@{state.fingerprint}",
        **{key: getattr(state, key) for key in CONTROLS if key != "model"},
    }


def shown(library: Library, view: View, width: int, dark: bool) -> dict[str, Any]:
    """Everything on the page but the inspector."""
    state, scores, panels = view.state, view.scores, view.panels
    card = scores.provenance.model
    in_table = state.view == "table"
    drawn = panels[:1] if in_table else panels
    columns_rows = (card.heads, len(card.layers)) if state.transpose else (len(card.layers), card.heads)
    place = arrange(len(drawn), *columns_rows, width)
    return {
        "maps": head_maps(drawn, state, card.layers, place, dark),
        "profile": profile(panels[0], state, card.layers, dark),
        "legend": legend(panels, state, dark),
        "counts": counts(panels, scores, state, dark),
        "heads": packed(scores, drawn, state),
        "query": view.query,
        "title": view.title,
        "notices": [html.Div(notice, className="notice") for notice in view.notices],
        "sentence": sentence(view),
        "absent": not_applicable(scores),
        "downloads": downloads(view.named.to_query()),
        "rows": rows(scores, panels, state) if in_table else [],
        "columns": columns(scores, panels) if in_table else [],
        "no_table": not in_table,
        "relations": relation_choices(scores),
        "models": model_choices(library.models()),
        "page": "embedded" if state.embed else "",
    }


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
    return [
        f"Each square is one attention head of {view.scores.provenance.model.id}; it is coloured when, by its weights "
        f"alone, it {does} ",
        *what,
        f" for more than {state.tau:.0%} of the word pairs.",
    ]


def inspected(library: Library, query: str, pins: Any, dark: bool) -> list[Any]:
    """The cards of the pinned heads."""
    view = open_view(library, str(query))
    names = ".".join(str(pin) for pin in pins) if isinstance(pins, list) else ""
    heads = open_view(library, f"{query or '?'}&pin={names}").state.pins if names else ()
    card = view.scores.provenance.model
    salience = {head: library.salience(card, head) for head in heads}
    return inspector(view.scores, heads, salience, view.state, dark)


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
    script("write", Input(ids.QUERY, "data"), Input(ids.PINS, "data"))
    script("title", Input(ids.TITLE, "data"))
    script("draw", Input(ids.MAPS, "figure"), Input(ids.HEADS, "data"), Input(ids.PINS, "data"))
    script("select", Output(ids.TABLE, "selectedRows"), Input(ids.PINS, "data"), Input(ids.TABLE, "rowData"))
    script("pick", Input(ids.TABLE, "cellClicked"), prevent_initial_call=True)
    script("help", Output(ids.HELP, "opened"), Input(ids.HELP_OPEN, "n_clicks"), prevent_initial_call=True)
