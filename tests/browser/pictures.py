"""`make pictures`: the README's pictures, from the real page."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import FloatRect, Page

from analysis.results.store import Store
from tests.browser.harness import ROOT, cell, open_browser, open_page, serve
from tests.synthetic import BIG, fill

FOLDER = ROOT / "assets" / "pictures"
PAIRS = ".head-card [data-pairs=country_capital]"  # what opens them
FOUR_PANELS = "all categories, algorithmic, knowledge, linguistic"

# name, address, width, height, dark, the head to hover over, the part to show when it is not all
PICTURES = (
    ("function-small", "/?embed=1&palette=paper&transpose=1", 1300, 900, False, None, FOUR_PANELS),
    ("causal-small", "/?view=causal&embed=1&palette=paper", 700, 1000, False, None, "#frame"),
    ("validation", "/?view=causal", 1280, 860, False, None, "#validation-card"),
    ("losses", "/?view=causal", 1280, 860, False, None, "#losses-card"),
    ("map-light", "/?pin=L23H4", 1280, 860, False, (24, 5)),
    ("map-dark", "/?pin=L23H4", 1280, 860, True, (24, 5)),
    ("compare", "/?pin=L23H4.L24H5", 1280, 1500, False, None),
    ("matrix", "/?pin=L23H4.L24H5.L26H2.L17H5.L22H7", 1280, 1700, False, None, ".head-matrix"),
    ("causal-light", "/?view=causal", 1280, 860, False, None),
    ("causal-dark", "/?view=causal&palette=paper", 1280, 860, True, None),
    ("gemma-weights", "/?model=gemma-3-270m&basis=function", 940, 760, False, None),
    ("gemma-running", "/?model=gemma-3-270m&basis=running", 940, 700, False, None),
    ("qwen-weights", "/?model=qwen2.5-coder-1.5b-instruct&basis=function", 940, 760, False, None),
    ("qwen-running", "/?model=qwen2.5-coder-1.5b-instruct&basis=running", 940, 700, False, None),
    ("head-smollm2", "/head/L23H4", 1100, 1000, False, None),
    ("head-gemma", "/head/L12H2?model=gemma-3-270m", 1100, 1000, False, None),
    ("pairs", "/?pin=L23H4", 1280, 860, False, None, PAIRS),
    ("scores", "/?colour=scores&kind=promote", 1280, 620, False, (23, 4)),
    ("table", "/?view=table&pin=L23H4", 1280, 860, False, None),
    ("big", f"/?model={BIG}", 1280, 1000, False, (62, 18)),
    ("phone", "/?pin=L23H4", 390, 844, False, None),
)


def _four_panels(page: Page) -> FloatRect:
    """The maps' frame up to where the fifth panel's labels begin."""
    frame = page.locator("#frame").bounding_box()
    if frame is None:
        raise ValueError("the maps are not on the page")
    right = cell(page, 0, 0, panel=4)[0] - 44
    return {"x": frame["x"], "y": frame["y"], "width": right - frame["x"], "height": frame["height"]}


def main(names: Sequence[str]) -> None:
    """Take those that are named, or all of them."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "store")
        fill(store)
        store.close()
        with serve(Path(scratch)) as address, open_browser() as browser:
            for name, path, width, height, dark, head, *part in PICTURES:
                if names and name not in names:
                    continue
                page = open_page(browser, address + path, width=width, height=height, dark=dark)
                page.wait_for_timeout(700)
                if head:
                    page.mouse.move(*cell(page, *head))
                if part == ["#losses-card"]:
                    page.locator("#losses-card summary").click()
                if part == [PAIRS]:
                    page.locator(PAIRS).first.click()
                    page.locator("#pairs-table .ag-row").first.wait_for(timeout=120_000)
                    part = []
                if part and part != [FOUR_PANELS]:
                    page.locator(part[0]).scroll_into_view_if_needed()  # figures are drawn when they come near
                page.wait_for_timeout(1500)
                if part == [FOUR_PANELS]:
                    page.screenshot(path=FOLDER / f"{name}.png", clip=_four_panels(page))
                else:
                    (page.locator(part[0]) if part else page).screenshot(path=FOLDER / f"{name}.png")
                page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
