"""The first screen: it comes whole, and nothing on it moves."""

import pytest
from playwright.sync_api import expect

from dashboard.page import ids
from dashboard.view import view_titles
from tests.browser.harness import drawn, maps
from tests.synthetic import BIG

_SHIFTS = """() => new Promise((resolve) => {
    const shifts = [];
    const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    setTimeout(() => resolve(shifts.map(({ value, sources }) =>
        [value, sources.map(({ node }) => node?.id || node?.className || node?.nodeName).join()])), 100);
})"""


VIEWS = [
    *(f"/?view={name}" for name in view_titles()),
    "/?pin=L23H4",
    f"/?model={BIG}",
    "/head/L23H4",
    "/search?q=capital",
    "/compare",
    "/prompt",
]


FIRST_VIEWS = ["/?pin=L23H4", "/?view=causal", "/?view=table"]


@pytest.mark.parametrize(
    ("size", "views"),
    [
        ((1440, 900), FIRST_VIEWS),
        pytest.param((1440, 900), VIEWS, marks=pytest.mark.slow),
        pytest.param((390, 844), VIEWS, marks=pytest.mark.slow),
    ],
)
def test_nothing_moves_while_the_page_opens(visit, address, size, views):
    """The layout shift of every view is at most 0.05."""
    page = visit(width=size[0], height=size[1])
    for path in views:
        page.goto(address + path)
        page.wait_for_timeout(1500)
        shifts = page.evaluate(_SHIFTS)
        assert sum(value for value, _ in shifts) <= 0.05, (path, shifts)


def test_the_first_view_needs_no_question(visit):
    """Maps, controls, texts and cards come with the layout: no callback asks the server for any of them."""
    asked = []
    page = visit()
    page.on("request", lambda request: asked.append(request.post_data or ""))
    page.goto(page.url + "?how=always&tau=0.3&pin=L23H4")
    expect(page.locator(".head-card h2")).to_have_text("L23H4")
    expect(page.locator("#how input:checked")).to_have_value("always")
    expect(page.locator("#tau-shown")).to_have_text("0.30")
    assert maps(page) == 5
    page.wait_for_timeout(500)
    assert [body for body in asked if "output" in body and f"{ids.JOB_LIST}.children" not in body] == []


def test_plotly_waits_until_a_figure_comes_near(visit, address):
    """The first screen does without; the figure below the maps is drawn when one scrolls there, and nothing moves."""
    asked = []
    page = visit(width=1280, height=800)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    drawn(page)
    page.wait_for_timeout(1500)
    assert [url for url in asked if "plotly" in url or "async-graph" in url] == []
    page.locator("#scatter-card").scroll_into_view_if_needed()
    page.wait_for_selector("#scatter .js-plotly-plot .points path")
    assert len([url for url in asked if "/plotly/" in url]) == 1
    assert sum(value for value, _ in page.evaluate(_SHIFTS)) <= 0.05


def test_a_folded_figure_is_drawn_when_it_is_opened(visit):
    """The loss curves are folded away: there is no figure in them before somebody asks for it."""
    page = visit("/?view=causal", width=1280, height=800)
    page.locator("#losses-card").scroll_into_view_if_needed()
    page.wait_for_selector("#validation .js-plotly-plot .lines path")
    expect(page.locator("#losses .js-plotly-plot")).to_have_count(0)
    page.locator("#losses-card summary").click()
    page.wait_for_selector("#losses .js-plotly-plot .lines path")


def test_a_figure_that_was_never_near_has_followed_the_controls(visit):
    """Palette and effect were changed before the figures were drawn: they come as if they had been there."""
    page = visit("/?view=causal", width=1280, height=800)
    page.locator("#palette").get_by_text("Paper").click()
    page.wait_for_function("location.search.includes('palette=paper')")
    page.locator("#validation-card").scroll_into_view_if_needed()
    page.wait_for_selector("#validation .js-plotly-plot .lines path")
    colours = """() => import("/assets/atlas/rules.mjs").then(({ rules }) => {
        const { tones } = rules().palettes.paper.light;
        const { data } = document.querySelector("#validation .js-plotly-plot");
        return data.filter((line) => line.meta?.tone).map((line) => [line.line.color, tones[line.meta.tone]]);
    })"""
    page.wait_for_timeout(500)
    lines = page.evaluate(colours)
    assert lines
    assert [colour for colour, _ in lines] == [wanted for _, wanted in lines]


def test_the_grid_comes_with_the_first_table(visit, address):
    """Its scripts are fetched when the table is opened; rows and pins are there whether it came late or at once."""
    asked = []
    page = visit()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address + "/?pin=L23H4")
    drawn(page)
    page.wait_for_timeout(500)
    assert [url for url in asked if "async-community" in url] == []
    expect(page.locator("#table")).to_have_count(0)
    page.locator("#view").get_by_text("Table").click()
    for _ in range(2):
        expect(page.locator("#table-count")).to_have_text("270 heads")
        expect(page.locator("#table .ag-floating-top .ag-pinned-left-floating-top .ag-row")).to_have_text("L23H4")
        page.reload()


def test_an_address_that_is_too_long_opens_a_page(visit):
    """And is said to be."""
    page = visit("/?tau=0.3&relation=" + "x" * 5000)
    expect(page.locator(".notice").first).to_contain_text("too long")
