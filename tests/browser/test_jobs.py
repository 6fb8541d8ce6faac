"""Jobs as people see them: a map that fills in, progress with and without a WebSocket, cancel and try again."""

import json
import os
import re
import shutil

import pytest
from playwright.sync_api import expect

from analysis.results.scores import Missing
from tests import tiny_models
from tests.browser.harness import cell, drawn, field, serve, slowed
from tests.test_causal import SOLVER, built_model, built_task

RUNNING_CELLS = """running => import("/assets/atlas/state.mjs").then(({ state }) =>
    state.heads ? state.heads.panels[0].look.codes.filter((code) => code === running).length : -1)"""


def _linked(source, target):
    try:
        os.link(source, target)  # half a gigabyte that need not be there twice
    except OSError:
        shutil.copy(source, target)


@pytest.fixture(scope="module")
def models(tmp_path_factory, default_checkpoint):
    """A models directory with the default model's weights and another config, hence without results."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copytree(default_checkpoint.folder, folder / "twin", copy_function=_linked)
    config = folder / "twin" / "config.json"
    fields = json.loads(config.read_text())
    config.unlink()  # it may be the default model's own file
    config.write_text(json.dumps({**fields, "twin": True}))
    return folder


@pytest.fixture(scope="module")
def address(tmp_path_factory, models):
    with serve(tmp_path_factory.mktemp("cache"), "--models", str(models), "--device", "cpu") as found:
        yield found


def submit(page, address, *relations):
    """Each test asks for other relations: layers that are stored would be done at once."""
    wanted = {"model": "twin", "methods": ["function"], "relations": relations}
    answer = page.request.post(f"{address}/api/jobs", data=wanted)
    assert answer.status == 202
    return answer.json()["id"]


def entry(page, job):
    return page.locator(f"[data-job='{job}']")


def another_count(page, last):
    """How many heads are running as soon as that changes."""
    for _ in range(600):
        now = page.evaluate(RUNNING_CELLS, int(Missing.RUNNING))
        if now != last:
            return now
        page.wait_for_timeout(200)
    raise AssertionError(f"{last} heads are still running")


def test_a_running_jobs_map_fills_in_layer_by_layer(visit, address):
    """Opened in mid-job and never reloaded: fewer and fewer heads are running, and in the end none is."""
    page = visit("/?view=models")
    with slowed(address):
        job = submit(page, address, "country_capital")
        watch = entry(page, job).get_by_role("link", name="Watch the map")
        expect(watch).to_be_visible(timeout=60_000)
        page.goto(address + watch.get_attribute("href"))
        drawn(page)
        seen = [page.evaluate(RUNNING_CELLS, int(Missing.RUNNING))]
        expect(page.locator("#legend")).to_contain_text("being computed")
        page.mouse.move(*cell(page, 29, 4))
        expect(page.locator("#tooltip")).to_contain_text("being computed")
        while len(seen) < 4:
            seen.append(another_count(page, seen[-1]))
    while seen[-1]:
        seen.append(another_count(page, seen[-1]))
    assert seen == sorted(seen, reverse=True)
    assert all(count % 9 == 0 for count in seen)  # whole layers
    expect(page.locator("#legend")).not_to_contain_text("being computed")
    page.mouse.move(*cell(page, 29, 3))
    expect(page.locator("#tooltip")).not_to_contain_text("being computed")


def test_without_a_websocket_the_page_asks(visit, address):
    """Progress and the end arrive by polling when sockets are refused on the way."""
    page = visit("/?view=models", fresh=True)
    page.route_web_socket("**/live/jobs", lambda socket: socket.close())  # for good
    page.reload()
    drawn(page)
    with slowed(address):
        job = submit(page, address, "adjective_superlative")
        expect(entry(page, job)).to_have_attribute("data-state", "running", timeout=20_000)
    expect(entry(page, job)).to_have_attribute("data-state", "done", timeout=120_000)
    page.close()


def test_a_job_is_cancelled_and_tried_again_and_needs_no_page(visit, address):
    """By its buttons; the last page is closed and the job is done all the same, and then it is deleted."""
    page = visit("/?view=models")
    with slowed(address):
        job = submit(page, address, "adjective_comparative")
        expect(entry(page, job)).to_contain_text("of 30", timeout=60_000)
        entry(page, job).get_by_role("button", name="Cancel").click()
        expect(entry(page, job)).to_have_attribute("data-state", "cancelled", timeout=30_000)
        entry(page, job).get_by_role("button", name="Try again").click()
        expect(entry(page, job)).to_have_attribute("data-state", "running", timeout=30_000)
    page.goto("about:blank")
    page.wait_for_timeout(2000)
    page.goto(f"{address}/?view=models")
    expect(entry(page, job)).to_have_attribute("data-state", "done", timeout=120_000)
    entry(page, job).get_by_role("button", name="Delete").click()
    expect(entry(page, job)).to_have_count(0)


def test_a_fit_is_asked_for_with_the_form_and_seen_seed_by_seed(visit, address, models, tmp_path):
    """Model, method, settings and a task of one's own; the map and the loss curves follow without a reload."""
    tiny_models.save(built_model(), models / "built")
    file = tmp_path / "next.jsonl"
    file.write_text("\n".join(json.dumps({"prompt": i.prompt, "target": i.target}) for i in built_task().train))
    page = visit("/?view=models")
    field(page, "model").fill("built")
    page.locator("[data-field=methods]").get_by_label("Causal map").check()
    for other in ("Function map", "Function map, running model", "Salient tokens", "Behaviour"):
        page.locator("[data-field=methods]").get_by_label(other, exact=True).uncheck()
    field(page, "files").set_input_files(file)
    page.get_by_text("Settings of the causal map").click()
    for name, value in {"seeds": "2", "updates": "100 300", "batch": "8", "rates": "1 0.1 0.5 0.1"}.items():
        field(page, name).fill(value)
    with slowed(address):
        page.locator("#new-submit").click()
        watch = page.locator("[data-job]", has_text="built").get_by_role("link")
        expect(watch).to_be_visible(timeout=60_000)
        page.goto(address + watch.get_attribute("href"))
        drawn(page)
        expect(page.locator("#sentence")).to_contain_text(re.compile("[01] of 2"), timeout=60_000)
        page.locator("#losses-card").scroll_into_view_if_needed()
        drawn_updates = page.evaluate(UPDATES)
        page.wait_for_function(f"before => ({UPDATES}) > before", arg=drawn_updates, timeout=60_000)
    expect(page.locator("#sentence")).to_contain_text("in each of the 2 seeds. Any", timeout=120_000)
    page.wait_for_function(f"({UPDATES}) === {2 * (100 + 2 * 300)}")  # the figure comes after the sentence
    page.locator("#maps").scroll_into_view_if_needed()
    page.mouse.move(*cell(page, *SOLVER))
    expect(page.locator("#tooltip")).to_contain_text("needs it")
    page.locator("#seed").click()  # unfolded, because the link names a fit; the pickers have followed
    page.get_by_role("option", name="Seed 1").click()
    expect(page.locator("#sentence")).to_contain_text("Only seed 1 is shown")


UPDATES = """[...(document.querySelector("#losses .js-plotly-plot")?._fullData || [])]
    .reduce((sum, line) => sum + line.x.length, 0)"""
