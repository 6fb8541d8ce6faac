import pytest
from playwright.sync_api import expect

from analysis.results.store import Store, cache_folder
from tests.browser.harness import find_browser, open_page, open_profiles, serve
from tests.synthetic import fill

expect.set_options(timeout=20_000)  # what comes late on a busy machine is not wrong


def pytest_collection_modifyitems(items):
    """Without a browser these tests are skipped, and the report says so."""
    if find_browser() is None:
        reason = "no Chrome or Chromium is installed (Debian: apt install chromium; else name one in $CHROME)"
        for item in items:
            if "tests/browser" in str(item.path):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def address(tmp_path_factory, default_checkpoint):
    """The real server process with the default model, a big one and a hostile one."""
    cache = tmp_path_factory.mktemp("cache")
    (cache / "models").symlink_to(cache_folder() / "models")  # converted once for all tests
    store = Store(cache / "store")
    fill(store)
    store.close()
    with serve(cache) as found:
        yield found


@pytest.fixture(scope="module")  # not longer: Playwright keeps an event loop running, which Dask would trip over
def browser(tmp_path_factory):
    """One profile for the pages of a module; what they keep is in their addresses."""
    with open_profiles(tmp_path_factory.mktemp("profiles")) as profiles:
        yield profiles


@pytest.fixture
def visit(browser, address):
    """Open an address; at the end nothing may have been complained about in the console."""
    pages = []

    def opened(path="/", **options):
        page = open_page(browser, address + path, **options)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        assert page.complaints == []
        browser.give_back(page)
