"""Progress of the jobs, pushed to every open page over a WebSocket as it is made.

Not a callback of Dash's: in 4.4 one that runs for as long as the page is open keeps the page's other callbacks waiting.
"""

import asyncio
import json
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


class JobWatch:
    """The jobs as all open pages are told them: looked at and written once for all."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._lock = engine, threading.Lock()
        self._seen = (-1e9, SentJobs("[]", False))

    def now(self) -> list[JobState]:
        """As they are, for one page that shows their list: it may have been told of what is newer than `jobs`."""
        return [job_state(job) for job in self._engine.jobs()]

    def jobs(self) -> "SentJobs":
        """As they were a moment ago at most."""
        with self._lock:
            if time.monotonic() - self._seen[0] > EVERY / 2:
                jobs = self.now()
                busy = any(job.active for job in jobs)
                self._seen = (time.monotonic(), SentJobs(json.dumps([job.model_dump() for job in jobs]), busy))
            return self._seen[1]


@dataclass(frozen=True)
class SentJobs:
    """The jobs as JSON, and whether one is active."""

    text: str
    busy: bool


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
