"""Progress of the jobs, pushed to every open page over a WebSocket as it is made.

Not a callback of Dash's: in 4.4 one that runs for as long as the page is open keeps the page's other callbacks waiting.
"""

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect

from analysis.engine import Engine

EVERY = 0.4  # seconds between looks at the jobs
QUIET = 2.0  # the same while nothing runs


async def tell(socket: WebSocket, engine: Engine) -> None:
    """Send the jobs whenever something has changed, until the page is closed."""
    await socket.accept()
    last = None
    try:
        while True:
            now = [job.summary() for job in await asyncio.to_thread(engine.jobs)]
            if now != last:
                last = now
                await socket.send_json(now)
            busy = any(job["state"] in {"queued", "running"} for job in now)
            await _pause(socket, EVERY if busy else QUIET)
    except (WebSocketDisconnect, RuntimeError):  # the page is gone
        return


async def _pause(socket: WebSocket, seconds: float) -> None:
    """Wait, and notice when the page closes."""
    try:
        await asyncio.wait_for(socket.receive_text(), seconds)
    except TimeoutError:
        return
