"""What people do, in a real browser against the real server."""

import re
from urllib.parse import parse_qs, urlparse

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from analysis.data.relations import builtin
from analysis.evidence.shipped import shipped_scores
from dashboard.view import view_titles
from tests.browser.harness import MAPS, cell, drawn, field, maps
from tests.synthetic import BIG, HOSTILE, ODD


def query(page):
    return {key: value[0] for key, value in parse_qs(urlparse(page.url).query).items()}


def pinned(page):
    return page.locator(".head-card h2").all_text_contents()


def click(page, layer, head, **options):
    page.mouse.move(*cell(page, layer, head))
    page.mouse.click(*cell(page, layer, head), **options)


def outlines(page, name):
    return page.locator(f"#frame > .{name} > i:visible").count()


def wait_for_query(page, key, value):
    page.wait_for_function(
        "([key, value]) => new URLSearchParams(location.search).get(key) === value", arg=[key, value]
    )


def test_first_screen_is_a_finished_map(visit):
    """No form, no computation: the default model's panels, a sentence, a legend, counts."""
    page = visit()
    assert maps(page) == 5
    expect(page.locator("#sentence")).to_contain_text("Each square is one attention head")
    expect(page.locator("#legend")).to_contain_text("Knowledge")
    expect(page.locator("#counts")).to_contain_text("of 270")
    expect(page).to_have_title(re.compile("smollm2-135m-instruct · Function map"))
    assert urlparse(page.url).query == ""


@pytest.mark.parametrize("path", ["/?pin=L23H4", "/?view=table", "/?view=models"])
def test_the_page_needs_nothing_that_its_policy_forbids(visit, path):
    """No inline script, no eval, nothing from elsewhere: with the policy in force the console stays empty."""
    page = visit(path, policy=True)
    page.wait_for_timeout(1500)
    expect(page.locator("#page")).to_be_visible()


def test_hover_outlines_the_head_in_every_panel(visit):
    """And says its name, score, rank and best relations, without asking the server."""
    page = visit()
    page.wait_for_timeout(500)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.mouse.move(*cell(page, 23, 4, panel=2))
    expect(page.locator("#tooltip")).to_contain_text("L23H4")
    expect(page.locator("#tooltip")).to_contain_text("Knowledge: 0.65 (0.50–0.78), rank 1 of 270")
    expect(page.locator("#tooltip")).to_contain_text("promotes country → capital")
    assert outlines(page, "cursor") == 5
    assert requests == []
    page.mouse.move(5, 5)
    expect(page.locator("#tooltip")).to_be_hidden()
    assert outlines(page, "cursor") == 0


def test_click_pins_and_changes_the_address(visit):
    """Click pins one, shift-click adds, the address names both, Escape clears."""
    page = visit()
    click(page, 23, 4)
    expect(page.locator(".head-card")).to_have_count(1)
    expect(page.locator(".head-card")).to_contain_text("26 / 40")
    page.keyboard.down("Shift")
    click(page, 24, 5)
    page.keyboard.up("Shift")
    expect(page.locator(".head-card")).to_have_count(2)
    assert pinned(page) == ["L23H4", "L24H5"]
    assert query(page)["pin"] == "L23H4.L24H5"
    assert outlines(page, "pinned") == 10
    page.keyboard.press("Escape")
    expect(page.locator(".head-card")).to_have_count(0)
    assert "pin" not in query(page)


def test_a_deep_link_restores_the_view_and_so_does_reload(visit):
    """Every control, the pins, the colours."""
    path = "/?how=always&kind=promote&colour=scores&tau=0.3&top=5&transpose=1&palette=paper&pin=L3H2"
    page = visit(path)
    for _ in range(2):
        expect(page.locator("#how input:checked")).to_have_value("always")
        expect(page.locator("#kind input:checked")).to_have_value("promote")
        expect(page.locator("#colour input:checked")).to_have_value("scores")
        expect(page.locator("#palette input:checked")).to_have_value("paper")
        expect(page.locator("#transpose")).to_be_checked()
        expect(page.locator("#top")).to_have_value("5")
        expect(page.locator("#tau [role=slider]")).to_have_attribute("aria-valuenow", "0.3")
        assert pinned(page) == ["L3H2"]
        assert query(page)["model"].startswith("smollm2-135m-instruct@")
        before = query(page)
        page.reload()
        drawn(page)
        assert query(page) == before


def test_controls_change_map_counts_and_address(visit):
    """Any to Always; a relation; back to the categories."""
    page = visit()
    page.locator("#how").get_by_text("Always").click()
    wait_for_query(page, "how", "always")
    expect(page.locator("#counts")).to_contain_text("Knowledge0")
    page.locator("#how").get_by_text("Any").click()
    page.locator("#relation").click()
    page.get_by_role("option", name="country → capital").click()
    wait_for_query(page, "relation", "country_capital")
    page.wait_for_function(f"{MAPS} === 1")
    expect(page.locator("#sentence")).to_contain_text("country → capital")


PICTURE = "[...document.querySelectorAll('#maps canvas')].map((canvas) => canvas.toDataURL()).join()"


def test_a_moved_threshold_recolours_the_maps(visit):
    """Canvases stay, their pixels change, and the titles say how many heads are left."""
    page = visit()
    page.locator("#tau [role=slider]").focus()
    before, title = page.evaluate(PICTURE), page.locator(".panel-title").first.inner_text()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_for_query(page, "tau", "0.2")
    page.wait_for_function(f"before => {PICTURE} !== before", arg=before)
    assert page.locator(".panel-title").first.inner_text() != title


def test_squares_are_crisp_and_fit_the_window(visit):
    """Canvases have the pixels of the screen; a resized window lays them out again."""
    page = visit()
    widths = """() => [...document.querySelectorAll("#maps canvas")].map((canvas) =>
        [canvas.width, Math.round(canvas.clientWidth * devicePixelRatio)])"""
    before = page.evaluate(widths)
    assert all(drawn == shown for drawn, shown in before)
    page.set_viewport_size({"width": 700, "height": 800})
    page.wait_for_function(f"before => ({widths})()[0][0] < before", arg=before[0][0])
    page.wait_for_function("document.documentElement.scrollWidth <= 700")


def test_back_and_forward(visit):
    """Every change makes history, one step each."""
    page = visit()
    page.locator("#view").get_by_text("Table").click()
    wait_for_query(page, "view", "table")
    expect(page.locator("#table")).to_be_visible()
    page.locator("#how").get_by_text("Always").click()
    wait_for_query(page, "how", "always")
    page.go_back()
    expect(page.locator("#how input:checked")).to_have_value("any")
    expect(page.locator("#table .ag-row").first).to_be_visible()
    page.go_back()
    expect(page.locator("#table")).to_be_hidden()
    page.go_forward()
    expect(page.locator("#table .ag-row").first).to_be_visible()
    page.go_forward()
    expect(page.locator("#how input:checked")).to_have_value("always")


def test_choosing_another_model(visit):
    """The picker lists what is here; the map and the title follow."""
    page = visit()
    page.locator("#model").click()
    page.get_by_role("option", name=BIG).click()
    expect(page).to_have_title(re.compile(BIG))
    expect(page.locator("#counts")).to_contain_text("5,120")
    assert query(page)["model"].startswith(BIG)
    page.go_back()
    expect(page).to_have_title(re.compile("smollm2"))


def test_two_people_do_not_affect_each_other(visit):
    """Each page is its address."""
    one, other = visit("/?pin=L1H1"), visit("/?pin=L2H2&how=always")
    click(one, 5, 5)
    expect(one.locator(".head-card h2")).to_have_text("L5H5")
    assert pinned(other) == ["L2H2"]
    other.reload()
    drawn(other)
    assert (pinned(other), pinned(one)) == (["L2H2"], ["L5H5"])


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/?model=nobody/nothing", "nobody/nothing"),
        ("/?tau=lots", "lots"),
        ("/?pin=L999H0", "L999H0"),
        ("/?colour=%3Cscript%3Ealert(1)%3C/script%3E", "<script>"),
        ("/?flavour=sweet", "flavour"),
    ],
)
def test_what_an_address_gets_wrong_is_said(visit, path, said):
    """A visible notice and a sane view."""
    page = visit(path)
    expect(page.locator(".notice").first).to_contain_text(said)
    assert maps(page) == 5


def test_keyboard_only(visit):
    """Focus the maps, walk, hear, pin, search, transpose, help."""
    page = visit()
    page.locator("#frame").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#live")).to_contain_text("L1H1, All categories: Unclassified, score 0.00")
    page.keyboard.press("Enter")
    expect(page.locator(".head-card h2")).to_have_text("L1H1")
    page.keyboard.press("/")
    page.keyboard.type("23.4")
    page.keyboard.press("Enter")
    expect(page.locator(".head-card h2")).to_have_text("L23H4")
    heard = "L23H4, All categories: Algorithmic · Knowledge, score 0.65 (0.50–0.78), rank"
    expect(page.locator("#live")).to_contain_text(heard)
    page.keyboard.press("t")
    wait_for_query(page, "transpose", "1")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("How to read the maps")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert pinned(page) == ["L23H4"]


def test_a_head_that_does_not_exist_is_said_by_the_search(visit):
    """Nothing is pinned."""
    page = visit()
    page.locator("#search").fill("99.9")
    page.locator("#search").press("Enter")
    expect(page.locator("#note")).to_contain_text("no head 99.9")
    assert pinned(page) == []


def test_copy_link(visit):
    """The copied link names the checkpoint and the pins; the button says that it worked."""
    page = visit("/?pin=L23H4")
    page.locator("#copy").click()
    expect(page.locator("#copy")).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    fingerprint = shipped_scores("function").provenance.model.fingerprint[:8]
    assert f"model=smollm2-135m-instruct@{fingerprint}" in link
    assert "pin=L23H4" in link
    page.goto(link)
    drawn(page)
    assert pinned(page) == ["L23H4"]


def test_the_table_is_linked(visit):
    """Hovering a row outlines its head; a click pins it on top, marked in its place, which does not move."""
    page = visit("/?view=table&pin=L0H3")
    on_top = page.locator("#table .ag-pinned-left-floating-top .ag-row")
    expect(on_top).to_have_text(["L0H3"])  # far down, and yet in sight
    other = page.locator('.ag-center-cols-container .ag-row[row-id="L23H2"]')
    other.hover()
    assert outlines(page, "cursor") == 1
    before = other.bounding_box()["y"]
    other.locator(".ag-cell").first.click()
    expect(on_top).to_have_text(["L0H3", "L23H2"])
    expect(other).to_have_class(re.compile("ag-row-selected"))
    expect(page.locator(".head-card")).to_have_count(2)
    assert other.bounding_box()["y"] == pytest.approx(before, abs=1)
    assert query(page)["pin"] == "L0H3.L23H2"
    on_top.first.click()
    expect(on_top).to_have_text(["L23H2"])


def test_the_tables_filter_and_the_maps_zoom_are_linked(visit):
    """The map fades what the filter leaves out, the table leaves out what the zoom does; both are counted."""
    page = visit("/?view=table&filter=panel.all:greaterThan:0.15")
    count, clear = page.locator("#table-count"), page.get_by_role("button", name="Clear filter")
    expect(count).to_have_text("22 of 270 heads")
    left = (
        'import("/assets/atlas/state.mjs").then(({ state }) => state.left && [state.left[23 * 9 + 4], state.left[0]])'
    )
    assert page.evaluate(left) == [1, 0]
    clear.click()
    expect(count).to_have_text("270 heads")
    expect(clear).to_be_hidden()
    assert page.evaluate(left) is None
    wait_for_query(page, "filter", None)
    page.evaluate('import("/assets/atlas/zoom.mjs").then((m) => m.setZoom({ layers: [20, 24], heads: [0, 2] }))')
    expect(count).to_have_text(page.locator(".zoom-tools span").inner_text().removesuffix(" in view"))
    page.go_back()
    expect(count).to_have_text("270 heads")
    page.go_back()
    expect(count).to_have_text("22 of 270 heads")


def test_the_table_is_taken_away_with_all_that_stands_behind_its_scores(visit):
    """Two digits on the screen, all of them and the folded columns in the file, of the rows that the filter leaves."""
    page = visit("/?view=table&filter=name:contains:L23H4")
    cell_of = page.locator('.ag-center-cols-container [row-id="L23H4"] [col-id="panel.knowledge"]')
    expect(cell_of).to_have_text("0.65")
    expect(page.locator("#table-count")).to_have_text("1 of 270 heads")
    with page.expect_download() as found:
        page.get_by_role("button", name="Download as CSV").click()
    frame = pd.read_csv(found.value.path())
    assert frame["name"].tolist() == ["L23H4"]
    assert frame[["low.country_capital", "beyond.country_capital"]].iloc[0].tolist() == [0.4951, 0.5]


def test_downloads_hold_the_right_numbers(visit, tmp_path):
    """CSV, Parquet, page and script by link; pictures drawn in the browser."""
    page = visit("/?how=always&pin=L23H4")
    scores = shipped_scores("function")
    page.locator("summary", has_text="Download").click()
    files = {}
    for name in ("csv", "csv-all", "parquet", "html", "py"):
        page.locator("summary", has_text="Download").evaluate("button => (button.parentElement.open = true)")
        with page.expect_download() as download:
            page.locator(f"[data-export={name}]").click()
        files[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[name])
    view = pd.read_csv(files["csv"])
    assert set(view["sample"]) == {"always"}
    assert len(pd.read_csv(files["csv-all"])) == scores.score.size
    assert pd.read_parquet(files["parquet"])["hits"].sum() == scores.hits.sum()
    assert "plotly" in files["html"].read_text().lower()
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg")):
        page.locator("summary", has_text="Download").evaluate("button => (button.parentElement.open = true)")
        with page.expect_download() as download:
            page.locator(f"[data-picture={kind}]").click()
        download.value.save_as(tmp_path / f"picture.{kind}")
        assert (tmp_path / f"picture.{kind}").read_bytes().startswith(start)
    assert {"fingerprint", "L23H4"} <= set(re.findall(r"fingerprint|L23H4", (tmp_path / "picture.svg").read_text()))
    assert "pin=L23H4" in files["py"].read_text()
    other = visit()
    other.goto(files["html"].as_uri())
    other.wait_for_selector(".heatmaplayer image", state="attached")


def test_markup_is_shown_as_text(visit):
    """A relation and a token that are HTML: tooltip, inspector, table, and nothing runs."""
    page = visit(f"/?model={ODD}&pin=L1H0")
    dialogs = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    expect(page.locator(".head-card")).to_contain_text(HOSTILE)
    expect(page.locator(".head-card .token").first).to_contain_text("<img")
    page.mouse.move(*cell(page, 0, 0))
    expect(page.locator("#tooltip")).to_contain_text(HOSTILE)
    page.locator("#view").get_by_text("Table").click()
    expect(page.locator(".ag-cell", has_text=HOSTILE).first).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert dialogs == []


def test_dark_follows_the_system_and_the_switch(visit):
    """No flash: the first paint is already dark; the browser remembers the switch, the address does not."""
    page = visit(dark=True)
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 17, 21)"
    page.get_by_text("More", exact=True).click()
    page.locator("#theme").get_by_text("Light").click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "light")
    assert "theme" not in query(page)
    page.goto(page.url.split("?")[0] + "?theme=dark")
    drawn(page)
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "light")
    expect(page.locator("#theme input:checked")).to_have_value("light")
    expect(page.locator("#notices")).to_be_empty()
    page.get_by_text("More", exact=True).click()
    page.locator("#theme").get_by_text("System").click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def test_embedded(visit):
    """Maps and legend without what surrounds them."""
    page = visit("/?embed=1")
    expect(page.locator("header.top")).to_be_hidden()
    expect(page.locator(".controls")).to_be_hidden()
    expect(page.locator("#legend")).to_be_visible()
    page.goto(page.url.replace("embed=1", "embed=1&view=models"))
    drawn(page)
    expect(page.locator(".workshop")).to_be_hidden()


def test_zoom_is_common_and_stays(visit):
    """Dragging in one panel zooms all, in squares; another rule keeps it; a count and two ways back."""
    page = visit(f"/?model={BIG}")
    start, end = cell(page, 10, 10, panel=1), cell(page, 30, 26, panel=1)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()
    tools = page.locator(".zoom-tools")
    expect(tools).to_contain_text("357 of 5,120 heads in view")
    texts = "() => [...document.querySelectorAll('.panel-axes')].map((axes) => axes.firstChild.textContent)"
    assert set(page.evaluate(texts)) == {"10"}
    first, other = cell(page, 12, 12), cell(page, 13, 13)
    assert other[0] - first[0] == pytest.approx(other[1] - first[1], abs=0.2)
    assert pinned(page) == []
    page.locator("#how").get_by_text("Always").click()
    wait_for_query(page, "how", "always")
    page.wait_for_timeout(300)
    one = cell(page, 12, 12)
    assert cell(page, 13, 13)[0] - one[0] == other[0] - first[0]
    page.mouse.dblclick(*one)
    expect(tools).to_be_hidden()
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=3)
    page.mouse.up()
    tools.get_by_role("button", name="Show all heads").click()
    expect(tools).to_be_hidden()
    assert cell(page, 10, 10, panel=1)[0] == start[0]


OPENED = {"function": "&colour=scores&pin=L23H4.L24H5.L26H2", "causal": "&pin=L3H2", "agreement": "&pin=L23H4"}
PLACES = (
    *(f"/?view={name}{OPENED.get(name, '')}" for name in view_titles()),
    "/head/L23H4",
    "/search?q=capital",
    "/compare",
    "/prompt",
    "/nowhere",
)
READY = "#inspector > *, .head-page"  # of a view, or of a page of its own
WITHOUT_FILLERS = {"exclude": [[".ag-header-group-cell-no-group"]]}  # AG Grid's own, above columns without a group


FIRST_PLACES = ("/?pin=L23H4", "/?view=causal", "/head/L23H4")


@pytest.mark.parametrize("places", [FIRST_PLACES, pytest.param(PLACES, marks=pytest.mark.slow)])
def test_no_accessibility_violation_anywhere(visit, address, places):
    """axe-core finds nothing in any view on a wide light page."""
    page = visit(width=1440, height=900)
    problems = []
    for path in places:
        page.goto(address + path)
        page.wait_for_selector(READY, state="attached")
        problems += violations(page, path, None)
    assert problems == []
    forget_missing_page(page)


OFF = {"enabled": False}  # Mantine's dialogs have a header of their own beside the page's
IN_A_DIALOG = {"rules": {"landmark-no-duplicate-banner": OFF, "landmark-unique": OFF}}
UNFOLDED = """() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    for (const fold of document.querySelectorAll("[data-fold]")) {
        if (fold.offsetParent && fold.getAttribute("aria-expanded") === "false") fold.click();
    }
}"""


@pytest.mark.slow  # a minute of processor time each
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_accessibility_violation_in_any_theme_and_width(visit, address, dark, width):
    """axe-core finds nothing by any rule: in every place, with all folds open, in dialogs and the phone's sheet."""
    page = visit(width=width, height=900, dark=dark)
    problems = []
    for path in PLACES:
        page.goto(address + path)
        page.wait_for_selector(READY, state="attached")
        if path != "/nowhere":
            page.wait_for_selector(f"html[data-mantine-color-scheme={'dark' if dark else 'light'}]", state="attached")
        problems += violations(page, path, None)
        page.evaluate(UNFOLDED)
        problems += violations(page, f"{path} unfolded", None)
    page.goto(address + "/?pin=L23H4")
    drawn(page)
    page.locator("#help-open").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    problems += violations(page, "help", IN_A_DIALOG)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    if width < 760:
        click(page, 18, 6)
        expect(page.locator("#drawer")).to_have_class(re.compile("raised"))
        problems += violations(page, "the phone's sheet", None)
    page.locator("button.pairs:visible").first.click()
    expect(page.locator("#pairs-about")).not_to_be_empty()
    problems += violations(page, "pairs", IN_A_DIALOG)
    assert problems == []
    forget_missing_page(page)


def forget_missing_page(page):
    """The last place does not exist, and the browser says so."""
    assert all("404" in complaint for complaint in page.complaints)
    page.complaints.clear()


def violations(page, place, options):
    page.wait_for_timeout(300)  # until what fades has faded
    rules = Axe().run(page, context=WITHOUT_FILLERS, options=options).response["violations"]
    return [(place, rule["id"], rule["nodes"][0]["html"][:120]) for rule in rules]


@pytest.mark.parametrize(
    ("query", "width"),
    [
        ("", 1280),
        ("", 1220),
        ("", 390),
        ("?model=qwen2.5-coder-1.5b-instruct", 1290),
        ("?model=qwen2.5-coder-1.5b-instruct", 390),
    ],
)
def test_the_models_name_is_not_cut_off(visit, query, width):
    """Nor are the words in the search field, where the window is not a phone's; the header stays one row."""
    page = visit(f"/{query}", width=width)
    cut = "(id) => { const box = document.getElementById(id); return box.scrollWidth > box.clientWidth; }"
    assert not page.evaluate(cut, "model")
    if width > 1000:
        field = page.locator("#search")
        font = "13px sans-serif"
        wide = page.evaluate(
            "([text, font]) => { const pen = document.createElement('canvas').getContext('2d');"
            " pen.font = font; return pen.measureText(text).width; }",
            [field.get_attribute("placeholder"), font],
        )
        assert field.bounding_box()["width"] - 22 >= wide * 12 / 13
        assert page.locator(".top").bounding_box()["height"] < 60


NAMES = """[...document.querySelectorAll(".controls .control")].flatMap((control) => {
    const label = control.querySelector(".label").textContent.split(" = ")[0];
    const named = [...control.querySelectorAll("[role=radiogroup], [role=slider], [role=switch], [aria-label]")];
    return named.map((each) => [label, each.getAttribute("aria-label") ?? each.labels[0].textContent]);
})"""


def test_controls_are_announced_by_the_name_on_the_screen(visit):
    """Those of all maps; a switch says in addition what it does."""
    names = visit().evaluate(NAMES)
    switches = {"Uncertain": "Show uncertain", "Also": "Behaviour", "Axes": "Transpose"}
    assert len(names) > 20
    assert [pair for pair in names if pair[1] not in (pair[0], switches.get(pair[0]))] == []


def test_a_phone(visit):
    """Nothing is wider than the screen; the maps come first; controls are behind a button; a tap brings the card up."""
    page = visit("/?pin=L23H4", width=390, height=800)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".controls")).to_be_hidden()
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.locator("#how")).to_be_visible()
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.locator("#drawer")).not_to_have_class(re.compile("raised"))
    page.mouse.click(*cell(page, 24, 5))
    expect(page.locator("#drawer")).to_have_class(re.compile("raised"))
    expect(page.locator(".head-card h2")).to_be_in_viewport()
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".head-card h2")).not_to_be_in_viewport()
    assert pinned(page) == ["L24H5"]


def test_pins_are_named_and_numbered_on_the_map(visit):
    """One has its name in the first panel; of several each has a number, in every panel and on its card."""
    page = visit("/?pin=L23H4")
    expect(page.locator("#frame > .pinned b:visible")).to_have_text(["L23H4"])
    page.keyboard.down("Shift")
    click(page, 2, 7)
    page.keyboard.up("Shift")
    expect(page.locator("#frame > .pinned b:visible")).to_have_text(["1 L23H4", *"1111", "2 L2H7", *"2222"])


def test_back_undoes_controls_pins_and_views(visit):
    """Each is one step, a slider that is dragged is one; a wrong address does not trap the back button."""
    page = visit("/?model=nobody", fresh=True)
    start = page.evaluate("history.length")
    page.locator("#how").get_by_text("Always").click()
    wait_for_query(page, "how", "always")
    page.locator("#tau [role=slider]").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    wait_for_query(page, "tau", "0.2")
    click(page, 5, 5)
    expect(page.locator(".head-card")).to_have_count(1)
    page.locator("#view").get_by_text("Table").click()
    wait_for_query(page, "view", "table")
    assert page.evaluate("history.length") == start + 4
    page.go_back()
    wait_for_query(page, "view", None)
    expect(page.locator(".head-card")).to_have_count(1)
    page.go_back()
    expect(page.locator(".head-card")).to_have_count(0)
    wait_for_query(page, "tau", "0.2")
    page.go_back()
    wait_for_query(page, "tau", None)
    expect(page.locator("#tau [role=slider]")).to_have_attribute("aria-valuenow", "0.15")
    expect(page.locator("#how input:checked")).to_have_value("always")
    page.go_back()
    expect(page.locator("#how input:checked")).to_have_value("any")
    page.go_forward()
    expect(page.locator("#how input:checked")).to_have_value("always")


def test_the_tables_sort_and_filter_are_in_the_address(visit):
    """Restored from a link; what a person does to the table is written, and Back undoes it."""
    page = visit("/?view=table&sort=-layer&filter=name:contains:H4")
    first = page.locator(".ag-center-cols-container [row-index='0'] [col-id=layer]")
    expect(first).to_have_text("29")
    expect(page.locator(".ag-pinned-left-cols-container [row-index='0'] [col-id=name]")).to_have_text("L29H4")
    page.locator(".ag-header-cell[col-id=layer] .ag-header-cell-label").click()
    wait_for_query(page, "sort", "layer")
    expect(first).to_have_text("0")
    page.go_back()
    expect(first).to_have_text("29")
    assert query(page)["filter"] == "name:contains:H4"


def test_the_zoom_is_in_the_address(visit):
    """Restored from a link, kept while other things change, written when changed, even while a view is on its way."""
    page = visit("/?zoom=L0-9.H0-3")
    zoom = 'import("/assets/atlas/zoom.mjs").then(({ zoomed }) => JSON.stringify(zoomed()))'
    assert page.evaluate(zoom) == '{"layers":[0,9],"heads":[0,3]}'
    page.locator("#how").get_by_text("Always").click()
    wait_for_query(page, "how", "always")
    assert query(page)["zoom"] == "L0-9.H0-3"
    page.evaluate('import("/assets/atlas/zoom.mjs").then((m) => m.setZoom({ layers: [3, 5], heads: [1, 2] }))')
    wait_for_query(page, "zoom", "L3-5.H1-2")
    held = []
    page.route("**/_dash-update-component*", lambda route: held.append(route), times=1)
    page.go_back()
    page.wait_for_function("""import("/assets/atlas/zoom.mjs").then(({ zoomed }) => zoomed()?.layers[1] === 9)""")
    page.evaluate('import("/assets/atlas/zoom.mjs").then((m) => m.setZoom({ layers: [7, 8], heads: [0, 3] }))')
    wait_for_query(page, "zoom", "L7-8.H0-3")
    with page.expect_response("**/_dash-update-component*"):
        held[0].continue_()
    page.wait_for_timeout(500)  # the view of the address is drawn
    assert (page.evaluate(zoom), query(page)["zoom"]) == ('{"layers":[7,8],"heads":[0,3]}', "L7-8.H0-3")
    page.evaluate('import("/assets/atlas/zoom.mjs").then((m) => m.setZoom(null))')
    wait_for_query(page, "zoom", None)


def test_a_pin_set_right_after_back_stays(visit):
    """The view that comes late does not undo it, and the history keeps its steps."""
    page = visit("/?view=behaviour&pin=L1H1")
    page.locator("#view").get_by_text("Ablation").click()
    wait_for_query(page, "view", "ablation")
    steps = page.evaluate("history.length")
    held = []
    page.route("**/_dash-update-component*", lambda route: held.append(route), times=1)
    page.go_back()
    wait_for_query(page, "view", "behaviour")
    page.evaluate('import("/assets/atlas/pins.mjs").then((m) => m.setPins(["L3H3"]))')
    wait_for_query(page, "pin", "L3H3")
    with page.expect_response("**/_dash-update-component*"):
        held[0].continue_()
    expect(page.locator("#view input:checked")).to_have_value("behaviour")
    expect(page.locator(".head-card h2")).to_have_text("L3H3")
    assert (query(page)["view"], query(page)["pin"]) == ("behaviour", "L3H3")
    assert page.evaluate("history.length") == steps
    page.go_forward()
    wait_for_query(page, "view", "ablation")


def test_a_control_set_right_after_back_stays(visit):
    """What a person changed while the view was on its way wins: on the control, in the address, on the maps."""
    page = visit("/?view=behaviour")
    page.locator("#view").get_by_text("Ablation").click()
    wait_for_query(page, "view", "ablation")
    held = []
    page.route("**/_dash-update-component*", lambda route: held.append(route), times=1)
    page.go_back()
    wait_for_query(page, "view", "behaviour")
    page.locator("#palette").get_by_text("Paper").click()
    page.wait_for_timeout(200)
    with page.expect_response("**/_dash-update-component*"):
        held[0].continue_()
    expect(page.locator("#view input:checked")).to_have_value("behaviour")
    wait_for_query(page, "palette", "paper")
    expect(page.locator("#palette input:checked")).to_have_value("paper")
    assert query(page)["view"] == "behaviour"
    page.go_back()
    expect(page.locator("#palette input:checked")).to_have_value("okabe-ito")


def test_an_address_that_is_no_page_says_so(visit, address):
    """404 with a way home for people, JSON for scripts."""
    page = visit()
    page.complaints.clear()
    answer = page.goto(f"{address}/anything")
    assert answer.status == 404
    page.get_by_role("link", name="Go to the maps").click()
    drawn(page)
    assert page.request.get(f"{address}/anything", headers={"Accept": "application/json"}).json()["error"] == "NotFound"
    assert page.request.get(f"{address}/api/anything").status == 404
    page.complaints[:] = [text for text in page.complaints if "404" not in text]


def test_a_double_click_leaves_the_pins(visit):
    """It resets the zoom."""
    page = visit("/?pin=L1H1.L2H2")
    page.mouse.dblclick(*cell(page, 20, 4))
    page.wait_for_timeout(500)
    assert pinned(page) == ["L1H1", "L2H2"]


def test_shortcuts_after_clicking_a_control_and_behind_the_help(visit):
    """A radio button is no place to type; an open dialog takes the keys."""
    page = visit()
    page.locator("#how").get_by_text("Always").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("t")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert "transpose" not in query(page)


def test_neighbours(visit):
    """The arrows of a card go to the heads beside it."""
    page = visit("/?pin=L23H4")
    page.get_by_role("button", name="Go to L24H4").click()
    expect(page.locator(".head-card h2")).to_have_text("L24H4")


def test_another_model_drops_pins_that_it_does_not_have(visit):
    """And keeps the others."""
    page = visit("/?pin=L23H4.L1H1")
    page.locator("#model").click()
    page.get_by_role("option", name=ODD).click()
    expect(page.locator(".head-card")).to_have_count(1)
    assert pinned(page) == ["L1H1"]
    wait_for_query(page, "pin", "L1H1")


@pytest.mark.slow  # a minute of processor time; jobs on small models and a fit with the form: test_jobs.py
def test_analyse_a_model_and_share_it(visit, browser, tmp_path):
    """Submit the default model with a relation of one's own, watch it, open the finished map in another browser."""
    pairs = "source,target\n" + "\n".join(f"{s},{t}" for s, t in builtin()["word_antonym"].pairs[:120])
    (tmp_path / "opposites.csv").write_text(pairs)
    page = visit("/?view=models")
    field(page, "model").fill("smollm2-135m-instruct")
    for method in ("Salient tokens", "Function map, running model", "Behaviour"):
        page.locator(".workshop").get_by_label(method).uncheck()
    field(page, "files").set_input_files(tmp_path / "opposites.csv")
    page.locator("#new-submit").click()
    job = page.locator("[data-job]").first
    expect(job).to_contain_text("with opposites")
    expect(job).to_contain_text("Function map, layer", timeout=60_000)
    watcher = visit("/?view=models")
    expect(watcher.locator("[data-job]").first).to_contain_text("Running")
    expect(job).to_have_attribute("data-state", "done", timeout=120_000)
    expect(watcher.locator("[data-job]").first).to_have_attribute("data-state", "done", timeout=10_000)
    link = job.get_by_role("link", name="Open the map").get_attribute("href")
    other = visit(link + "&relation=opposites")
    expect(other.locator("#sentence")).to_contain_text("opposites")
    assert maps(other) == 1


def test_a_wrong_submission_is_said(visit, tmp_path):
    """A name that no model has, and a file with a broken line; no job comes of either."""
    (tmp_path / "broken.csv").write_text("hot,cold\nbig\n")
    page = visit("/?view=models")
    jobs = page.locator("[data-job]").count()
    field(page, "model").fill("../../etc/passwd!")
    page.locator("#new-submit").click()
    expect(page.locator("[data-field=model] .problem")).to_be_visible()
    field(page, "model").fill("smollm2-135m-instruct")
    field(page, "files").set_input_files(tmp_path / "broken.csv")
    page.locator("#new-submit").click()
    expect(page.locator("[data-field=files] .problem")).to_contain_text("line 2: expected two columns, found 1")
    assert page.locator("[data-job]").count() == jobs
    page.complaints.clear()  # the browser reports the refusals, too


def test_a_form_that_cannot_be_sent_is_said(visit, tmp_path):
    """No model, no method, a file above the limit: each is said at once, and the server is not asked."""
    page = visit("/?view=models")
    requests = []
    page.on("request", lambda request: requests.append((request.method, request.url.rsplit("/", 1)[1])))
    page.locator("#new-submit").click()
    expect(page.locator("[data-field=model] .problem")).to_contain_text("Which model?")
    field(page, "model").fill("smollm2-135m-instruct")
    methods = page.locator("[data-field=methods]")
    for name in ("Function map", "Function map, running model", "Salient tokens", "Behaviour"):
        methods.get_by_label(name, exact=True).uncheck()
    page.locator("#new-submit").click()
    expect(page.locator("[data-field=methods] .problem")).to_contain_text("Which method?")
    methods.get_by_label("Function map", exact=True).check()
    (tmp_path / "large.csv").write_bytes(b"a" * 5_000_001)
    field(page, "files").set_input_files(tmp_path / "large.csv")
    page.locator("#new-submit").click()
    problem = page.locator("[data-field=files] .problem")
    expect(problem).to_contain_text("large.csv is too large: a file may have at most 5 MB")
    assert ("POST", "jobs") not in requests


def test_settings_are_sent_only_with_their_method(visit):
    """Every kind of field as the API takes it; what is left empty, or belongs to a method not ticked, stays behind."""
    page = visit("/?view=models")
    sent = []
    page.route("**/api/jobs", lambda route: (sent.append(route.request.post_data_json), route.fulfill(json=[])))
    field(page, "model").fill(" org/name ")
    page.get_by_text("Settings of the causal map").click()
    page.locator("[data-field=tasks]").get_by_label("Math").check()
    typed = {"seeds": "2", "updates": "120, 260", "rates": "1.0 → 0.1; 0.5 often", "push": "0.5"}
    for name, value in typed.items():
        field(page, name).fill(value)
    field(page, "published").check()
    page.locator("#new-submit").click()
    page.wait_for_timeout(300)
    page.locator("[data-field=methods]").get_by_label("Causal map").check()
    page.locator("#new-submit").click()
    page.wait_for_timeout(300)
    first, second = (body for body in sent if body)
    methods = ["function", "running", "salience", "behaviour"]
    assert first == {"model": "org/name", "methods": methods, "sources": "single"}
    assert second == {
        "model": "org/name", "methods": [*methods, "causal"], "sources": "single",
        "tasks": ["math"], "seeds": 2,
        "updates": [120, 260], "rates": [1, 0.1, 0.5, "often"], "push": 0.5, "published": True,
    }  # fmt: skip


def test_eight_pins_do_not_stop_the_page(visit):
    """A link with eight heads opens as one with none does: they are columns of one matrix, the best cells marked."""
    names = [f"L20H{i}" for i in range(8)]
    page = visit(f"/?pin={'.'.join(names)}")
    expect(page.locator(".matrix thead a")).to_have_text(names, timeout=5000)
    expect(page.locator(".matrix thead .roles").first).not_to_be_empty()
    assert page.locator(".head-matrix").bounding_box()["height"] < 1000
    row = page.locator(".matrix tr", has_text="Math: needs it")
    numbers = [float(text) for text in row.locator("td").all_text_contents()]
    assert float(row.locator(".best").first.text_content()) == max(numbers)
    page.get_by_role("button", name="Unpin L20H0").click()
    expect(page.locator(".matrix thead a")).to_have_text(names[1:])


def test_search_twice(visit):
    """The second name replaces the first."""
    page = visit()
    for name, head in (("10.7", "L10H7"), ("23.4", "L23H4")):
        page.keyboard.press("/")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        expect(page.locator(".head-card h2")).to_have_text(head)
    page.locator("#relation").click()
    page.keyboard.type("capital")
    page.get_by_role("option", name="country → capital").click()
    wait_for_query(page, "relation", "country_capital")


def test_from_a_search_over_a_heads_page_to_its_attention_on_a_prompt_and_a_copied_link(visit):
    """Keyboard first: a word suggests heads, Enter opens one, its page has the pairs and leads to a prompt."""
    page = visit()
    page.keyboard.press("/")
    page.keyboard.type("zzzz")
    expect(page.locator("#suggestions")).to_have_text("No head found")
    page.locator("#search").fill("")
    page.keyboard.type("Paris")
    first = page.locator("#suggestions a").first
    expect(first).to_contain_text("France → Paris")
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "true")
    field = page.locator("#search")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(field).to_have_attribute("aria-activedescendant", first.get_attribute("id"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/head/L29H2?**")
    expect(page.locator(".summary")).to_contain_text("countries to capitals")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.locator("h1").click()
    page.locator("[data-pairs=country_capital]").first.click()
    expect(page.locator(".pair-list tr", has_text="France")).to_contain_text("Paris", timeout=60_000)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="On my prompt").click()
    page.locator("[name=text]").fill("The capital of France is")
    page.get_by_role("button", name="Run").click()
    pattern = page.locator("#prompt-patterns .card")
    expect(pattern).to_contain_text("L29H2 looks", timeout=90_000)
    expect(page.locator("#prompt-next th").first).to_contain_text("Paris")
    expect(page.locator("#prompt-maps figure")).to_have_count(2, timeout=90_000)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert parse_qs(urlparse(link).query)["text"] == ["The capital of France is"]
    page.goto(link)
    expect(page.locator("#prompt-patterns .card")).to_contain_text("L29H2 looks", timeout=30_000)
    pattern.locator("canvas").hover()
    expect(pattern.locator(".token.looking")).to_have_count(1)
    for axis in (".tick-across", ".tick-down"):
        expect(pattern.locator(axis)).to_have_text(pattern.locator(".token").all_text_contents())
    pattern.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    first, second = pattern.locator(".token").all_text_contents()[:2]
    expect(pattern.get_by_role("status")).to_contain_text(f"{second} looks at {first}")
    page.goto(urlparse(page.url)._replace(path="/head/L23H4", query="").geturl())  # a link without the model
    expect(page.locator(".summary")).to_contain_text("Set to zero at the last token it costs")
    page.locator("[data-pairs=country_capital]").first.click()
    expect(page.locator(".pair-list tr", has_text="France")).to_contain_text("Paris", timeout=60_000)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = parse_qs(urlparse(page.evaluate("navigator.clipboard.readText()")).query)
    assert re.fullmatch(r"smollm2-135m-instruct@[0-9a-f]{8}", copied["model"][0])  # although the address had none


def test_compare_any_two_numbers_and_brush(visit, address):
    """Dragging selects heads in the list and on all maps; other units, classes and models say what they can."""
    page = visit()
    page.goto(f"{address}/compare")
    page.locator("select[name=x]").select_option("function/country_capital/promote")
    page.locator("select[name=y]").select_option("running/country_capital/promote")
    page.locator("select[name=colour]").select_option("agreement/running/ablation/country_capital")
    expect(page.locator("#compare-note")).to_contain_text("Pearson r")
    expect(page.locator("#compare-scatter .legend-entry")).to_have_count(4)
    page.reload()
    expect(page.locator("select[name=y]")).to_have_value("running/country_capital/promote")
    expect(page.locator("#compare-maps figure")).to_have_count(3)
    strongest = page.locator("circle[data-head=L23H4]")
    box = strongest.bounding_box()
    page.mouse.move(box["x"] - 12, box["y"] - 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 24, box["y"] + 24)
    page.mouse.up()
    expect(page.locator("#compare-heads")).to_contain_text("L23H4")
    selected = int(page.locator("#compare-heads h2").text_content().split()[0])
    expect(page.locator("#compare-maps .selected")).to_have_count(3 * selected)
    page.reload()
    expect(page.locator("#compare-maps .selected")).to_have_count(3 * selected)
    expect(page.locator("#compare-heads h2")).to_contain_text(str(selected))
    page.locator("#compare-maps").get_by_role("application").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#compare-head")).to_contain_text("L1H0")
    expect(page.locator("#compare-maps .shown")).to_have_count(3)
    page.locator("select[name=y_over]").select_option("always")
    expect(page.locator("#compare-maps .selected")).to_have_count(0)
    assert "brush=" not in page.url
    assert query(page)["y_over"] == "always"
    page.locator("select[name=y]").select_option("ablation/country_capital/zero")
    expect(page.locator("#compare-maps figure")).to_have_count(2)
    expect(page.locator("#compare-note")).to_contain_text("there is no difference map")
    expect(page.locator("select[name=y_over]")).to_be_disabled()
    expect(page.locator("#compare-sources")).to_contain_text("Ablation map version 1")
    page.locator("select[name=x]").select_option("agreement/running/ablation/country_capital")
    expect(page.locator("#compare-maps .legend-entry")).to_have_count(4)
    page.locator("select[name=x]").select_option("function/any:knowledge/promote")
    page.locator("select[name=b]").select_option(label="gemma-3-270m")
    page.wait_for_url("**b=gemma-3-270m**")
    expect(page.locator("#compare-matches tr")).not_to_have_count(0)
    widths = [canvas.bounding_box()["width"] for canvas in page.locator("#compare-maps canvas").all()]
    assert len(widths) == 2
    assert abs(widths[0] - widths[1]) < 1
    expect(page.locator("#compare-scatter polyline")).to_have_count(2)


def test_a_comparison_fits_a_phone(visit, address):
    """Every head is a point in sight, in a figure with numbers along both axes; pickers say of which map they are."""
    page = visit(width=390, height=844)
    page.goto(f"{address}/compare")
    expect(page.locator("#compare-scatter circle")).to_have_count(270)
    card = page.locator("#compare-scatter").bounding_box()
    for circle in page.locator("#compare-scatter circle").all()[::9]:
        box = circle.bounding_box()
        assert card["x"] <= box["x"] <= box["x"] + box["width"] <= card["x"] + card["width"]
    assert page.locator("#compare-scatter").evaluate("card => card.scrollWidth <= card.clientWidth")
    assert page.locator("#compare-scatter text").count() >= 4
    beside = page.locator("label", has=page.locator("select[name=y]")).locator("b")
    expect(beside).to_have_text(" · Function map, running model")
    page.locator("select[name=y]").select_option("ablation/math/zero")
    expect(beside).to_have_text(" · Ablation map")


_DRAG = """([[x0, y0], [x1, y1], end]) => {
    const at = (x, y) => ({ clientX: x, clientY: y, bubbles: true, pointerType: "touch" });
    const picture = document.querySelector(".compare-points");
    picture.dispatchEvent(new PointerEvent("pointerdown", at(x0, y0)));
    picture.dispatchEvent(new PointerEvent("pointermove", at(x1, y1)));
    picture.dispatchEvent(new PointerEvent(end, at(x1, y1)));
}"""


def test_a_finger_selects_heads_of_a_comparison_unless_it_scrolls(visit, address):
    """A drag over all points selects all heads; one that the browser takes for scrolling selects none."""
    page = visit(width=390, height=844)
    page.goto(f"{address}/compare")
    expect(page.locator("#compare-scatter circle")).to_have_count(270)
    box = page.locator(".compare-points").bounding_box()
    corners = [[box["x"], box["y"]], [box["x"] + box["width"], box["y"] + box["height"]]]
    page.evaluate(_DRAG, [*corners, "pointercancel"])
    expect(page.locator("#compare-heads")).to_contain_text("Drag over the points")
    page.evaluate(_DRAG, [*corners, "pointerup"])
    expect(page.locator("#compare-heads h2")).to_have_text("270 selected heads")


def test_pinned_heads_and_the_set_of_the_page_go_along_to_the_pages_beside_it(visit):
    """The pins are those whose attention a prompt shows."""
    page = visit("/?pin=L23H4.L18H6")
    page.locator("summary", has_text="More").first.click()
    page.get_by_role("link", name="On my prompt").click()
    expect(page.locator("input[name=head]")).to_have_value("L23H4, L18H6")
    assert query(page)["model"].startswith("smollm2-135m-instruct@")
