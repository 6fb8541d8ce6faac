import ast
import html
import json
import re
from inspect import signature
from pathlib import Path

import pytest
from dash.exceptions import PreventUpdate
from starlette.testclient import TestClient

from analysis.jobs.job import Job, Request
from analysis.models import builtin as default_model
from dashboard.jobs import job_state
from dashboard.maps import MAPS
from dashboard.page import callbacks, ids
from dashboard.page.controls import control_props
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
    found = painted(catalogue, "?how=always&tau=0.4&transpose=1&pin=L3H2&theme=dark")
    controls = found["controls"]
    assert (controls["how"], controls["tau"], controls["transpose"], controls["theme"]) == ("always", 0.4, True, "dark")
    assert controls["model"].startswith(f"{default_model.ID}@")
    assert found["pins"] == ["L3H2"]
    assert found["query"].endswith("&how=always&tau=0.4&transpose=1&theme=dark")


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
    """One row a head with its scores; the maps shrink to one panel."""
    query = painted(catalogue, "?view=table")
    assert len(query["heads"]["figure"]["data"]) == 1
    found = callbacks.describe(catalogue, query["query"], SCREEN, None)
    assert len(found["rows"]) == 270
    best = next(row for row in found["rows"] if row["name"] == "L23H4")
    assert best["best"] == "country → capital"
    assert best["does"] == "Algorithmic, Knowledge"
    assert not found["hidden"][ids.TABLE_FRAME]


def test_the_inspector_shows_pinned_heads_side_by_side(catalogue):
    """One card a head, with hits and pairs, salient tokens, mates and provenance."""
    cards = callbacks.inspect(catalogue, ["L23H4", "L24H5"], "", SCREEN)
    assert len(cards) == 2
    content = text(cards[0])
    for expected in ("26 / 40", "Salient tokens", "L23H3", "Provenance", "rank of 270", "L22H4"):
        assert expected in content


def test_hostile_pins_are_ignored(catalogue):
    """A browser may send anything."""
    for pins in ("L1H1", [None, {"a": 1}], ["<script>"], ["\ud800"], 7, ["L1H1"] * 50):
        assert callbacks.inspect(catalogue, pins, "", SCREEN)


def test_markup_in_tokens_and_titles_is_text_everywhere(catalogue):
    """It appears as a child, which React escapes, never in a property that is read as markup."""
    heads = painted(catalogue, f"?model={ODD}")
    around = callbacks.describe(catalogue, f"?model={ODD}&view=table", SCREEN, None)
    cards = callbacks.inspect(catalogue, ["L1H0"], f"?model={ODD}", SCREEN)
    assert HOSTILE.replace(" ", "␣") in text(cards)
    for part in (heads["heads"]["figure"], around["sections"]["profile"]):
        assert "<img" not in text(part)
    for part in (around, cards):
        assert "dangerously" not in text(part)


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
    """Maps, what is around them and cards are three questions about one view; its panels are made once."""
    made = []
    original = type(MAPS[0]).panels
    monkeypatch.setattr(type(MAPS[0]), "panels", lambda self, shown: made.append(1) or original(self, shown))
    for number, tau in enumerate((0.123, 0.124), start=1):
        controls = {"model": ODD, "tau": tau}
        values = {"address": "", "screen": SCREEN, "page": "", "fresh": None, "pins": ["L1H0"]}
        all_controls = dict.fromkeys(control_props()) | controls
        query = callbacks.paint(catalogue, {"tau.value"}, controls=all_controls, **values)["query"]
        callbacks.describe(catalogue, query, SCREEN, None)
        callbacks.inspect(catalogue, ["L1H0"], query, SCREEN)
        assert len(made) == number


def test_an_unchanged_section_is_not_sent_again(catalogue):
    """Layer profile, counts and relations that are not applicable depend on other things; what the page says of
    them may be anything.
    """
    first = callbacks.describe(catalogue, "", SCREEN, None)
    again = callbacks.describe(catalogue, "?palette=okabe-ito&theme=dark", SCREEN, None, first["sent"])
    assert all(content is callbacks.no_update for content in again["sections"].values())
    moved = callbacks.describe(catalogue, "?tau=0.5", SCREEN, None, first["sent"])
    sent = {key for key, content in moved["sections"].items() if content is not callbacks.no_update}
    assert sent == {"profile", "counts"}
    for nonsense in (7, "x", [None, 3], {"profile": [1]}, {}):
        assert callbacks.describe(catalogue, "", SCREEN, None, nonsense)["sections"]["profile"]["data"]


def test_jobs_are_drawn_from_what_the_page_was_told(catalogue, monkeypatch):
    """Models are looked up for the first list and when another job has finished; what is no job is passed over."""
    looks = []
    original = type(catalogue).listed
    monkeypatch.setattr(type(catalogue), "listed", lambda self: looks.append(1) or original(self))
    running = job_state(Job(Request("a/b"), state="running", done=1, total=3)).model_dump()
    first = callbacks.list_jobs(catalogue, None, False, [running, {"id": "x"}, "nonsense"])
    assert "1 of 3" in text(first["jobs"])
    further = callbacks.list_jobs(catalogue, None, False, [running | {"done": 2}], first["finished"])
    assert "2 of 3" in text(further["jobs"])
    assert further["models"] is callbacks.no_update
    assert looks == [1]
    done = running | {"state": "done", "finished": "2026-01-01T00:00:00Z"}
    assert "smollm2" in text(callbacks.list_jobs(catalogue, None, False, [done], first["finished"])["models"])
    assert looks == [1, 1]


def test_the_scripts_are_told_the_rules(server):
    """Most pins, how heads are written and the largest upload, from the same constants that the server uses."""
    page = TestClient(server, base_url="http://localhost").get("/").text
    content = re.search(r'<meta name="atlas-rules" content="([^"]*)">', page)[1]
    rules = json.loads(html.unescape(content))
    assert (rules["pins"], rules["upload"]) == (8, 5_000_000)
    assert re.fullmatch(rules["head"], "L10H7").groups() == ("10", "7")


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
    named = {
        callbacks.paint: callbacks.painting(),
        callbacks.describe: callbacks.describing(),
        callbacks.inspect: callbacks.inspecting(),
        callbacks.list_jobs: callbacks.listing(),
    }
    for function, spec in named.items():
        parameters = set(signature(function).parameters)
        assert parameters - {"catalogue", "changed", "models", "read_only"} == set(spec["inputs"])


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


def test_every_script_that_the_page_calls_exists():
    """The names of clientside functions are in assets/atlas.js."""
    tree = ast.parse(Path(callbacks.__file__).read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "script"]
    source = (Path(callbacks.__file__).parent.parent.parent / "assets" / "atlas.js").read_text()
    exported = source[source.index("dash_clientside.atlas = {") :]
    assert len(calls) >= 8
    for call in calls:
        name = ast.literal_eval(call.args[0])
        assert re.search(rf"^    (async )?{name}(\(|:)", exported, re.MULTILINE), name


def test_the_names_that_the_scripts_know_are_marked():
    """A part that is renamed must be renamed in assets/atlas.js too; ids.py says which."""
    source = (Path(callbacks.__file__).parent.parent.parent / "assets" / "atlas.js").read_text()
    lines = re.findall(r'^[A-Z_]+ = "([a-z-]+)"(.*)$', Path(ids.__file__).read_text(), re.MULTILINE)
    called = r'(?:byId|setData|set_props|getApi\w*)\("([a-z-]+)"|\.id === "([a-z-]+)"|["\s]#([a-z-]+)'
    used = {name for found in re.findall(called, source) for name in found}
    assert used & {name for name, _ in lines} == {name for name, remark in lines if "(scripts)" in remark}


def test_page_and_assets_are_served(registered):
    """The page, its icon and its scripts; unknown results are no error."""
    _, client = registered
    for path in ("/", "/assets/favicon.svg", "/assets/atlas.js", "/assets/before/theme.js", "/_dash-layout"):
        assert client.get(path).status_code == 200
    assert "Head Atlas" in client.get("/?model=<script>").text


def test_cards_travel_as_plain_data(catalogue):
    """Tags, properties and text, nothing that Dash would keep books about; the script knows every tag."""
    cards = callbacks.inspect(catalogue, ["L23H4"], "", SCREEN)
    source = (Path(callbacks.__file__).parent.parent.parent / "assets" / "atlas.js").read_text()
    known = set(re.search(r'"([a-z0-9 ]+)"\.split', source)[1].split())

    def tags(piece):
        if isinstance(piece, str):
            return set()
        tag, properties, children = piece
        assert isinstance(properties, dict)
        return {tag}.union(*(tags(child) for child in children))

    assert set().union(*(tags(card) for card in cards)) <= known
    json.dumps(cards)
