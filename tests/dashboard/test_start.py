"""The first answer: a layout in which nothing is left to fill in."""

import json
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from analysis.evidence.shipped import shipped_scores
from dashboard.page import ids
from tests.dashboard.made import rows_of
from tests.dashboard.test_own_sets import put, with_own


def parts(layout):
    """The properties of every named component, by its name."""
    found = {}
    open_ = [layout]
    while open_:
        piece = open_.pop()
        if isinstance(piece, list):
            open_ += piece
        elif isinstance(piece, dict) and "props" in piece:
            props = piece["props"]
            found[str(props.get("id"))] = props
            open_.append(props.get("children"))
    return found


@pytest.fixture
def client(server):
    return TestClient(server, base_url="http://127.0.0.1")


def layout_of(client, address, more=""):
    answer = client.get(f"/_dash-layout?address={quote(address)}{more}")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    return parts(answer.json())


def test_the_first_answer_can_be_read_without_scripts(client):
    """Heading, sentence and legend of the view of the address; of an embedded page nothing but the maps is shown."""
    answer = client.get("/?view=causal&role=0.7")
    assert answer.headers["cache-control"] == "no-store"
    entry = answer.text.split('<div id="react-entry-point">')[1].split("<footer>")[0]
    assert '<h1 class="unseen">smollm2-135m-instruct · Causal map' in entry
    assert "the task <b>needs</b> it" in entry
    assert entry.count("fainter below θ = 0.7") == 2  # in the colours of both themes
    assert "Loading" not in entry
    assert "Loading" in client.get("/?view=causal&embed=1").text
    hostile = client.get("/", params={"model": "<script>alert(1)</script>"})
    assert "<script>alert" not in hostile.text


def test_the_layout_has_the_view_of_its_address(client):
    """Control values, maps, cards, hidden parts and theme, without a callback."""
    found = layout_of(client, "?view=causal&role=0.7&pin=L23H4", "&width=800&dark=1")
    assert found["view"]["value"] == "causal"
    assert (found["role"]["value"], found["role-shown"]["children"]) == (0.7, "0.70")
    assert found[ids.HEADS]["data"]["panels"][0]["key"] == "math always"
    assert found[ids.PINS]["data"] == ["L23H4"]
    assert "L23H4" in json.dumps(found[ids.CARDS]["data"])
    assert found[ids.group("function")]["hidden"]
    assert not found[ids.group("causal")]["hidden"]
    assert found[ids.PROVIDER]["forceColorScheme"] == "dark"
    assert found[ids.SCREEN]["data"] == {"width": 800, "dark": True}


def test_the_table_and_the_lists_come_with_their_views(client):
    """Rows of all heads; models with results."""
    assert len(rows_of(layout_of(client, "?view=table")[ids.TABLE_CONTENT]["data"])) == 270
    found = layout_of(client, "?view=models")
    assert found[ids.MODEL_LIST]["children"]
    assert found[ids.ATLAS]["hidden"]


def test_a_page_is_made_once_until_there_are_other_results(client, catalogue):
    """Twice the same bytes; after a set of somebody's own relations came and was renamed, another page each time."""
    asked = f"/_dash-layout?address={quote('?tau=0.3')}"
    before = client.get(asked).text
    assert client.get(asked).text == before
    put(catalogue._store, with_own())
    catalogue._look_again()
    (one,) = catalogue.sets(shipped_scores("function").provenance.model)
    with_set = client.get(asked).text
    catalogue.change_set(one, name="a name of its own")
    renamed = client.get(asked).text
    assert one.id not in before
    assert one.id in with_set
    assert "a name of its own" not in with_set
    assert "a name of its own" in renamed


HOSTILE_ADDRESSES = ("x" * 5000, "?" + "a=b&" * 900, "?tau=<script>", "?pin=L999H9.x", "\x00?%zz")
HOSTILE_SCREENS = ("", "&width=-5", "&width=1e9", "&width=٣٠٠", "&dark=maybe&width=99999999999")


def test_the_page_is_told_of_no_socket_but_its_own(client):
    """Dash's own is refused; a page that knows of it tries to open it for as long as it is there."""
    assert "websocket" not in client.get("/").text


def test_hostile_addresses_and_screens_are_harmless(client):
    """The default view, and a notice of what could not be read."""
    for address, more in zip(HOSTILE_ADDRESSES, HOSTILE_SCREENS, strict=True):
        found = layout_of(client, address, more)
        assert len(found[ids.HEADS]["data"]["panels"]) == 5
        assert found[ids.NOTICES]["children"]
        assert found[ids.SCREEN]["data"] == {"width": None, "dark": False}
