"""A map that no module of the project knows, in a real browser: registered by the test, and there."""

import socket
import threading
import time

import pandas as pd
import pytest
import uvicorn
from playwright.sync_api import expect

from analysis.jobs.engine import Engine
from analysis.results.catalogue import Library
from analysis.results.store import Store
from dashboard.access import Access
from dashboard.maps import MAPS, register
from dashboard.web.application import create_app
from tests.browser.harness import cell
from tests.browser.test_journeys import query, wait_for_query
from tests.dashboard.test_maps import ParityMap, scores_of
from tests.synthetic import ODD, fill


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The application in this process, with one map more."""
    store, added = Store(tmp_path_factory.mktemp("cache") / "store"), ParityMap()
    fill(store)
    scores = scores_of(added.name)
    store.put(f"result/{scores.provenance.model.fingerprint}/{added.name}/0", scores.to_parquet())
    register(added)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    application = create_app(Library(store), Engine(store), Access(local=True))
    server = uvicorn.Server(uvicorn.Config(application, port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=20)
    MAPS.remove(added)
    store.close()


def test_a_new_map_is_chosen_hovered_pinned_and_addressed(visit):
    """Picker, panel, control, tooltip, card and address."""
    page = visit(f"/?model={ODD}")
    page.locator("#view").get_by_text("Parity map").click()
    wait_for_query(page, "view", "parity")
    page.wait_for_function("document.querySelectorAll('#maps .heatmaplayer image').length === 1")
    page.mouse.move(*cell(page, 0, 2))
    expect(page.locator("#tooltip")).to_contain_text("L1H2even")
    expect(page.locator("#tooltip")).to_contain_text("p 0.90, rank 1 of 16")
    page.mouse.click(*cell(page, 0, 2))
    expect(page.locator(".head-card")).to_contain_text("Counted from zero.")
    page.locator("#evenness [role=slider]").focus()
    page.keyboard.press("ArrowRight")
    wait_for_query(page, "evenness", "0.51")
    expect(page.locator("#evenness-shown")).to_have_text("0.51")
    assert query(page)["pin"] == "L1H2"
    expect(page.locator("#tau")).to_be_hidden()


def test_a_new_map_is_in_the_table_and_among_the_downloads(visit, tmp_path):
    """Its column, and its numbers as CSV."""
    page = visit(f"/?model={ODD}&view=parity")
    page.locator("summary", has_text="Download").click()
    with page.expect_download() as download:
        page.locator("[data-export=csv]").click()
    download.value.save_as(tmp_path / "view.csv")
    assert pd.read_csv(tmp_path / "view.csv")["member"].sum() == 8
    page = visit(f"/?model={ODD}&view=table")
    page.locator(".ag-body-horizontal-scroll-viewport").evaluate("bar => (bar.scrollLeft = bar.scrollWidth)")
    expect(page.locator(".ag-header-cell-text", has_text="Parity")).to_be_attached()
