"""A real browser and a real server process, for tests, measurements and pictures alike."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, sync_playwright

from analysis.results.store import Store, cache_folder
from tests.synthetic import fill

ROOT = Path(__file__).parent.parent.parent
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser() -> str | None:
    """An installed Chrome or Chromium: the one named by $CHROME, else the first on the path.

    The shell without windows comes first: it opens a page with three quarters of the processor time.
    """
    named = os.environ.get("CHROME")
    return shutil.which(named) if named else next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """The installed browser, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Profiles:
    """The installed browser with its profiles on disk: a page's scripts are compiled once, not for every page.

    A tab that is given back is used again: going to an address there takes half the processor time of a new tab.
    """

    def __init__(self, playwright: Playwright, folder: Path) -> None:
        self._playwright, self._folder = playwright, folder
        self._contexts: dict[bool, BrowserContext] = {}
        self._idle: dict[bool, list[Page]] = {True: [], False: []}

    def context(self, policy: bool) -> BrowserContext:
        """The profile in which the page's content security policy holds, or the one in which it does not."""
        if policy not in self._contexts:
            context = self._playwright.chromium.launch_persistent_context(
                self._folder / str(policy), executable_path=find_browser(), args=["--no-sandbox"], bypass_csp=not policy
            )
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            self._contexts[policy] = context
        return self._contexts[policy]

    def page(self, policy: bool, fresh: bool = False) -> Page:
        """A tab: one that was given back, or a new one."""
        if self._idle[policy] and not fresh:
            page = self._idle[policy].pop()
            page.unroute_all()
            page.mouse.move(0, 0)
            return page
        page = self.context(policy).new_page()
        page.policy = policy
        page.complaints = []
        _collect_complaints(page)
        return page

    def give_back(self, page: Page) -> None:
        """Keep a tab for whoever wants one next, unless it is closed."""
        if not page.is_closed():
            self._idle[page.policy].append(page)

    def close(self) -> None:
        """End the browsers."""
        for context in self._contexts.values():
            context.close()


@contextmanager
def open_profiles(folder: Path) -> Iterator[Profiles]:
    """Browsers whose pages share what they have compiled."""
    with sync_playwright() as playwright, closing(Profiles(playwright, folder)) as profiles:
        yield profiles


@contextmanager
def serve(cache: Path, *arguments: str) -> Iterator[str]:
    """`python app.py` on a free port with its own cache; gives the address once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "app.py"), "--port", str(port), *arguments]
    environment = {**os.environ, "HEAD_ATLAS_CACHE": str(cache)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _await(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def slowed(address: str) -> Iterator[None]:
    """The server's worker runs a sixth of the time, so that pages see a job under way on the fastest machine."""
    port = address.rsplit(":", 1)[1]
    (server,) = [process for process in psutil.Process().children() if port in process.cmdline()]
    ended = threading.Event()

    def slow() -> None:
        while not ended.is_set():
            workers = server.children(recursive=True)
            for act, seconds in (("suspend", 0.3), ("resume", 0.06)):
                for worker in workers:
                    with suppress(psutil.NoSuchProcess):
                        getattr(worker, act)()
                time.sleep(seconds)

    thread = threading.Thread(target=slow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def filled_server(cache: Path) -> Iterator[str]:
    """The same with the converted default model and the made-up results in its cache."""
    (cache / "models").symlink_to(cache_folder() / "models")  # converted once for all tests
    store = Store(cache / "store")
    fill(store)
    store.close()
    with serve(cache) as address:
        yield address


def _await(address: str, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError(f"app.py ended with {process.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("app.py does not answer")


def open_page(
    browser: Browser | Profiles,
    address: str,
    *,
    width: int = 1280,
    height: int = 800,
    dark: bool = False,
    policy: bool = False,
    fresh: bool = False,
) -> Page:
    """A page with its maps drawn; what the console complains about is in `page.complaints`.

    A fresh one has no history. Playwright's own waiting needs `eval`, so the page's content security policy holds only
    when asked for.
    """
    if isinstance(browser, Browser):
        context = browser.new_context(bypass_csp=not policy)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.complaints = []
        _collect_complaints(page)
    else:
        page = browser.page(policy, fresh)
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto(address)
    drawn(page)
    return page


def _collect_complaints(page: Page) -> None:
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))


def drawn(page: Page) -> None:
    """Wait until the maps are on the screen and the scripts know them; a head's page has pictures of them alone."""
    if "/head/" in page.url:
        page.wait_for_selector(".summary", timeout=20_000)
        return
    if "view=models" not in page.url:
        page.wait_for_selector("#maps canvas", state="attached", timeout=20_000)
    page.wait_for_selector("#inspector > *", state="attached", timeout=20_000)
    if "view=models" not in page.url:
        page.wait_for_selector("#frame > .pinned", state="attached", timeout=20_000)


MAPS = "document.querySelectorAll('#maps canvas').length"


def maps(page: Page) -> int:
    """How many maps are drawn."""
    return int(page.evaluate(MAPS))


def field(page: Page, name: str) -> Locator:
    """The control of a field in the form for an analysis."""
    return page.locator(f"#new-form [data-field={name}] input")


_CELL = """async ([layer, head, panel]) => {
    const { state } = await import("/assets/atlas/state.mjs");
    const { boxOf } = await import("/assets/atlas/geometry.mjs");
    const corner = document.querySelector("#maps").getBoundingClientRect();
    const box = boxOf(state.boxes[panel], state.sight, [layer, head], state.heads);
    return [corner.left + box.left + box.width / 2, corner.top + box.top + box.height / 2];
}"""


def cell(page: Page, layer: int, head: int, panel: int = 0) -> tuple[float, float]:
    """The middle of a head's square, in the window's pixels, however the maps lie. Layers by their place."""
    return tuple(page.evaluate(_CELL, [layer, head, panel]))
