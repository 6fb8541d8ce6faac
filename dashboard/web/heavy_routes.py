"""Pages and answers that take a while: some are made at a time, others wait, and beyond that they are asked again.

Whatever else the server answers, its health first of all, finds a thread meanwhile.
"""

import asyncio

from starlette.responses import JSONResponse

from dashboard.web.bodies import Message, Receive
from dashboard.web.guard import App, Scope, Send

AT_ONCE = 8  # threads of the server's forty
WAITING = 250  # more than one address may have connections, so that there is room for others
_PAGES = ("/", "/_dash-layout", "/_dash-update-component", "/search", "/compare", "/prompt")
_BELOW = ("/head/", "/view/numbers/", "/api/")
# What takes no time, and what has a limit of its own: it waits for a worker, or for a file that is being made.
_LIGHT = ("health", "jobs", "models", "sets", "docs", "openapi.json", "pairs", "prompt", "scores")


class HeavyRoutes:
    """Lets some requests through at a time."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._free = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not _is_heavy(scope["path"]):
            return await self._app(scope, receive, send)
        if self._free.locked() and self._waiting >= WAITING:
            return await _busy(scope, receive, send)
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        place = _Place(self._free, send)
        try:
            await self._app(scope, receive, place.send)
        finally:
            place.leave()


class _Place:
    """One of the places, left when the answer is made: who reads it slowly keeps nobody waiting."""

    def __init__(self, free: asyncio.Semaphore, send: Send) -> None:
        self._free, self._send, self._left = free, send, False

    async def send(self, message: Message) -> None:
        """A piece of the answer."""
        self.leave()
        await self._send(message)

    def leave(self) -> None:
        """Let the next one in."""
        if not self._left:
            self._left = True
            self._free.release()


def _is_heavy(path: str) -> bool:
    light = tuple(f"/api/{name}" for name in _LIGHT)
    return path in _PAGES or (path.startswith(_BELOW) and not path.startswith(light))


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    words = {"error": "ServerBusy", "message": "many pages are being made already", "hint": "Ask again in a moment."}
    await JSONResponse(words, 503, {"Retry-After": "2"})(scope, receive, send)
