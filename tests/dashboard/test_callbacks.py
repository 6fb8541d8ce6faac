import ast
import base64
import hashlib
import json
import re
from html import unescape
from inspect import signature
from pathlib import Path

import pytest
from dash import dcc, html
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate
from starlette.testclient import TestClient

from analysis import methods
from analysis.errors import StoreError
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.jobs.request import NetworkRequest, request_type
from analysis.models import builtin as default_model
from dashboard.jobs import job_state
from dashboard.maps import MAPS
from dashboard.maps.columns import leaves
from dashboard.page import callbacks, ids
from dashboard.page.controls import control_props
from dashboard.page.table import grid
from dashboard.setting import MAX_PINS
from dashboard.web import scripts
from dashboard.web.bodies import MAX_UPLOAD
from tests.computing import asked
from tests.dashboard.made import rows_of
from tests.dashboard.test_large_answers import calls
from tests.synthetic import BIG, HOSTILE, ODD

SCREEN = {"width": 1240, "dark": False}
OPENED = {f"{ids.ADDRESS}.data"}


def painted(catalogue, query="", changed=OPENED, controls=None, page=""):
    controls = dict.fromkeys(control_props()) | (controls or {})
    values = {"address": query, "screen": SCREEN, "controls": controls, "page": page, "pins": [], "fresh": None}
    return callbacks.paint(catalogue, set(changed), **values)


def text(part):
    """A piece of the page as the JSON that the browser gets."""
    return json.dumps(part, ensure_ascii=False, default=lambda thing: thing.to_plotly_json())


def test_opening_an_address_sets_every_control(catalogue):
    """The controls say what the address says."""
    found = painted(catalogue, "?how=always&tau=0.4&transpose=1&pin=L3H2&theme=dark&zoom=L0-9.H0-3")
    controls = found["controls"]
    assert (controls["how"], controls["tau"], controls["transpose"]) == ("always", 0.4, True)
    assert controls["model"].startswith(f"{default_model.ID}@")
    assert found["pins"] == ["L3H2"]
    assert found["query"].endswith("&how=always&tau=0.4&transpose=1")


def test_moving_a_control_leaves_the_others_alone(catalogue):
    """Only maps, numbers and address travel; no control is written back."""
    found = painted(catalogue, "", {"tau.value"}, {"tau": 0.5, "how": "any"})
    assert all(value is callbacks.no_update for value in found["controls"].values())
    assert found["query"].endswith("tau=0.5")


def test_before_the_browser_has_spoken_nothing_is_drawn(catalogue):
    """The first call of a page comes before its width is known."""
    with pytest.raises(PreventUpdate):
        callbacks.paint(catalogue, set(), address=None, screen=None, controls={}, page="", pins=None, fresh=None)


def test_the_table_shows_one_map_and_all_rows(catalogue):
    """One row per head with its scores; the maps shrink to one panel."""
    query = painted(catalogue, "?view=table")
    assert query["heads"]["drawn"] == 1
    found = callbacks.describe(catalogue, query["query"], SCREEN, None)
    rows = rows_of(found["table"])
    assert len(rows) == 270
    best = next(row for row in rows if row["name"] == "L23H4")
    assert best["best"] == "country → capital"
    assert best["does"] == "Algorithmic · Knowledge"
    suppresses = next(row for row in rows if row["name"] == "L23H3")
    assert suppresses["does"] == "Algorithmic (suppressed) · Knowledge (suppressed; copy-like or unspecific)"
    assert next(row for row in rows if row["name"] == "L0H0")["does"] == ""
    assert not found["hidden"][ids.TABLE_FRAME]


def test_the_inspector_shows_pinned_heads_side_by_side(catalogue):
    """One card a head, with hits and pairs, salient tokens, mates and provenance."""
    cards = callbacks.inspect(catalogue, ["L23H4", "L24H5"], "", SCREEN)
    assert len(cards) == 2
    content = text(cards[0])
    for expected in ("26 / 40", "Salient tokens", "L23H3", "Provenance", "rank of 270", "data-effects"):
        assert expected in content


def test_hostile_pins_are_ignored(catalogue):
    """Whatever a browser sends, pins that name no head show the same as none, and a head is shown once."""
    invitation = callbacks.inspect(catalogue, [], "", SCREEN)
    assert "No head pinned" in text(invitation)
    for pins in ("L1H1", [None, {"a": 1}], ["<script>"], ["\ud800"], ["L99H99"], 7):
        assert callbacks.inspect(catalogue, pins, "", SCREEN) == invitation
    assert callbacks.inspect(catalogue, ["L1H1"] * 50, "", SCREEN) == callbacks.inspect(catalogue, ["L1H1"], "", SCREEN)


def places(part, place=""):
    """Every text of a piece of the page with its place: the component and its property, or the key of plain data."""
    if isinstance(part, Component):
        for name in part._prop_names:
            yield from places(getattr(part, name, None), f"{type(part).__name__.lower()}.{name}")
    elif isinstance(part, dict):
        for name, value in part.items():
            yield from places(value, f"{place.partition('.')[0]}.{name}")
    elif isinstance(part, list | tuple) and len(part) == 3 and isinstance(part[0], str) and isinstance(part[1], dict):
        tag, properties, children = part  # see dashboard.page.markup
        yield from places({**properties, "children": children}, tag)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from places(value, place)
    else:
        yield place, str(part)


PLAIN = {
    "children",
    "title",
    "aria-label",
    "data-own",
    "data-title",
    "headerName",
    "values",
    "absent",
    "data-agreement",  # JSON, of which the scripts write text
}  # properties that are shown as they are
MARKUP = {"markdown", "iframe", "script", "style", "objectel", "embed"}  # components whose text is read as markup


def read_as_markup(part):
    """Where a hostile text stands that is more than text there."""
    hostile = [place.split(".") for place, words in places(part) if "<img" in words]
    assert hostile
    return [place for place in hostile if place[0] in MARKUP or place[-1] not in PLAIN]


def test_markup_in_tokens_and_titles_is_text_everywhere(catalogue):
    """It appears as a child, which React escapes, never in a property or component that is read as markup."""
    heads = painted(catalogue, f"?model={ODD}")
    around = callbacks.describe(catalogue, f"?model={ODD}&view=table", SCREEN, None)
    cards = callbacks.inspect(catalogue, ["L1H0"], f"?model={ODD}", SCREEN)
    assert HOSTILE.replace(" ", "␣") in text(cards)
    assert "<img" in text(heads["heads"])  # the scripts write it as text
    assert "<img" not in text(around["sections"]["profile"])
    assert read_as_markup(around) == []
    assert read_as_markup(cards) == []
    columns = leaves(around["table"]["columns"])
    assert not any("cellRenderer" in column for column in columns)  # the grid shows plain text


@pytest.mark.parametrize(
    "part",
    [
        html.Div([dcc.Markdown(HOSTILE, dangerously_allow_html=True)]),
        html.P(html.Iframe(srcDoc=HOSTILE)),
        html.A("a link", href=HOSTILE),
        ["section", {}, [["script", {}, [HOSTILE]]]],
        ["div", {"onclick": HOSTILE}, []],
    ],
)
def test_markup_that_would_be_read_is_found(part):
    """What the test above looks for is found where it is planted."""
    assert len(read_as_markup(part)) == 1


def test_sizes_that_make_no_sense_are_bounded():
    """A hostile width does not make a huge figure."""
    for width in (1e12, -5, float("nan"), 10**400, "wide", None):
        assert 280 <= callbacks.read_screen({"width": width})[0] <= 4000


def test_a_big_model_is_painted(catalogue):
    """Five panels, every head with a number."""
    heads = painted(catalogue, f"?model={BIG}")["heads"]
    assert len(heads["panels"]) == 5
    assert (len(heads["layers"]), heads["heads"]) == (80, 64)


def test_one_change_makes_one_view(catalogue, monkeypatch):
    """Maps, what is around them and cards are three questions about one view: opened once, its panels made once."""
    made, opened = [], []
    panels, repaired = type(MAPS[0]).panels, type(MAPS[0]).repaired
    monkeypatch.setattr(type(MAPS[0]), "panels", lambda self, shown: made.append(1) or panels(self, shown))
    monkeypatch.setattr(type(MAPS[0]), "repaired", lambda self, *asked: opened.append(1) or repaired(self, *asked))
    for number, tau in enumerate((0.123, 0.124), start=1):
        controls = {"model": BIG, "tau": tau}
        values = {"address": "", "screen": SCREEN, "page": "", "fresh": None, "pins": ["L1H0"]}
        all_controls = dict.fromkeys(control_props()) | controls
        query = callbacks.paint(catalogue, {"tau.value"}, controls=all_controls, **values)["query"]
        callbacks.describe(catalogue, query, SCREEN, None)
        callbacks.inspect(catalogue, ["L1H0"], query, SCREEN)
        assert (len(made), len(opened)) == (number, number)


def test_an_unchanged_section_is_not_sent_again(catalogue):
    """What the scripts draw is never sent; what the page says of the rest may be anything."""
    first = callbacks.describe(catalogue, "", SCREEN, None)
    again = callbacks.describe(catalogue, "?palette=okabe-ito", SCREEN, None, first["sent"])
    sent = {key for key, content in again["sections"].items() if content is not callbacks.no_update}
    assert sent == set()
    moved = callbacks.describe(catalogue, "?tau=0.5", SCREEN, None, first["sent"])
    sent = {key for key, content in moved["sections"].items() if content is not callbacks.no_update}
    assert sent <= {"scatter"}
    absent = first["sections"]["absent"]
    for nonsense in (7, "x", [None, 3], {"absent": [1]}, {}):
        found = callbacks.describe(catalogue, "", SCREEN, None, nonsense)["sections"]
        assert text(found["absent"]) == text(absent)
        assert found["profile"] is found["counts"] is callbacks.no_update


def test_what_is_drawn_below_follows_the_page(catalogue):
    """The page may have come to another view by itself; what it says of another page, or nonsense, is passed over."""
    query = painted(catalogue, "?view=table")["query"]
    for followed, best in (([query, f"{query}&kind=suppress"], "suppress"), (["?x=1", "?kind=suppress"], "promote")):
        found = callbacks.describe(catalogue, query, SCREEN, None, None, followed)
        effects = {row["best.effect"] for row in rows_of(found["table"])}
        assert effects - {""} >= {best}
        assert (effects == {"suppress", ""}) == (best == "suppress")
    for nonsense in (7, "x", [query], [None, None, None]):
        assert callbacks.describe(catalogue, query, SCREEN, None, None, nonsense)["table"]


def test_the_list_of_jobs_is_what_pages_received_last(server, store, monkeypatch):
    """It is the server's own, whatever a page says, and the store is not read again for it."""
    Journal(store).save(Job.of(asked("a/model")))
    client = TestClient(server, base_url="http://localhost")
    assert [job["model"] for job in client.get("/api/jobs").json()] == ["a/model"]
    monkeypatch.setattr(Engine, "jobs", lambda _: pytest.fail("the jobs were read again"))
    said = {ids.NEWS: [{"id": "1", "model": "planted"}], ids.FINISHED: []}
    (call,) = (call for call in calls(server, **said) if f"{ids.JOB_LIST}.children".encode() in call)
    answer = client.post("/_dash-update-component", content=call, headers={"Content-Type": "application/json"})
    shown = json.dumps(answer.json()["response"][ids.JOB_LIST])
    assert "a/model" in shown
    assert "planted" not in shown


def test_jobs_are_drawn_as_the_server_knows_them(catalogue, monkeypatch):
    """Models are looked up for the first list and when another job has finished; without a store nothing changes."""
    looks = []
    original = type(catalogue).listed
    monkeypatch.setattr(type(catalogue), "listed", lambda self: looks.append(1) or original(self))
    running = Job.of(asked("a/b")).at(state="running", stage="Map: layer 1 of 3", done=1, total=3)

    def drawn(job, finished=None):
        return callbacks.list_jobs(catalogue, None, False, lambda: [job_state(job)], 1, finished)

    first = drawn(running)
    assert "layer 1 of 3" in text(first["jobs"])
    further = drawn(running.at(done=2, stage="Map: layer 2 of 3"), first["finished"])
    assert "2 of 3" in text(further["jobs"])
    assert further["models"] is callbacks.no_update
    assert looks == [1]
    done = running.at(state="done", finished="2026-01-01T00:00:00Z")
    assert "smollm2" in text(drawn(done, first["finished"])["models"])
    assert looks == [1, 1]

    def lost():
        raise StoreError("the store is gone", "")

    assert set(callbacks.list_jobs(catalogue, None, False, lost).values()) == {callbacks.no_update}


# ---- Contracts: what Dash accepts silently -----------------------------------------------------------------------


@pytest.fixture
def registered(server):
    return server.state.dash, TestClient(server, base_url="http://localhost")


def outputs(app):
    """Every output of every callback, as the browser is told."""
    for entry in app._callback_list:
        joined = entry["output"].strip(".")  # one without outputs has a hash for a name
        yield from (part.split("@")[0] for part in joined.split("...") if part)


def test_no_output_is_written_by_two_callbacks(registered):
    """Dash takes duplicates without a word."""
    found = [name for name in outputs(registered[0]) if "." in name]
    assert sorted(found) == sorted(set(found))


def test_every_id_and_property_of_a_callback_exists(registered):
    """A misspelt id or property is found here, not by a user."""
    app, _ = registered
    parts = {part.id: part for part in app.layout._traverse() if getattr(part, "id", None)}
    parts |= {ids.PROVIDER: app.layout, ids.TABLE: grid()}
    used = {name for name in outputs(app) if "." in name}
    for entry in app._callback_list:
        used |= {f"{part['id']}.{part['property']}" for part in (*entry["inputs"], *entry["state"])}
    for name in used:
        part, _, prop = name.rpartition(".")
        assert part in parts, name
        assert prop in parts[part]._prop_names, name


def test_every_callback_argument_has_its_parameter():
    """Inputs reach functions by name; the names agree."""
    named = {
        callbacks.paint: callbacks.painting(),
        callbacks.describe: callbacks.describing(),
        callbacks.inspect: callbacks.inspecting(),
        callbacks.list_jobs: callbacks.listing(),
    }
    for function, spec in named.items():
        parameters = set(signature(function).parameters)
        assert parameters - {"catalogue", "changed", "models", "read_only", "jobs"} == set(spec["inputs"])


def test_no_keyword_of_a_callback_is_misspelt():
    """Dash takes any keyword; these are the ones that mean something."""
    known = {"output", "inputs", "websocket", "prevent_initial_call", None}
    tree = ast.parse(Path(callbacks.__file__).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    registering = [
        c for c in calls if getattr(c.func, "attr", "") == "callback" or getattr(c.func, "id", "") == "script"
    ]
    assert len(registering) >= 12
    assert {keyword.arg for call in registering for keyword in call.keywords} <= known
    for spec in (callbacks.painting(), callbacks.describing(), callbacks.inspecting(), callbacks.listing()):
        assert set(spec) == {"output", "inputs"}


def test_page_and_assets_are_served(registered):
    """The page, its icon and its scripts; unknown results are no error."""
    _, client = registered
    for path in ("/", "/assets/favicon.svg", "/assets/atlas/main.mjs", "/assets/before/theme.js", "/_dash-layout"):
        assert client.get(path).status_code == 200
    assert "Head Atlas" in client.get("/?model=<script>").text


def test_every_script_is_a_module_that_the_page_loads_once(registered):
    """Each is preloaded under the one address by which the others import it; Dash adds none a second time."""
    _, client = registered
    html = client.get("/").text
    modules = sorted(path.relative_to(scripts.FOLDER).as_posix() for path in scripts.FOLDER.rglob("*.mjs"))
    assert len(modules) >= 15
    assert re.findall(r"/assets/atlas/([\w.?=/]+)", html) == [*modules, "main.mjs"]
    for name in modules:
        answer = client.get(f"/assets/atlas/{name}")
        assert answer.headers["content-type"].split(";")[0] in {"text/javascript", "application/javascript"}


def test_a_changed_script_is_not_kept_by_the_browser(registered):
    """It asks each time, and is answered without the file while that is the same."""
    _, client = registered
    answer = client.get("/assets/atlas/main.mjs")
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get("/assets/atlas/main.mjs", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "no-cache")


def test_the_policy_allows_what_starts_the_page(registered):
    """The script that imports the modules is inline, and its hash is in the policy."""
    app, client = registered
    digest = base64.b64encode(hashlib.sha256(app.renderer.encode()).digest()).decode()
    answer = client.get("/")
    assert app.renderer in answer.text
    assert f"'sha256-{digest}'" in answer.headers["content-security-policy"]


def test_the_scripts_are_told_the_rules(registered):
    """Most pins, a head's name and the largest upload come with the page; the pattern is that of the names."""
    _, client = registered
    told = re.search(r'<meta name="atlas-rules" content="([^"]*)"', client.get("/").text)[1]
    rules = json.loads(unescape(told))
    assert (rules["pins"], rules["upload"]) == (MAX_PINS, MAX_UPLOAD)
    assert re.fullmatch(rules["head"], "L10H7").groups() == ("10", "7")


def test_cards_travel_as_plain_data(catalogue):
    """Tags, properties and text, nothing that Dash would keep books about."""
    cards = callbacks.inspect(catalogue, ["L23H4"], "", SCREEN)

    def check(piece):
        if isinstance(piece, str):
            return
        tag, properties, children = piece
        assert isinstance(tag, str)
        assert isinstance(properties, dict)
        for child in children:
            check(child)

    for card in cards:
        check(card)
    json.dumps(cards)


def test_every_field_of_the_form_is_one_of_the_api(registered):
    """The form sends its fields by name; the settings of a method are those of a method."""
    app, _ = registered
    form = next(part for part in app.layout._traverse() if getattr(part, "id", None) == ids.NEW_FORM)
    fields = [part for part in form._traverse() if "data-field" in part.to_plotly_json()["props"]]
    names = [getattr(part, "data-field") for part in fields]
    assert len(names) == len(set(names)) >= 10
    assert set(names) <= set(request_type(NetworkRequest).model_fields)
    details = [part for part in form._traverse() if "data-methods" in part.to_plotly_json()["props"]]
    named = {name for part in details for name in getattr(part, "data-methods").split()}
    assert named <= set(methods.names())
    kinds = {getattr(part, "data-field"): getattr(part, "data-type") for part in fields}
    assert (kinds["carriers"], kinds["sources"], kinds["tasks"]) == ("lines", "choice", "choices")
