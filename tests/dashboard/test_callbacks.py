import ast
import base64
import hashlib
import json
import re
from html import unescape
from inspect import signature
from pathlib import Path

import pytest
from dash.exceptions import PreventUpdate
from starlette.testclient import TestClient

from analysis.data.relations import MAX_BYTES
from analysis.jobs.job import METHODS
from analysis.models import builtin as default_model
from dashboard import callbacks, ids, scripts
from dashboard.api import Submission
from dashboard.state import MAX_PINS
from tests.synthetic import BIG, HOSTILE, ODD

SCREEN = {"width": 1240, "dark": False}
OPENED = {f"{ids.ADDRESS}.data"}


def painted(library, query="", changed=OPENED, controls=None, page=""):
    controls = dict.fromkeys(callbacks.CONTROLS) | (controls or {})
    values = {"address": query, "screen": SCREEN, "controls": controls, "page": page, "pins": [], "fresh": None}
    return callbacks.paint(library, set(changed), **values)


def text(part):
    """A piece of the page as the JSON that the browser gets."""
    return json.dumps(part, ensure_ascii=False, default=lambda thing: thing.to_plotly_json())


def test_opening_an_address_sets_every_control(library):
    """The controls say what the address says."""
    found = painted(library, "?how=always&tau=0.4&transpose=1&pin=L3H2&theme=dark")
    controls = found["controls"]
    assert (controls["how"], controls["tau"], controls["transpose"], controls["theme"]) == ("always", 0.4, True, "dark")
    assert controls["model"].startswith(f"{default_model.ID}@")
    assert found["pins"] == ["L3H2"]
    assert found["painted"]["query"].endswith("&how=always&tau=0.4&transpose=1&theme=dark")


def test_moving_a_control_leaves_the_others_alone(library):
    """Only maps, numbers and address travel; no control is written back."""
    found = painted(library, "", {"tau.value"}, {"tau": 0.5, "how": "any"})
    assert all(value is callbacks.no_update for value in found["controls"].values())
    assert found["painted"]["query"].endswith("tau=0.5")


def test_before_the_browser_has_spoken_nothing_is_drawn(library):
    """The first call of a page comes before its width is known."""
    with pytest.raises(PreventUpdate):
        callbacks.paint(library, set(), address=None, screen=None, controls={}, page="", pins=None, fresh=None)


def test_the_table_shows_one_map_and_all_rows(library):
    """One row a head with its scores; the maps shrink to one panel."""
    query = painted(library, "?view=table")["painted"]
    assert len(query["heads"]["figure"]["data"]) == 1
    found = callbacks.describe(library, query["query"], SCREEN, None)
    assert len(found["rows"]) == 270
    best = next(row for row in found["rows"] if row["name"] == "L23H4")
    assert best["best"] == "country → capital"
    assert best["does"] == "Algorithmic, Knowledge"
    assert not found["no_table"]


def test_the_inspector_shows_pinned_heads_side_by_side(library):
    """One card a head, with hits and pairs, salient tokens, mates and provenance."""
    cards = callbacks.inspect(library, ["L23H4", "L24H5"], "", SCREEN)
    assert len(cards) == 2
    content = text(cards[0])
    for expected in ("26 / 40", "Salient tokens", "L23H3", "Provenance", "rank of 270", "L22H4"):
        assert expected in content


def test_hostile_pins_are_ignored(library):
    """A browser may send anything."""
    for pins in ("L1H1", [None, {"a": 1}], ["<script>"], ["\ud800"], 7, ["L1H1"] * 50):
        assert callbacks.inspect(library, pins, "", SCREEN)


def test_markup_in_tokens_and_titles_is_text_everywhere(library):
    """It appears as a child, which React escapes, never in a property that is read as markup."""
    heads = painted(library, f"?model={ODD}")["painted"]
    described = callbacks.describe(library, f"?model={ODD}&view=table", SCREEN, None)
    cards = callbacks.inspect(library, ["L1H0"], f"?model={ODD}", SCREEN)
    assert HOSTILE.replace(" ", "␣") in text(cards)
    for part in (heads["heads"]["figure"], described["profile"]):
        assert "<img" not in text(part)
    for part in (described, cards):
        assert "dangerously" not in text(part)


def test_sizes_that_make_no_sense_are_bounded():
    """A hostile width does not make a huge figure."""
    for width in (1e12, -5, float("nan"), 10**400, "wide", None):
        assert 280 <= callbacks.read_screen({"width": width})[0] <= 4000


def test_a_big_model_is_painted(library):
    """Five panels, every head with a number."""
    heads = painted(library, f"?model={BIG}")["painted"]["heads"]
    assert len(heads["panels"]) == 5
    assert (len(heads["layers"]), heads["heads"]) == (80, 64)


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
    parts = {part.id: part for part in app.layout._traverse() if getattr(part, "id", None)} | {ids.PROVIDER: app.layout}
    used = {name for name in outputs(app) if "." in name}
    for entry in app._callback_list:
        used |= {f"{part['id']}.{part['property']}" for part in (*entry["inputs"], *entry["state"])}
    for name in used:
        part, _, prop = name.rpartition(".")
        assert part in parts, name
        assert prop in parts[part]._prop_names, name


def test_every_callback_argument_has_its_parameter():
    """Inputs reach functions by name; the names agree."""
    named = {"paint": callbacks.PAINT, "describe": callbacks.DESCRIBE, "inspect": callbacks.INSPECT}
    for name, spec in named.items():
        parameters = set(signature(getattr(callbacks, name)).parameters)
        assert parameters - {"library", "changed"} == set(spec["inputs"])


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
    for spec in (callbacks.PAINT, callbacks.DESCRIBE, callbacks.INSPECT, callbacks.JOB_LISTS):
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
    modules = sorted(path.name for path in scripts.FOLDER.glob("*.mjs"))
    assert len(modules) >= 15
    assert re.findall(r"/assets/atlas/([\w.?=]+)", html) == [*modules, "main.mjs"]
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
    assert (rules["pins"], rules["upload"]) == (MAX_PINS, MAX_BYTES)
    assert re.fullmatch(rules["head"], "L10H7").groups() == ("10", "7")


def test_cards_travel_as_plain_data(library):
    """Tags, properties and text, nothing that Dash would keep books about."""
    cards = callbacks.inspect(library, ["L23H4"], "", SCREEN)

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
    assert set(names) <= set(Submission.model_fields)
    details = [part for part in form._traverse() if "data-method" in part.to_plotly_json()["props"]]
    assert {getattr(part, "data-method") for part in details} <= set(METHODS)
