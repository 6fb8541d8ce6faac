"""How fast the page feels, in a real browser: both maps of 80 × 64 heads, and the first screen.

Times are taken inside the page: hovering until everything is laid out, a control until the frame after painting.
"""

import gzip
import time
from pathlib import Path

from playwright.sync_api import Browser, Page

from analysis.store import Store
from tests.browser.harness import cell, drawn, open_browser, open_page, serve
from tests.synthetic import BIG, fill

_HOVER = """async (points) => {
    const times = [];
    for (const [x, y] of points) {
        await new Promise(requestAnimationFrame);
        const start = performance.now();
        const moved = new MouseEvent("mousemove", { clientX: x, clientY: y, bubbles: true });
        document.elementFromPoint(x, y).dispatchEvent(moved);
        document.querySelector("#frame > .cursor").getBoundingClientRect();  // layout is part of it
        times.push(performance.now() - start);
    }
    return times;
}"""

_CHANGE = """([id, props]) => new Promise((resolve) => {
    const start = performance.now();
    const done = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start), 0));
    document.addEventListener("atlas-painted", done, { once: true });
    window.dash_clientside.set_props(id, props);
})"""


def percentile(times: list[float], share: float = 0.95) -> float:
    """The value that this share of the times does not exceed."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def hover(page: Page, across: int, down: int, panels: int) -> list[float]:
    """From moving the pointer to outlines and tooltip in place, over heads of all panels."""
    points = [cell(page, (7 * i) % across, (11 * i) % down, i % panels) for i in range(200)]
    times: list[float] = page.evaluate(_HOVER, points)
    return times


def changes(page: Page, control: str, values: list[object]) -> list[float]:
    """From setting a control to the new colours on the screen, one after the other."""
    times = []
    for value in values:
        times.append(page.evaluate(_CHANGE, [control, {"value": value}]))
        page.wait_for_timeout(600)
    return times


def payload(browser: Browser, address: str) -> int:
    """Compressed bytes of the answer that carries all figures of the page."""
    sizes = []
    page = browser.new_page()
    page.on(
        "response",
        lambda answer: (
            sizes.append(len(gzip.compress(answer.body())))
            if "_dash-update-component" in answer.url and answer.status == 200
            else None
        ),
    )
    page.goto(address)
    drawn(page)
    page.wait_for_timeout(500)
    return sum(sizes)


def first_map(browser: Browser, address: str) -> float:
    """Seconds from opening the address to the map, the browser having been there before."""
    context = browser.new_context()
    page = context.new_page()
    for _ in range(2):
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("#maps .heatmaplayer image", state="attached")
        seconds = time.perf_counter() - start
    context.close()
    return seconds


def table(scratch: Path) -> str:
    """One line a promise."""
    store = Store(scratch / "store")
    fill(store)
    store.close()
    with serve(scratch) as address, open_browser() as browser:
        rows = [*_function_map(browser, address), *_causal_map(browser, address)]
        starts = sorted(first_map(browser, address) for _ in range(5))
    rows.append(("first map of the default model, warm", f"{starts[len(starts) // 2]:.2f} s", "2 s"))
    lines = [f"| {what} | {value} | {bar} |" for what, value, bar in rows]
    return "\n".join(["| 80 × 64 heads | measured | bar |", "|---|---|---|", *lines])


def _function_map(browser: Browser, address: str) -> list[tuple[str, str, str]]:
    page = open_page(browser, f"{address}/?model={BIG}", height=1100)
    hovering = hover(page, 80, 64, 5)
    taus = changes(page, "tau", [0.05 + 0.02 * i for i in range(25)])
    rules = changes(page, "how", ["always", "any"] * 12)
    page.context.close()
    return [
        ("function map, 5 panels: outline and tooltip on hover", f"{percentile(hovering):.1f} ms p95", "16 ms"),
        ("τ changed, on screen", f"{percentile(taus):.0f} ms p95", "150 ms"),
        ("Any / Always, on screen", f"{percentile(rules):.0f} ms p95", "150 ms"),
        (
            "its figures and numbers, compressed",
            f"{payload(browser, f'{address}/?model={BIG}') / 1e3:.0f} kB",
            "300 kB",
        ),
    ]


def _causal_map(browser: Browser, address: str) -> list[tuple[str, str, str]]:
    there = f"{address}/?model={BIG}&view=causal"
    page = open_page(browser, there, height=1400)
    hovering = hover(page, 64, 80, 4)
    thresholds = changes(page, "role", [0.3 + 0.02 * i for i in range(25)])
    scores = changes(page, "gates", ["facilitation", "interference"] * 12)
    page.context.close()
    return [
        ("causal map, 4 panels: outline and tooltip on hover", f"{percentile(hovering):.1f} ms p95", "16 ms"),
        ("θ changed, on screen", f"{percentile(thresholds):.0f} ms p95", "150 ms"),
        ("F / N alone, on screen", f"{percentile(scores):.0f} ms p95", "150 ms"),
        ("its figures and numbers, compressed", f"{payload(browser, there) / 1e3:.0f} kB", "300 kB"),
    ]
