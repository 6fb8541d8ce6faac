"""What the scripts and the server must agree on, asked of the scripts themselves in a real browser."""

import re
from pathlib import Path

import pytest

from dashboard.page import ids
from dashboard.page.sections import all_sections

MODULE = "([name, member]) => import(`/assets/atlas/${name}.mjs`).then(module => module[member])"


def test_every_function_that_a_callback_names_exists(visit, address):
    """Dash would call it when it is needed, and then complain."""
    page = visit()
    dependencies = page.request.get(f"{address}/_dash-dependencies").json()
    named = {entry["clientside_function"]["function_name"] for entry in dependencies if entry["clientside_function"]}
    there = page.evaluate(
        "Object.entries(dash_clientside.atlas).filter(([, f]) => typeof f === 'function').map(([name]) => name)"
    )
    assert len(named) >= 12
    assert named == set(there)


def test_every_part_that_the_scripts_know_exists_and_is_marked(visit):
    """A part that is renamed must be renamed in assets/atlas/page.mjs too; ids.py says which."""
    page = visit("/?view=models")
    parts = set(page.evaluate(MODULE, ["page", "PARTS"]).values())
    lines = re.findall(r'^[A-Z_]+ = "([a-z-]+)"(.*)$', Path(ids.__file__).read_text(), re.MULTILINE)
    below = {section.key for section in all_sections()}  # of the maps, which name them
    assert parts - below == {name for name, remark in lines if "(scripts)" in remark}
    stores = {ids.ADDRESS, ids.SCREEN, ids.HEADS, ids.PINS, ids.JOBS, ids.FRESH, ids.FINISHED, ids.FOLLOWED}
    dialogs = {ids.HELP, ids.PAIRS, ids.PAIRS_ABOUT, ids.PAIRS_TABLE}
    drawn_by_mantine = {ids.PROVIDER, *dialogs}  # in the layout without an element of that id
    later = {ids.TABLE}  # with the first table
    for name in parts - stores - drawn_by_mantine - later:
        assert page.locator(f"#{name}").count() == 1, name


@pytest.mark.parametrize("path", ["/", "/?view=causal"])
def test_the_scripts_know_every_tag_of_the_cards(visit, path):
    """A tag that they do not know becomes a span."""
    page = visit(path)
    page.wait_for_timeout(500)
    known = set(page.evaluate("import('/assets/atlas/elements.mjs').then(module => [...module.TAGS])"))
    with page.expect_response(lambda answer: f"{ids.CARDS}.data" in (answer.request.post_data or "")[:200]) as answer:
        page.locator("#search").fill("23.4")
        page.locator("#search").press("Enter")
    cards = answer.value.json()["response"][ids.CARDS]["data"]

    def tags(piece):
        if isinstance(piece, str):
            return set()
        return {piece[0]}.union(*(tags(child) for child in piece[2]))

    assert cards
    assert set().union(*(tags(card) for card in cards)) <= known


def test_what_is_built_can_run_nothing(visit):
    """An unknown tag becomes a span, a property that could run something is left out, text stays text."""
    page = visit()
    piece = ["script", {"onclick": "x()", "src": "x", "data-pin": "L1H1"}, ["<b>", ["td", {"aria-label": "a"}, []]]]
    made = page.evaluate("piece => import('/assets/atlas/elements.mjs').then(m => m.built(piece).outerHTML)", piece)
    assert made == '<span data-pin="L1H1">&lt;b&gt;<td aria-label="a"></td></span>'


def test_each_module_is_fetched_and_run_once(visit):
    """Under one address each, although many modules import it; Dash starts after the last."""
    page = visit()
    fetched = page.evaluate("performance.getEntriesByType('resource').map(e => e.name).filter(n => n.includes('.mjs'))")
    assert len(fetched) >= 15
    assert len(fetched) == len(set(fetched))
    assert not [name for name in fetched if "?" in name]
