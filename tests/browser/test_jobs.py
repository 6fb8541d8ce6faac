"""Jobs as people see them: a map that fills in, progress with and without a WebSocket, cancel and try again."""

import os
import shutil

import pytest
from playwright.sync_api import expect

from analysis.scores import Missing
from tests.browser.harness import cell, drawn, serve

RUNNING_CELLS = """running => {
    const map = document.querySelector("#maps .js-plotly-plot")?._fullData?.[0];
    return map ? Array.from(map.z, row => Array.from(row)).flat().filter(code => code === running).length : -1;
}"""


def _linked(source, target):
    try:
        os.link(source, target)  # half a gigabyte that need not be there twice
    except OSError:
        shutil.copy(source, target)


@pytest.fixture(scope="module")
def address(tmp_path_factory, default_checkpoint):
    """A server whose models directory has the default model's weights under another name, with no results yet."""
    cache = tmp_path_factory.mktemp("cache")
    shutil.copytree(default_checkpoint.folder, cache / "folders" / "twin", copy_function=_linked)
    with serve(cache, "--models", str(cache / "folders"), "--device", "cpu") as found:
        yield found


def submit(page, address, *relations):
    """Each test asks for other relations: layers that are stored would be done at once."""
    wanted = {"model": "twin", "methods": ["function"], "relations": relations}
    answer = page.request.post(f"{address}/api/jobs", data=wanted)
    assert answer.status == 202
    return answer.json()["id"]


def entry(page, job):
    return page.locator(f"[data-job='{job}']")


def test_a_running_jobs_map_fills_in_layer_by_layer(visit, address):
    """Opened in mid-job and never reloaded: fewer and fewer heads are running, and in the end none is."""
    page = visit("/?view=models")
    job = submit(page, address, "knowledge", "copying")
    watch = entry(page, job).get_by_role("link", name="Watch the map")
    expect(watch).to_be_visible(timeout=60_000)
    page.goto(address + watch.get_attribute("href"))
    drawn(page)
    seen = [page.evaluate(RUNNING_CELLS, int(Missing.RUNNING))]
    expect(page.locator("#legend")).to_contain_text("running")
    page.mouse.move(*cell(page, 29, 4))
    expect(page.locator("#tooltip")).to_contain_text("running")
    while seen[-1]:
        more = page.wait_for_function(
            f"([running, last]) => {{ const now = ({RUNNING_CELLS})(running); return now !== last && {{ now }}; }}",
            arg=[int(Missing.RUNNING), seen[-1]], timeout=120_000,
        )  # fmt: skip
        seen.append(more.json_value()["now"])
    assert seen == sorted(seen, reverse=True)
    assert len(seen) >= 4
    assert all(count % 9 == 0 for count in seen)  # whole layers
    expect(page.locator("#legend")).not_to_contain_text("running")
    page.mouse.move(*cell(page, 29, 3))
    expect(page.locator("#tooltip")).not_to_contain_text("running")


def test_without_a_websocket_the_page_asks(visit, address):
    """Progress and the end arrive by polling when sockets are refused on the way."""
    page = visit("/?view=models")
    page.route_web_socket("**/live/jobs", lambda socket: socket.close())
    page.reload()
    drawn(page)
    job = submit(page, address, "linguistic")
    expect(entry(page, job)).to_have_attribute("data-state", "running", timeout=20_000)
    expect(entry(page, job)).to_have_attribute("data-state", "done", timeout=120_000)


def test_a_job_is_cancelled_and_tried_again_and_needs_no_page(visit, address):
    """By its buttons; then the last page is closed and the job is done all the same."""
    page = visit("/?view=models")
    job = submit(page, address, "algorithmic", "linguistic")
    expect(entry(page, job)).to_contain_text("of 30", timeout=60_000)
    entry(page, job).get_by_role("button", name="Cancel").click()
    expect(entry(page, job)).to_have_attribute("data-state", "cancelled", timeout=30_000)
    entry(page, job).get_by_role("button", name="Try again").click()
    expect(entry(page, job)).to_have_attribute("data-state", "running", timeout=30_000)
    page.goto("about:blank")
    page.wait_for_timeout(2000)
    page.goto(f"{address}/?view=models")
    expect(entry(page, job)).to_have_attribute("data-state", "done", timeout=120_000)
