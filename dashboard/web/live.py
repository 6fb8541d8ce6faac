"""Progress of the jobs, pushed to every open page over a WebSocket as it is made.

Not a callback of Dash's: in 4.4 one that runs for as long as the page is open keeps the page's other callbacks waiting.
"""

import asyncio
import json
import math
import threading
import time
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect

from analysis.errors import StoreError
from analysis.jobs.engine import Engine
from dashboard.jobs import JobState, job_state

EVERY = 0.4  # seconds between looks at the jobs
QUIET = 2.0  # the same while nothing runs
MAX_FRAME = 4096  # bytes of what a page may send; it has nothing to say


@dataclass(frozen=True)
class SentJobs:
    """The jobs, and the same as JSON."""

    listed: tuple[JobState, ...]
    text: str

    @property
    def busy(self) -> bool:
        """Whether one is active."""
        return any(job.active for job in self.listed)


class JobWatch:
    """The jobs as all open pages receive them, read from the store once for all.

    Whatever a page receives, pushed or asked for, comes from here: the last list is at least as new as any page's.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._lock = engine, threading.Lock()
        self._read_at = -math.inf
        self._last: SentJobs | None = None

    def now(self) -> tuple[JobState, ...]:
        """As they are, read again: for a page that opens, or that has just asked for something."""
        with self._lock:
            return self._read().listed

    def last(self) -> tuple[JobState, ...]:
        """As they were last read, for the list on a page that has just received them."""
        with self._lock:
            return (self._last or self._read()).listed

    def jobs(self) -> SentJobs:
        """As they were a moment ago at most."""
        with self._lock:
            if self._last is not None and time.monotonic() - self._read_at <= EVERY / 2:
                return self._last
            return self._read()

    def _read(self) -> SentJobs:
        listed = tuple(job_state(job) for job in self._engine.jobs())
        self._last = SentJobs(listed, json.dumps([job.model_dump() for job in listed]))
        self._read_at = time.monotonic()
        return self._last


async def tell(socket: WebSocket, watch: JobWatch) -> None:
    """Send the jobs whenever something has changed, until the page is closed."""
    await socket.accept()
    last = ""
    try:
        while True:
            now = await asyncio.to_thread(watch.jobs)
            if now.text != last:
                last = now.text
                await socket.send_text(last)
            if await _closed(socket, EVERY if now.busy else QUIET):
                return
    except (WebSocketDisconnect, RuntimeError, StoreError):  # the page is gone, or asks again later
        return


async def _closed(socket: WebSocket, seconds: float) -> bool:
    """Wait, and say whether the page closed meanwhile; whatever else it sends is not listened to."""
    try:
        async with asyncio.timeout(seconds):
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass
    except TimeoutError:
        return False
    return True
