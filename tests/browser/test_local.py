"""Local settings never leave the browser: maps, texts, cards and address follow at once."""

import re

import pytest
from playwright.sync_api import expect

from dashboard.state import MODELS, TABLE
from dashboard.view import view_titles
from tests.browser.harness import drawn, maps

ASKED = {"fetch", "xhr"}
_OTHERS = ("/live/", "/api/jobs")  # progress, which keeps coming

_HAS_NUMBERS = """() => {
    const asked = performance.getEntriesByType("resource").filter((entry) => entry.initiatorType === "fetch");
    const last = Math.max(...asked.map((entry) => entry.responseEnd));
    return asked.some((entry) => entry.name.includes("/view/numbers/")) && performance.now() - last > 500;
}"""

FUNCTION = [
    ("tau", 0.3, "value", "tau=0.3"),
    ("how", "always", "value", "how=always"),
    ("kind", "suppress", "value", "kind=suppress"),
    ("labels", "beyond", "value", "labels=beyond"),
    ("uncertain", True, "checked", "uncertain=1"),
    ("colour", "scores", "value", "colour=scores"),
    ("top", 5, "value", "top=5"),
    ("relation", "country_capital", "value", "relation=country_capital"),
]
CAUSAL = [
    ("role", 0.3, "value", "role=0.3"),
    ("columns", "always", "value", "columns=always"),
    ("gates", "preview", "value", "gates=preview"),  # in which Always holds of no head
    ("gates", "interference", "value", "gates=interference"),
]
COMMON = [("palette", "paper", "value", "palette=paper"), ("transpose", True, "checked", "transpose=1")]
BEHAVIOUR = [
    ("attention", 0.6, "value", "attention=0.6"),
    ("strongest", 5, "value", "strongest=5"),
    ("measure", "induction", "value", "measure=induction"),
]
ABLATION = [
    ("off", "mean", "value", "off=mean"),
    ("largest", 5, "value", "largest=5"),
    ("item", "country_capital", "value", "item=country_capital"),
]
AGREEMENT = [
    ("label", 0.3, "value", "label=0.3"),
    ("cause", 0.7, "value", "cause=0.7"),
    ("matters", "any", "value", "matters=any"),
    ("counted", "beyond", "value", "counted=beyond"),
]
LOCAL = {
    "function": FUNCTION,
    "causal": CAUSAL,
    "behaviour": BEHAVIOUR,
    "ablation": ABLATION,
    "agreement": AGREEMENT,
}
MAPS = [name for name in view_titles() if name not in {TABLE, MODELS}]
ONE, THREE = "L23H4", "L23H4.L18H6.L2H1"  # pins: a card, and a matrix
PINNED = [*((name, ONE) for name in MAPS), ("ablation", THREE), ("agreement", THREE)]


def watched(page):
    """The questions that the page asks from now on, when it has all numbers."""
    page.wait_for_function(_HAS_NUMBERS)
    asked = []

    def note(request):
        if request.resource_type in ASKED and not any(part in request.url for part in _OTHERS):
            asked.append(request.url)

    page.on("request", note)
    return asked


def change(page, control, value, prop="value"):
    """Set a control as a person would."""
    page.evaluate("([id, props]) => window.dash_clientside.set_props(id, props)", [control, {prop: value}])


@pytest.mark.parametrize(("view", "pins"), PINNED)
def test_no_local_change_asks_anybody(visit, view, pins):
    """The address follows each control, and the page it leads to says the same as the one that came there by itself:
    around the maps, and on the cards of pinned heads.
    """
    page = visit(f"/?view={view}&pin={pins}")
    asked = watched(page)
    for control, value, prop, part in [*LOCAL[view], *COMMON]:
        change(page, control, value, prop)
        page.wait_for_function("(part) => location.search.includes(part)", arg=part)
    page.wait_for_timeout(700)  # longer than anything rests
    assert asked == []
    came_by_itself = words(page)
    page.goto(page.url)
    drawn(page)
    assert words(page) == came_by_itself


def words(page):
    """What is written around the maps, and the page's title."""
    pieces = ("#sentence", "#legend", "#counts", "#maps", "#inspector")
    return [page.title(), *(page.locator(piece).inner_text() for piece in pieces)]


def test_rows_of_the_table_follow_the_controls_without_a_question(visit):
    """Threshold, rule, labels and how many heads: the rows are those of the page that the address leads to."""
    page = visit("/?view=table&sort=-panel.knowledge&pin=L23H4")
    expect(page.locator("#table .ag-row").first).to_be_visible()
    asked = watched(page)
    before = first_rows(page)
    changes = {"tau": 0.3, "how": "always", "labels": "beyond", "top": 3, "colour": "scores", "palette": "paper"}
    for control, value in changes.items():
        change(page, control, value)
        page.wait_for_function("([key, value]) => location.search.includes(`${key}=${value}`)", arg=[control, value])
    page.wait_for_timeout(1000)  # longer than anything rests
    assert asked == []
    rows = first_rows(page)
    assert rows != before
    page.goto(page.url)
    drawn(page)
    expect(page.locator("#table .ag-row").first).to_be_visible()
    page.wait_for_timeout(500)
    assert first_rows(page) == rows
    change(page, "kind", "suppress")  # which needs other numbers
    expect(page.locator("#table .ag-row").first).to_be_visible()
    page.wait_for_timeout(1500)
    assert first_rows(page) != rows


def first_rows(page):
    """What stands in the rows on the screen: names, categories and scores on the map, from the top on."""
    found = page.evaluate("""() => {
        const texts = (/** @type {string} */ part) => [...document.querySelectorAll(`#table ${part} .ag-row`)].map(
            (row) => [Number(row.getAttribute("row-index")), row.innerText]);
        return [...texts(".ag-pinned-left-cols-container"), ...texts(".ag-center-cols-container")];
    }""")
    return sorted(found)


@pytest.mark.parametrize(
    ("query", "control"), [("", "tau"), ("?view=causal", "role"), ("?view=behaviour", "attention")]
)
def test_maps_follow_a_threshold_while_it_is_dragged(visit, query, control):
    """Most steps of the hand are painted before it lets go, and none is asked about."""
    page = visit(f"/{query}")
    asked = watched(page)
    page.evaluate("""() => {
        window.painted = 0;
        document.addEventListener("atlas-painted", () => (window.painted += 1));
    }""")
    thumb = page.locator(f"#{control} [role=slider]").bounding_box()
    page.mouse.move(thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2)
    page.mouse.down()
    for step in range(1, 21):
        page.mouse.move(thumb["x"] + thumb["width"] / 2 + 2 * step, thumb["y"] + thumb["height"] / 2)
        page.evaluate("() => new Promise(requestAnimationFrame)")  # a hand is not faster than the screen
    assert page.evaluate("window.painted") >= 10
    assert f"{control}=" in page.evaluate("location.search")
    page.mouse.up()
    page.wait_for_timeout(700)
    assert asked == []


@pytest.mark.parametrize(
    ("query", "control", "value", "before", "after"),
    [
        ("?pin=L23H4", "tau", 0.9, "Knowledge", "Unclassified"),
        ("?view=behaviour&pin=L18H6", "attention", 0.99, "Induction", "no clear pattern"),
    ],
)
def test_cards_follow_the_threshold_without_a_question(visit, query, control, value, before, after):
    """What the maps call the head, and which rows stand out."""
    page = visit(f"/{query}")
    title = page.locator(".head-card header .roles")
    strong = page.locator("tr.strong[data-effects]" if control == "tau" else "tr.strong[data-reaches^=attention]")
    expect(title).to_contain_text(before)
    page.wait_for_timeout(1_000)  # until every script has had its say
    assert strong.count() > 0
    asked = watched(page)
    change(page, control, value)
    expect(title).to_have_text(after)
    expect(strong).to_have_count(0)
    assert asked == []


def test_rows_above_the_threshold_stand_out_from_the_start(visit):
    """Three relations of L23H4 are labels; links in their rows say only which of them is on the map."""
    page = visit("/?pin=L23H4")
    rows = page.locator("tr.strong[data-effects]")
    expect(rows).to_have_count(3)
    change(page, "palette", "paper")
    page.wait_for_function("location.search.includes('palette=paper')")
    expect(rows).to_have_count(3)


def test_one_measure_alone_is_chosen_on_the_card_and_taken_back(visit):
    """A row of the card shows its measure alone, without a question; Back or a second click shows all again."""
    page = visit("/?view=behaviour&pin=L18H6")
    asked = watched(page)
    row = page.locator(".head-card").get_by_role("link", name="induction")
    row.click()
    page.wait_for_function("location.search.includes('measure=induction')")
    assert maps(page) == 1
    expect(page.locator("#measure")).to_have_value("induction")
    page.go_back()
    expect(page.locator("#maps canvas")).to_have_count(6)
    expect(page.locator("#measure")).to_have_value("All measures")
    row.click()
    expect(page.locator("#maps canvas")).to_have_count(1)
    assert [url for url in asked if "/view/numbers/" in url] == []
    row.click()
    expect(page.locator("#maps canvas")).to_have_count(6)


def test_a_card_shows_what_is_lost_by_the_chosen_ablation(visit):
    """A row for zero or for the mean, as the control says."""
    page = visit("/?view=ablation&pin=L23H4")
    rows = page.locator(".head-card tr[data-when]:visible")
    before = rows.all_inner_texts()
    asked = watched(page)
    change(page, "off", "mean")
    expect(page.locator(".head-card tr[data-when='off zero']:visible")).to_have_count(0)
    assert len(rows.all_inner_texts()) == len(before) > 0
    assert rows.all_inner_texts() != before
    assert asked == []


def test_the_preview_calls_the_mean_what_it_is(visit):
    """In the preview one segment of the rule is the mean over the prompts; elsewhere it is both rules."""
    page = visit("/?view=causal")
    expect(page.locator("#columns")).to_contain_text("Always + Any")
    change(page, "gates", "preview")
    expect(page.locator("#columns")).to_contain_text("Mean")
    change(page, "columns", "always")
    expect(page.locator("#legend")).to_contain_text("no head helps or hurts on every prompt")
    change(page, "gates", "both")
    expect(page.locator("#columns")).to_contain_text("Always + Any")


def test_links_on_cards_keep_what_the_controls_say(visit):
    """A row leads to its map with the threshold and palette of the page, which the server does not know."""
    page = visit("/?pin=L23H4")
    change(page, "tau", 0.3)
    change(page, "palette", "paper")
    row = page.locator(".head-card tr[data-when] a").first
    expect(row).to_have_attribute("href", re.compile("view=ablation.*tau=0.3.*palette=paper"))
    row.click()
    expect(page.locator("#off")).to_be_visible()
    assert "tau=0.3" in page.url
    assert "pin=L23H4" in page.url


def test_controls_that_do_nothing_say_why(visit):
    """The rule for several relations is of no use for one."""
    page = visit("/?relation=country_capital")
    expect(page.locator("#how-control")).to_have_attribute(
        "title", "One relation is shown: there are no others to combine it with."
    )
    expect(page.locator("#how input").first).to_be_disabled()
    change(page, "relation", "")
    expect(page.locator("#how input").first).to_be_enabled()
