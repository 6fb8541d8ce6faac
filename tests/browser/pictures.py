"""`make pictures`: the README's pictures, from the real page."""

import tempfile
from pathlib import Path

from analysis.store import Store
from tests.browser.harness import ROOT, cell, open_browser, open_page, serve
from tests.synthetic import BIG, fill

FOLDER = ROOT / "assets" / "pictures"

# name, address, width, height, dark, the head to hover over, the part to show when it is not all
PICTURES = (
    ("function-small", "/?embed=1&palette=paper&transpose=1", 1040, 900, False, None, "#frame"),
    ("causal-small", "/?view=causal&embed=1&palette=paper", 700, 1000, False, None, "#frame"),
    ("validation", "/?view=causal", 1280, 860, False, None, "#validation-card"),
    ("map-light", "/?pin=L23H4", 1280, 860, False, (24, 5)),
    ("map-dark", "/?pin=L23H4", 1280, 860, True, (24, 5)),
    ("compare", "/?pin=L23H4.L24H5", 1280, 1500, False, None),
    ("causal-light", "/?view=causal", 1280, 860, False, None),
    ("causal-dark", "/?view=causal&palette=paper", 1280, 860, True, None),
    ("scores", "/?colour=scores&kind=promote", 1280, 620, False, (23, 4)),
    ("table", "/?view=table&pin=L23H4", 1280, 860, False, None),
    ("big", f"/?model={BIG}", 1280, 1000, False, (62, 18)),
    ("phone", "/?pin=L23H4", 390, 844, False, None),
)


def main() -> None:
    """Take all of them."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "store")
        fill(store)
        store.close()
        with serve(Path(scratch)) as address, open_browser() as browser:
            for name, path, width, height, dark, head, *part in PICTURES:
                page = open_page(browser, address + path, width=width, height=height, dark=dark)
                page.wait_for_timeout(700)
                if head:
                    page.mouse.move(*cell(page, *head))
                page.wait_for_timeout(300)
                (page.locator(part[0]) if part else page).screenshot(path=FOLDER / f"{name}.png")
                page.context.close()


if __name__ == "__main__":
    main()
