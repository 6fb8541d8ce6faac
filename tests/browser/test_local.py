"""Local settings never leave the browser: maps, texts, cards and address follow at once."""

import pytest
from playwright.sync_api import expect

from tests.browser.harness import open_page

ASKED = {"fetch", "xhr"}


def watched(page):
    """The questions that the page asks from now on, when it has all numbers."""
    page.wait_for_timeout(1500)  # progress keeps coming, so the network is never idle for good
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.resource_type in ASKED else None)
    return asked


def change(page, control, value, prop="value"):
    """Set a control as a person would, and wait for the maps."""
    page.evaluate("([id, props]) => window.dash_clientside.set_props(id, props)", [control, {prop: value}])


@pytest.mark.parametrize(
    ("control", "value", "prop", "part"),
    [
        ("tau", 0.3, "value", "tau=0.3"),
        ("how", "always", "value", "how=always"),
        ("kind", "suppress", "value", "kind=suppress"),
        ("colour", "scores", "value", "colour=scores"),
        ("relation", "country_capital", "value", "relation=country_capital"),
        ("top", 5, "value", "top=5"),
        ("labels", "beyond", "value", "labels=beyond"),
        ("uncertain", True, "checked", "uncertain=1"),
        ("palette", "paper", "value", "palette=paper"),
        ("transpose", True, "checked", "transpose=1"),
    ],
)
def test_a_local_change_asks_nobody(browser, address, control, value, prop, part):
    """The address follows, and the page it leads to says the same as the one that came there by itself."""
    page = open_page(browser, address)
    asked = watched(page)
    change(page, control, value, prop)
    page.wait_for_function("(part) => location.search.includes(part)", arg=part)
    page.wait_for_timeout(700)  # longer than anything rests
    assert [url for url in asked if "/live/" not in url and "/api/jobs" not in url] == []
    other = open_page(browser, address + "/" + page.evaluate("location.search"))
    for piece in ("#sentence", "#legend", "#counts", "#maps"):
        assert other.locator(piece).inner_text() == page.locator(piece).inner_text()
    assert other.title() == page.title()
    assert page.complaints == other.complaints == []
    other.close()
    page.close()


def test_cards_follow_the_threshold_without_a_question(browser, address):
    """What the maps call the head, which scores are labels, its roles."""
    page = open_page(browser, f"{address}/?pin=L23H4")
    title = page.locator(".head-card header .roles")
    expect(title).to_contain_text("Knowledge")
    asked = watched(page)
    change(page, "tau", 0.9)
    expect(title).to_have_text("Unclassified")
    expect(page.locator("tr.strong[data-effects]")).to_have_count(0)
    assert [url for url in asked if "/live/" not in url and "/api/jobs" not in url] == []
    page.close()


def test_controls_that_do_nothing_say_why(browser, address):
    """The rule for several relations is of no use for one."""
    page = open_page(browser, f"{address}/?relation=country_capital")
    expect(page.locator("#how-control")).to_have_attribute(
        "title", "One relation is shown: there are no others to combine it with."
    )
    expect(page.locator("#how input").first).to_be_disabled()
    change(page, "relation", "")
    expect(page.locator("#how input").first).to_be_enabled()
    page.close()
