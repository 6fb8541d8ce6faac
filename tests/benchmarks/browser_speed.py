"""How fast the page feels, in a real browser: both maps of 80 × 64 heads, and the first screen.

Times are taken inside the page: hovering until everything is laid out, a control until the frame after painting.
"""

import gzip
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from analysis.results.store import Store
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
        page.wait_for_selector("#maps canvas", state="attached")
        seconds = time.perf_counter() - start
    context.close()
    return seconds


def table(scratch: Path) -> str:
    """One line a promise."""
    store = Store(scratch / "store")
    fill(store)
    store.close()
    with serve(scratch) as address, open_browser() as browser:
        there = f"{address}/?model={BIG}"
        tau = ("τ changed", "tau", [0.05 + 0.02 * i for i in range(25)])
        rule = ("Any / Always", "how", ["always", "any"] * 12)
        theta = ("θ changed", "role", [0.3 + 0.02 * i for i in range(25)])
        role = ("F / N alone", "gates", ["facilitation", "interference"] * 12)
        rows = _map(browser, there, "function map", (80, 64, 5), tau, rule)
        rows += _map(browser, f"{there}&view=causal", "causal map", (80, 64, 4), theta, role)
        starts = sorted(first_map(browser, address) for _ in range(5))
    rows.append(("first map of the default model, warm", f"{starts[len(starts) // 2]:.2f} s", "2 s"))
    lines = [f"| {what} | {value} | {bar} |" for what, value, bar in rows]
    return "\n".join(["| 80 × 64 heads | measured | bar |", "|---|---|---|", *lines])


def _map(
    browser: Browser, address: str, title: str, cells: tuple[int, int, int], *controls: tuple[str, str, list[Any]]
) -> list[tuple[str, str, str]]:
    """Hovering over panels of so many cells across and down, some controls (words, id, values), and the bytes."""
    page = open_page(browser, address, height=1400)
    hovering = percentile(hover(page, *cells))
    rows = [(f"{title}, {cells[2]} panels: outline and tooltip on hover", f"{hovering:.1f} ms p95", "16 ms")]
    for words, control, values in controls:
        rows.append((f"{words}, on screen", f"{percentile(changes(page, control, values)):.0f} ms p95", "150 ms"))
    page.context.close()
    size = payload(browser, address)
    return [*rows, ("its figures and numbers, compressed", f"{size / 1e3:.0f} kB", "300 kB")]
