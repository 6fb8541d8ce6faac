"""The function map by the weights and by the running model, in a real browser: switch, compare, look behind a score."""

import pandas as pd
import pytest
from playwright.sync_api import expect

from analysis.results.store import Store, cache_folder
from tests.browser.harness import MAPS, drawn, serve
from tests.browser.test_journeys import outlines, pinned, query, wait_for_query
from tests.synthetic import BLIND, fill, fill_two_bases


@pytest.fixture(scope="module")
def address(tmp_path_factory, default_checkpoint, running_scores):
    """The real server process; the default model has both maps, another one has a weights-only map that fails."""
    cache = tmp_path_factory.mktemp("cache")
    (cache / "models").symlink_to(cache_folder() / "models")
    store = Store(cache / "store")
    fill(store)
    fill_two_bases(store, running_scores)
    store.close()
    with serve(cache) as found:
        yield found


def point(page, name):
    """Where a head's point is in the window, once the figure is in sight."""
    page.locator("#scatter-card").scroll_into_view_if_needed()
    page.wait_for_selector("#scatter .points path", state="attached")
    return tuple(
        page.evaluate(
            """(name) => {
                const gd = document.querySelector("#scatter .js-plotly-plot");
                const at = gd.data[0].customdata.indexOf(name), { xaxis, yaxis } = gd._fullLayout;
                const { x, y } = gd.calcdata[0][at], box = gd.getBoundingClientRect();
                return [box.left + xaxis._offset + xaxis.l2p(x), box.top + yaxis._offset + yaxis.l2p(y)];
            }""",
            name,
        )
    )


def test_switch_to_the_running_model_and_choose_carriers(visit, running_scores):
    """Map, words and address follow, a reload keeps them, and the switch leads back."""
    page = visit()
    expect(page.locator("#carriers-control")).to_be_hidden()
    page.locator("#basis").get_by_text("Running model").click()
    wait_for_query(page, "basis", "running")
    expect(page.locator("#sentence")).to_contain_text("the running model")
    page.locator("#carriers").click()
    page.get_by_role("option", name="Every: the lowest").click()
    wait_for_query(page, "carriers", "every")
    expect(page.locator("#sentence")).to_contain_text("after every one of")
    page.locator("#carriers").click()
    page.get_by_role("option", name=running_scores.samples[1]).click()
    wait_for_query(page, "carriers", running_scores.samples[1])
    page.reload()
    drawn(page)
    expect(page.locator("#basis input:checked")).to_have_value("running")
    expect(page.locator("#carriers")).to_have_value(running_scores.samples[1])
    assert query(page)["carriers"] == running_scores.samples[1]
    page.locator("#basis").get_by_text("Weights").click()
    expect(page.locator("#carriers-control")).to_be_hidden()
    expect(page.locator("#sentence")).to_contain_text("its weights alone")
    page.wait_for_function("!location.search.includes('basis')")


def test_a_warning_leads_to_the_map_that_holds(visit):
    """Without loading the page again; pins stay, the back button returns."""
    page = visit(f"/?model={BLIND}&basis=function&pin=L23H4")
    expect(page.locator("#warning")).to_contain_text("the weights-only map is not reliable")
    page.evaluate("window.stays = true")
    page.get_by_role("link", name="See the map in the running model").click()
    expect(page.locator("#warning")).to_be_hidden()
    expect(page.locator("#basis input:checked")).to_have_value("running")
    assert "basis" not in query(page)
    assert pinned(page) == ["L23H4"]
    assert page.evaluate("window.stays")
    page.go_back()
    expect(page.locator("#warning")).to_be_visible()
    expect(page.locator("#basis input:checked")).to_have_value("function")


def test_points_are_linked_with_the_maps(visit):
    """Hovering a point outlines its head and shows the tooltip, a click pins it, and pinned points are marked."""
    page = visit("/?relation=country_capital")
    page.wait_for_timeout(500)
    page.mouse.move(*point(page, "L23H4"))
    expect(page.locator("#tooltip")).to_contain_text("L23H4")
    expect(page.locator("#tooltip")).to_contain_text("Weights 0.65 · Running model")
    assert outlines(page, "cursor") == 1
    page.mouse.click(*point(page, "L23H4"))
    expect(page.locator(".head-card")).to_have_count(1)
    assert pinned(page) == ["L23H4"]
    marked = "document.querySelector('#scatter .js-plotly-plot').data[0].selectedpoints?.length"
    page.wait_for_function(f"{marked} === 1")
    page.keyboard.press("Escape")
    page.wait_for_function(f"!{marked}")


def test_a_relation_of_the_list_is_chosen(visit):
    """Its link shows its map; clicking it again shows the categories."""
    page = visit()
    page.locator("#agreement").get_by_role("link", name="country → capital").click()
    wait_for_query(page, "relation", "country_capital")
    page.wait_for_function(f"{MAPS} === 1")
    page.locator("#agreement").get_by_role("link", name="country → capital").click()
    page.wait_for_function("!location.search.includes('relation')")


def test_filter_and_uncertain_labels(visit):
    """Hollow labels go with the filter; both settings are in the address and survive a reload."""
    page = visit()
    expect(page.locator("#legend")).to_contain_text("hollow")
    page.locator("#labels").get_by_text("Beyond copying").click()
    wait_for_query(page, "labels", "beyond")
    expect(page.locator("#legend")).not_to_contain_text("hollow")
    page.locator("#function-advanced summary").click()
    page.locator("#uncertain").press("Space")
    wait_for_query(page, "uncertain", "1")
    expect(page.locator("#legend")).to_contain_text("lighter inside")
    page.reload()
    drawn(page)
    expect(page.locator("#labels input:checked")).to_have_value("beyond")
    expect(page.locator("#uncertain")).to_be_checked()


def test_pairs_behind_a_score(visit, running_scores):
    """A click on the hits lists the pairs, sortable and as CSV, one carrier at a time; Escape keeps the pins."""
    page = visit("/?pin=L23H4&basis=running")
    page.locator(".head-card [data-pairs=country_capital]").first.click()
    expect(page.locator("#pairs-about")).to_contain_text("of 40 pairs are hits", timeout=60_000)
    expect(page.locator("#pairs-table .ag-row")).not_to_have_count(0)
    chosen = page.locator("#pairs-about [aria-pressed=true]")
    expect(chosen).to_contain_text(running_scores.samples[0])
    page.locator("#pairs-about").get_by_text(running_scores.samples[1]).click()
    expect(chosen).to_contain_text(running_scores.samples[1])
    expect(page.locator("#pairs-about")).to_contain_text("of 40 pairs are hits", timeout=60_000)
    page.get_by_role("button", name="Copy table").click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('Source\\tTarget\\tHit'))")
    assert len(page.evaluate("navigator.clipboard.readText()").splitlines()) == 1 + 40
    with page.expect_download() as found:
        page.get_by_role("button", name="Download as CSV").click()
    frame = pd.read_csv(found.value.path())
    hits = running_scores.hits.sel(
        item="country_capital", kind="promote", sample=running_scores.samples[1], layer=23, head=4
    )
    assert len(frame) == 40
    assert (frame["Hit"] == "hit").sum() == int(hits)
    page.keyboard.press("Escape")
    expect(page.locator("[role=dialog]")).to_have_count(0)
    assert pinned(page) == ["L23H4"]


def test_a_narrow_card_has_every_number(visit):
    """On a phone β, copied share, control and rank stand below a relation's bar, each with its name."""
    page = visit("/?pin=L23H4", width=390, height=844)
    row = page.locator(".head-card tr[data-effects]").first
    for label in ("β", "copied", "control", "rank"):
        cell = row.locator(f'td[data-label="{label}"]')
        expect(cell).to_be_visible()
        before = cell.evaluate("(cell) => getComputedStyle(cell, '::before').content")
        assert label in before
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    title, roles = (page.locator(f".head-card header {part}").bounding_box() for part in ("h2", ".roles"))
    assert roles["y"] >= title["y"] + title["height"]
    page.set_viewport_size({"width": 1280, "height": 800})
    rank = page.locator('.head-card td[data-label="rank"]').first
    assert rank.evaluate("(cell) => getComputedStyle(cell, '::before').content") == "none"


def test_the_buttons_of_the_pairs_are_in_sight_on_a_phone(visit):
    """The dialog needs no scrolling for them."""
    page = visit("/?pin=L23H4&basis=running", width=390, height=844)
    page.locator(".head-card [data-pairs=country_capital]").first.click()
    expect(page.locator("#pairs-about")).to_contain_text("of 40 pairs are hits", timeout=60_000)
    dialog = page.locator(".mantine-Modal-content").bounding_box()
    button = page.get_by_role("button", name="Download as CSV").bounding_box()
    assert button["y"] + button["height"] <= dialog["y"] + dialog["height"]


def test_pairs_that_cannot_be_computed_say_why(visit):
    """Of a model whose weights are not on this machine."""
    page = visit(f"/?model={BLIND}&basis=function&pin=L23H4")
    page.locator(".head-card [data-pairs=country_capital]").first.click()
    expect(page.locator("#pairs-about")).not_to_contain_text("Computing", timeout=60_000)
    expect(page.locator("#pairs-about")).to_contain_text(BLIND)
    page.complaints.clear()  # the browser reports every answer that is no success


def test_escape_closes_the_menu_before_it_clears_pins(visit):
    """One thing at a time."""
    page = visit("/?pin=L23H4")
    page.locator(".menu summary").first.click()
    expect(page.locator(".menu").first).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(page.locator(".menu").first).not_to_have_attribute("open", "")
    assert pinned(page) == ["L23H4"]
    page.keyboard.press("Escape")
    expect(page.locator(".head-card")).to_have_count(0)
