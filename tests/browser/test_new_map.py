"""A method and a map that only the tests know: registered here, computed by a job, seen in a browser."""

import shutil
import socket
import threading
import time

import pandas as pd
import pytest
import requests
import uvicorn
from playwright.sync_api import expect

from analysis import methods
from analysis.evidence.catalogue import Catalogue
from analysis.jobs.engine import Engine, WorkerConfig
from analysis.results.store import Store
from dashboard.access import Access
from dashboard.maps import MAPS, register
from dashboard.web.application import create_app
from tests.browser.harness import cell, drawn, open_profiles
from tests.browser.test_journeys import field, query, wait_for_query
from tests.browser.test_local import watched
from tests.toy_map import ParityMap
from tests.toy_method import ParityMethod

MODEL = "small"  # 3 layers of 4 heads


@pytest.fixture(scope="module")
def toys():
    """One method and one map more."""
    method, added = ParityMethod(), ParityMap()
    methods.register(method)
    register(added)
    yield
    MAPS.remove(added)
    methods.METHODS.remove(method)


@pytest.fixture(scope="module")
def address(toys, tiny_folder, tmp_path_factory):
    """The application in this process, its engine with a real worker, and a job that has computed the toy's result."""
    folder = tmp_path_factory.mktemp("toy")
    shutil.copytree(tiny_folder, folder / "models" / MODEL)
    store = Store(folder / "store")
    engine = Engine(store, WorkerConfig(device="cpu", models=folder / "models"))
    engine.start()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    application = create_app(Catalogue(store, engine), engine, Access(local=True), folder / "models")
    server = uvicorn.Server(uvicorn.Config(application, port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    computed(f"http://127.0.0.1:{port}/api")
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=20)
    engine.stop()
    store.close()


@pytest.fixture(scope="module")
def browser(address, tmp_path_factory):
    """Opened after the job: Playwright keeps an event loop running, which Dask would trip over as it starts."""
    with open_profiles(tmp_path_factory.mktemp("profiles")) as profiles:
        yield profiles


def computed(api):
    """Ask for the toy as a script would, and wait for it."""
    wanted = {"model": MODEL, "methods": ["parity"], "shift": 1}
    job = requests.post(f"{api}/jobs", json=wanted, timeout=30).json()
    for _ in range(600):
        state = requests.get(f"{api}/jobs/{job['id']}", timeout=30).json()
        if state["state"] not in {"queued", "running"}:
            break
        time.sleep(0.1)
    assert (state["state"], state["message"]) == ("done", "")
    assert (state["asked"], state["remarks"]) == (["shifted by 1"], ["parity is a toy"])
    assert "view=parity" in state["link"]
    rows = requests.get(f"{api}/scores?model={MODEL}&method=parity&kind=even&least=0.5", timeout=30).json()
    assert {(row["layer"] + row["head"] + 1) % 2 for row in rows} == {0}
    assert len(rows) == 6


def test_a_new_map_is_chosen_hovered_pinned_and_addressed(visit):
    """Picker, panel, control, tooltip, card, and an address that survives a reload."""
    page = visit(f"/?model={MODEL}&view=table")
    page.locator("#view").get_by_text("Parity").click()
    wait_for_query(page, "view", "parity")
    expect(page.locator("#maps canvas")).to_have_count(1)
    page.mouse.move(*cell(page, 1, 2))
    expect(page.locator("#tooltip")).to_contain_text("L1H2even")
    expect(page.locator("#tooltip")).to_contain_text("p 1.00, rank 1 of 12")
    page.mouse.click(*cell(page, 1, 2))
    expect(page.locator(".head-card")).to_contain_text("Counted from zero: evenness 1.")  # 1 + 2, shifted by 1
    asked = watched(page)
    page.locator("#evenness [role=slider]").focus()
    page.keyboard.press("ArrowRight")
    wait_for_query(page, "evenness", "0.51")
    assert asked == []  # a plain map follows its controls by itself
    expect(page.locator("#evenness-shown")).to_have_text("0.51")
    assert query(page)["pin"] == "L1H2"
    expect(page.locator("#tau")).to_be_hidden()
    page.reload()
    drawn(page)
    expect(page.locator("#evenness-shown")).to_have_text("0.51")
    expect(page.locator(".head-card")).to_contain_text("Counted from zero: evenness 1.")
    assert (query(page)["view"], query(page)["evenness"]) == ("parity", "0.51")


def test_a_new_map_is_in_the_table_and_among_the_downloads(visit, tmp_path):
    """Its column with a value per head, and its numbers as CSV."""
    page = visit(f"/?model={MODEL}&view=parity")
    page.locator("summary", has_text="Download").click()
    with page.expect_download() as download:
        page.locator("[data-export=csv]").click()
    download.value.save_as(tmp_path / "view.csv")
    assert pd.read_csv(tmp_path / "view.csv")["member"].sum() == 6
    page = visit(f"/?model={MODEL}&view=table")
    page.locator(".ag-body-horizontal-scroll-viewport").evaluate("bar => (bar.scrollLeft = bar.scrollWidth)")
    expect(page.locator(".ag-header-cell-text", has_text="Parity")).to_be_attached()
    for head, value in (("L1H2", "1"), ("L1H1", "0")):
        row = page.locator(f'.ag-center-cols-container [row-id="{head}"]')
        expect(row.locator("[col-id=parity]")).to_have_text(value)


def test_a_new_method_is_in_the_form_and_its_result_is_listed(visit):
    """To be ticked, with its own setting and its limits; what was computed stands among the results."""
    page = visit("/?view=models")
    expect(page.locator("[data-field=methods]").get_by_label("Parity map")).to_be_attached()
    page.get_by_text("Settings of the parity map").click()
    expect(field(page, "shift")).to_be_visible()
    assert field(page, "shift").get_attribute("placeholder") == "0"
    expect(page.locator("#model-list")).to_contain_text("Parity map: 1 item")
    expect(page.locator("#job-list")).to_contain_text("shifted by 1")
