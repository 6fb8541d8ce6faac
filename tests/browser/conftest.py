import pytest
from playwright.sync_api import expect

from tests.browser.harness import filled_server, find_browser, open_page, open_profiles

expect.set_options(timeout=20_000)  # what comes late on a busy machine is not wrong


def pytest_collection_modifyitems(items):
    """Without a browser these tests are skipped, and the report says so."""
    if find_browser() is None:
        reason = "no Chrome or Chromium is installed (Debian: apt install chromium; else name one in $CHROME)"
        for item in items:
            if "tests/browser" in str(item.path):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def address(tmp_path_factory, default_checkpoint):
    """The real server process with the default model, a big one and a hostile one; tests leave it as it was."""
    with filled_server(tmp_path_factory.mktemp("cache")) as served:
        yield served


@pytest.fixture(scope="session")
def profiles_folder(tmp_path_factory):
    """Where browsers keep their profiles, and with them the scripts that they have compiled."""
    return tmp_path_factory.mktemp("profiles")


@pytest.fixture(scope="module")  # not longer: Playwright keeps an event loop running, which Dask would trip over
def browser(profiles_folder):
    """One browser for the pages of a module; what they keep is in their addresses."""
    with open_profiles(profiles_folder) as profiles:
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
