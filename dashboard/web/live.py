"""Progress of the jobs, pushed to every open page over a WebSocket as it is made.

Not a callback of Dash's: in 4.4 one that runs for as long as the page is open keeps the page's other callbacks waiting.
"""

import asyncio
import threading
import time

from starlette.websockets import WebSocket, WebSocketDisconnect

from analysis.errors import StoreError
from analysis.jobs.engine import Engine
from dashboard.jobs import JobState, job_state

EVERY = 0.4  # seconds between looks at the jobs
QUIET = 2.0  # the same while nothing runs


class Watch:
    """The jobs as all open pages are told them: looked at once for all."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._lock = engine, threading.Lock()
        self._seen: tuple[float, list[JobState]] = (-1e9, [])

    def jobs(self) -> list[JobState]:
        """As they were a moment ago at most."""
        with self._lock:
            if time.monotonic() - self._seen[0] > EVERY / 2:
                self._seen = (time.monotonic(), [job_state(job) for job in self._engine.jobs()])
            return self._seen[1]


async def tell(socket: WebSocket, watch: Watch) -> None:
    """Send the jobs whenever something has changed, until the page is closed."""
    await socket.accept()
    last = None
    try:
        while True:
            now = await asyncio.to_thread(watch.jobs)
            if now != last:
                last = now
                await socket.send_json([job.model_dump() for job in now])
            busy = any(job.active for job in now)
            await _pause(socket, EVERY if busy else QUIET)
    except (WebSocketDisconnect, RuntimeError, StoreError):  # the page is gone, or asks again later
        return


async def _pause(socket: WebSocket, seconds: float) -> None:
    """Wait, and notice when the page closes."""
    try:
        await asyncio.wait_for(socket.receive_text(), seconds)
    except TimeoutError:
        return
