"""A map is a thing of its own: one that only these tests know appears everywhere, and no other code names one."""

import ast
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xarray as xr
from starlette.testclient import TestClient

from analysis import methods
from analysis.jobs.engine import Engine
from analysis.options import Command
from analysis.results.provenance import ScoredItem
from analysis.results.scores import DIMS, ONLY_SAMPLE, Scores
from dashboard.access import Access
from dashboard.maps import MAPS, register
from dashboard.maps.map import Map
from dashboard.maps.plain import PlainPanel, PlainPanels
from dashboard.page import callbacks, ids
from dashboard.setting import Part
from dashboard.state import ViewState
from dashboard.view import open_view, view_titles
from dashboard.web.application import create_app
from tests.dashboard.made import catalogue_of, rows_of, state
from tests.dashboard.test_callbacks import SCREEN, painted, text
from tests.synthetic import ODD, fill, odd_scores
from tests.toy_map import ParityMap
from tests.toy_method import ParityMethod


class PlainMethod(ParityMethod):
    """The method of the plain map."""

    name, title = "plain", "Plain map"
    commands = (Command("plain", "nothing", ()),)


class PlainMap(Map[Part]):
    """Nothing but a name, a title and a number for every head: all else is as the base class has it."""

    name, title = "plain", "Plain map"

    def plain(self, shown):
        """One panel, with the scores as they are."""
        value = shown.result.score.sel(item="even", kind="even", sample=ONLY_SAMPLE).values
        return PlainPanels([PlainPanel("even", "Even", value, np.zeros(value.shape, np.int8), member=value > 0.5)])


def scores_of(method):
    """Heads 0 and 2 are even, in every layer of a small model."""
    card = odd_scores().provenance.model
    item = ScoredItem("even", "Even", "toy", pairs=1, kept=1)
    labels = (["even"], ["even"], [ONLY_SAMPLE], list(card.layers), list(range(card.heads)))
    values = np.broadcast_to((np.arange(card.heads) % 2 == 0) * 0.9, (1, 1, 1, len(card.layers), card.heads))
    coords = dict(zip(DIMS, labels, strict=True))
    score = xr.DataArray(values.copy(), coords, DIMS)
    facts = replace(odd_scores().provenance, method=method, version="1", items=(item,), settings={"shift": 2})
    return Scores(score, score * np.nan, xr.zeros_like(score).astype("int8"), facts)


@pytest.fixture
def toys(store):
    """Two maps that no module of the project knows, with a result each."""
    fill(store)
    added = [ParityMap(), PlainMap()]
    own = [ParityMethod(), PlainMethod()]
    for method, each in zip(own, added, strict=True):
        methods.register(method)
        register(each)
        scores = scores_of(each.name)
        store.put(f"result/{scores.provenance.model.fingerprint}/{each.name}/0", scores.to_parquet())
    yield catalogue_of(store)
    for method, each in zip(own, added, strict=True):
        methods.METHODS.remove(method)
        MAPS.remove(each)


@pytest.fixture
def client(toys, store):
    return TestClient(create_app(toys, Engine(store), Access(local=True)), base_url="http://localhost")


def test_a_new_map_is_offered_with_its_controls(client):
    """In the picker of views, in the bar above the maps and in the help."""
    layout = client.get("/_dash-layout").text
    assert view_titles()["parity"] == "Parity map"
    for expected in ("Parity map", ids.group("parity"), "evenness", ids.number("evenness"), "How even."):
        assert f'"{expected}"' in layout
    assert "evenness" in callbacks.painting()["inputs"]["controls"]


def test_a_new_map_is_painted_and_described(toys):
    """Panels, tooltip, controls and words; the function map's best relations are in its tooltip, too."""
    found = painted(toys, f"?model={ODD}&view=parity")
    (panel,) = found["heads"]["panels"]
    assert panel["title"] == "Even heads"
    assert found["heads"]["labels"][panel["label"]]["words"] == ["even", "odd"]
    assert found["heads"]["best"]["count"] == 1
    assert found["controls"]["evenness"] == 0.5
    assert [name for name, hidden in found["hidden_groups"].items() if not hidden] == ["parity"]
    around = callbacks.describe(toys, found["query"], SCREEN, None)
    assert "Parity map" in found["heads"]["title"]
    assert not around["hidden"][ids.FRAME]


def test_a_new_map_has_its_part_of_the_address(toys):
    """Its key is written and read like all others; a wrong value is said."""
    wanted = state(model=ODD, view="parity", evenness=0.7)
    assert wanted.to_query() == f"?model={ODD}&view=parity&evenness=0.7"
    assert ViewState.from_query(wanted.to_query()).state == wanted
    assert "evenness" in ViewState.from_query("?evenness=lots").notices[0]
    moved = painted(toys, "", {"evenness.value"}, {"model": ODD, "view": "parity", "evenness": 0.95})
    assert "&view=parity&" in moved["query"]
    assert moved["query"].endswith("&evenness=0.95")
    assert open_view(toys, moved["query"]).panels[0].count == 0


def test_a_new_map_has_its_part_of_a_heads_card_and_of_the_table(toys):
    """Its own page says it first, the others say it, too."""
    for view in ("parity", "function", "causal", "table"):
        cards = text(callbacks.inspect(toys, ["L1H2"], f"?model={ODD}&view={view}", SCREEN))
        assert "Counted from zero: evenness" in cards
        assert "Gates" in cards
    cards = text(callbacks.inspect(toys, ["L1H2"], f"?model={ODD}&view=parity", SCREEN))
    assert cards.index("Counted from zero: evenness") < cards.index("Gates")
    table = callbacks.describe(toys, f"?model={ODD}&view=table", SCREEN, None)
    assert "Parity" in [column["headerName"] for column in table["table"]["columns"]]
    assert [row["parity"] for row in rows_of(table["table"])[:4]] == [0.9, 0.0, 0.9, 0.0]


def test_a_new_map_can_be_taken_away(client):
    """As the view, as scores, as a picture, as a script and over the API."""
    query = f"?model={ODD}&view=parity"
    frame = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{query}").content))
    assert frame["member"].sum() == 8
    assert set(frame["method"]) == {"parity"}
    table = pq.read_table(io.BytesIO(client.get(f"/export/scores.parquet{query}").content))
    assert table.num_rows == 16
    assert "Even heads: score 1" in client.get(f"/export/figure.json{query}").text
    assert "Even heads" in client.get(f"/export/page.html{query}").text
    script = client.get(f"/export/reproduce.py{query}").text
    constants = {node.targets[0].id: node.value for node in ast.parse(script).body if isinstance(node, ast.Assign)}
    facts = scores_of("parity").provenance
    assert ast.literal_eval(constants["COMMANDS"]) == [["parity", ODD, "--shift", "2"]]
    assert ast.literal_eval(constants["FINGERPRINT"]) == facts.model.fingerprint
    assert "OTHER WEIGHTS" in script
    rows = client.get(f"/api/scores?model={ODD}&method=parity&kind=even&least=0.5").json()
    assert len(rows) == 8


@pytest.mark.parametrize("view", ["plain", "parity"])
def test_a_map_needs_only_a_name_a_title_and_numbers(client, toys, view):
    """Every hook of the base class has an answer that the page, the exports and the API can live with."""
    query = f"?model={ODD}&view={view}"
    heads = painted(toys, query)["heads"]
    assert heads["panels"]
    assert (heads["legend"], heads["idle"]) == ([], {})
    assert client.get(heads["numbers"]).headers["cache-control"].endswith("immutable")
    assert ODD in text(heads["sentence"])
    around = callbacks.describe(toys, query, SCREEN, None)
    assert all(content is callbacks.no_update for content in around["sections"].values())
    assert callbacks.inspect(toys, ["L1H0"], query, SCREEN)
    for name in ("view.csv", "scores.csv", "view.parquet", "page.html", "reproduce.py", "figure.json"):
        assert client.get(f"/export/{name}{query}").status_code == 200
    told = callbacks.list_jobs(toys, None, False, list)
    assert f"{view.capitalize()} map: 1 item" in text(told["models"])
    assert f"/?model={ODD}@73796e74&view={view}" in text(told["models"])


def test_a_model_without_a_result_is_told_so_by_any_map(toys):
    """With the command that computes it."""
    found = callbacks.describe(toys, "?view=plain", SCREEN, None)
    assert "No plain map of smollm2-135m-instruct yet" in text(found["empty"])
    assert "python -m analysis plain smollm2-135m-instruct" in text(found["empty"])
    assert found["hidden"][ids.FRAME]
    for view in ("parity", "plain"):
        idle = painted(toys, f"?view={view}")["heads"]["idle"]
        assert idle == ({"evenness": "There is no parity map yet."} if view == "parity" else {})
        assert callbacks.inspect(toys, [], f"?view={view}", SCREEN) == []
    assert callbacks.inspect(toys, [], "", SCREEN)


def test_names_and_keys_of_maps_are_their_own(toys):
    """Two maps cannot have one name, nor two settings one key in the address."""
    with pytest.raises(ValueError, match="parity"):
        register(ParityMap())
    for taken in ("table", "models", "function", ""):
        other = PlainMap()
        other.name = taken
        with pytest.raises(ValueError, match="view"):
            register(other)
    other = ParityMap()
    other.name = "other"
    with pytest.raises(ValueError, match="evenness"):
        register(other)
