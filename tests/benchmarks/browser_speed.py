"""How fast the page feels, in a real browser: both maps of 80 × 64 heads, and the first screen.

Times are taken inside the page: hovering until everything is laid out, a control from its change until the frame with
the new maps is painted, and again until the frame with the texts around them is. Below the controls stands what
`Plotly.react` takes for the same maps, until its frame is painted. Its figures are made beforehand: unlike a control,
it is charged neither for Dash nor for the rules.
"""

import gzip
import json
import math
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request
from plotly.utils import PlotlyJSONEncoder

from analysis.evidence.catalogue import Catalogue
from analysis.results.store import Store
from dashboard.figures.view_figure import view_figure
from dashboard.view import open_view
from tests.browser.harness import cell, drawn, open_browser, open_page, serve
from tests.synthetic import BIG, fill

Controls = tuple[tuple[str, str, str, list[Any]], ...]

_ANSWERS = ("_dash-layout", "_dash-update-component", "/view/numbers/")
_QUESTIONS = {"fetch", "xhr"}  # what a page asks by itself, unlike its icon
_PROGRESS = ("/live/", "/api/jobs")  # which keeps coming, whatever the controls say
_SAMPLES = 20  # of every control, and of plotly

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

_CHANGE = """([id, props]) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`nothing was painted after ${id}`)), 10000);
    const start = performance.now();
    const painted = (event) => new Promise((seen) => document.addEventListener(event, () => {
        requestAnimationFrame(() => setTimeout(() => seen(performance.now() - start), 0));
    }, { once: true }));
    Promise.all(["atlas-painted", "atlas-written"].map(painted)).then(resolve);
    window.dash_clientside.set_props(id, props);
})"""


_REACT = """async ([figures, count]) => {
    const { plotly } = await import("/assets/atlas/graph.mjs");
    const Plotly = await plotly();
    const graph = document.createElement("div");
    document.querySelector("main").prepend(graph);
    await Plotly.newPlot(graph, figures[0].data, figures[0].layout);
    const times = [];
    for (let i = 1; i <= count; i++) {
        const { data, layout } = structuredClone(figures[i % 2]);
        await new Promise((resolve) => setTimeout(resolve, 200));
        const start = performance.now();
        await Plotly.react(graph, data, layout);
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
        times.push(performance.now() - start);
    }
    graph.remove();
    return times;
}"""


def percentile(times: list[float], share: float = 0.95) -> float:
    """The value that this share of the times does not exceed."""
    return sorted(times)[math.ceil(share * len(times)) - 1]


def hover(page: Page, across: int, down: int, panels: int) -> list[float]:
    """From moving the pointer to outlines and tooltip in place, over heads of all panels."""
    points = [cell(page, (7 * i) % across, (11 * i) % down, i % panels) for i in range(200)]
    times: list[float] = page.evaluate(_HOVER, points)
    return times


def changes(page: Page, control: str, prop: str, values: list[object]) -> list[tuple[float, float]]:
    """From setting a control to the new colours on the screen, and to the new texts."""
    times = []
    for i in range(_SAMPLES):
        times.append(page.evaluate(_CHANGE, [control, {prop: values[i % len(values)]}]))
        page.wait_for_timeout(250)  # what waits for a rest, below the maps, is done between two changes
    return times


def questions(page: Page) -> list[str]:
    """The addresses that the page asks from now on, but for progress."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.resource_type in _QUESTIONS and not any(part in request.url for part in _PROGRESS):
            asked.append(request.url)

    page.on("request", note)
    return asked


def react(page: Page, store: Path, query: str, change: str) -> list[float]:
    """The same maps as figures: what `Plotly.react` takes from one to the other."""
    opened = Store(store)
    views = [open_view(Catalogue(opened), query + more) for more in ("", change)]
    figures = [json.loads(PlotlyJSONEncoder().encode(view_figure(view, 1240, dark=False))) for view in views]
    opened.close()
    times: list[float] = page.evaluate(_REACT, [figures, _SAMPLES])
    return times


def payload(browser: Browser, address: str) -> int:
    """Compressed bytes of the answers that carry all maps and numbers of the page."""
    sizes: list[int] = []
    page = browser.new_page()
    page.on(
        "response",
        lambda answer: (
            sizes.append(len(gzip.compress(answer.body())))
            if any(part in answer.url for part in _ANSWERS) and answer.status == 200
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


FUNCTION: Controls = (
    ("τ", "tau", "value", [0.05 + 0.02 * i for i in range(_SAMPLES)]),
    ("Any / Always", "how", "value", ["always", "any"]),
    ("effect", "kind", "value", ["promote", "suppress", "both"]),
    ("colour by", "colour", "value", ["scores", "categories"]),
    ("only the best", "top", "value", [5, 40]),
    ("palette", "palette", "value", ["paper", "okabe-ito"]),
    ("transpose", "transpose", "checked", [True, False]),
)
CAUSAL: Controls = (
    ("θ", "role", "value", [0.3 + 0.02 * i for i in range(_SAMPLES)]),
    ("Any / Always", "columns", "value", ["always", "any", "both"]),
    ("one score", "gates", "value", ["facilitation", "interference", "preview", "both"]),
    ("palette", "palette", "value", ["paper", "okabe-ito"]),
    ("transpose", "transpose", "checked", [True, False]),
)


def table(scratch: Path) -> str:
    """One line per promise."""
    store = Store(scratch / "store")
    fill(store)
    store.close()
    with serve(scratch) as address, open_browser() as browser:
        rows = _map(browser, address, scratch, "function map", f"?model={BIG}", "&tau=0.3", 5, FUNCTION)
        rows += _map(browser, address, scratch, "causal map", f"?model={BIG}&view=causal", "&role=0.3", 4, CAUSAL)
        starts = sorted(first_map(browser, address) for _ in range(5))
    rows.append(("first map of the default model, warm", f"{starts[len(starts) // 2]:.2f} s", "2 s"))
    lines = [f"| {what} | {value} | {bar} |" for what, value, bar in rows]
    return "\n".join(["| 80 × 64 heads | measured | bar |", "|---|---|---|", *lines])


def _map(
    browser: Browser, address: str, scratch: Path, title: str, query: str, change: str, panels: int, controls: Controls
) -> list[tuple[str, str, str]]:
    """Hovering over so many panels, changing controls (words, id, property, values), and the bytes."""
    page = open_page(browser, f"{address}/{query}", height=1400)
    page.wait_for_timeout(2000)
    hovering = percentile(hover(page, 80, 64, panels))
    rows = [(f"{title}, {panels} panels: outline and tooltip on hover", f"{hovering:.1f} ms p95", "16 ms")]
    slow, worst, asked = percentile(react(page, scratch / "store", query, change)), 0.0, questions(page)
    for words, control, prop, values in controls:
        colours, texts = (percentile(list(times)) for times in zip(*changes(page, control, prop, values), strict=True))
        worst = max(worst, colours)
        rows.append((f"{words} changed, on screen (texts)", f"{colours:.0f} ms p95 ({texts:.0f} ms)", "50 ms"))
    page.wait_for_timeout(1000)  # longer than anything rests before it is asked for
    rows.append(("`Plotly.react` with the same figures", f"{slow:.0f} ms p95, {slow / worst:.1f}× the slowest", "5×"))
    rows.append(("questions to the server for all these changes", str(len(asked)), "0"))
    page.context.close()
    size = payload(browser, f"{address}/{query}")
    return [*rows, ("its maps and numbers, compressed", f"{size / 1e3:.0f} kB", "300 kB")]
