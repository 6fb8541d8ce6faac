"""Requests that take a while: some at a time, others wait or are asked to come again, and health waits for nobody."""

import asyncio

import anyio.to_thread

from dashboard.web.heavy_routes import AT_ONCE, WAITING, HeavyRoutes
from tests.dashboard.test_large_answers import status


def scope_of(path):
    return {"type": "http", "path": path, "method": "GET", "headers": []}


def test_heavy_requests_wait_and_beyond_that_are_refused():
    """So many are made at once, so many wait; one more gets 503, and what is light goes through."""
    running, statuses, release = [], [], asyncio.Event()

    async def app(scope, receive, send):
        running.append(scope["path"])
        if scope["path"] == "/api/head":
            await release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        statuses.extend([message["status"]] if message["type"] == "http.response.start" else [])

    async def visit():
        heavy = HeavyRoutes(app)
        tasks = [asyncio.create_task(heavy(scope_of("/api/head"), None, send)) for _ in range(AT_ONCE + WAITING)]
        await asyncio.sleep(0.05)
        assert running == ["/api/head"] * AT_ONCE
        await heavy(scope_of("/api/head"), None, send)
        assert statuses == [503]
        await heavy(scope_of("/api/health"), None, send)
        assert statuses == [503, 200]
        release.set()
        await asyncio.gather(*tasks)
        assert statuses == [503] + [200] * (1 + AT_ONCE + WAITING)

    asyncio.run(visit())


def test_who_reads_slowly_takes_no_place():
    """A place is free as soon as an answer is made, not when it is read; a request that fails leaves its place, too."""
    stuck = asyncio.Event()

    async def app(scope, receive, send):
        if scope["path"] == "/search":
            raise RuntimeError("broken")
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def slow(message):
        await stuck.wait()

    async def visit():
        heavy, ended = HeavyRoutes(app), []
        reading = [asyncio.create_task(heavy(scope_of("/compare"), None, slow)) for _ in range(3 * AT_ONCE)]
        await asyncio.sleep(0.05)
        for _ in range(2 * AT_ONCE):
            await asyncio.gather(heavy(scope_of("/search"), None, slow), return_exceptions=True)
            ended.append(1)
        assert len(ended) == 2 * AT_ONCE
        stuck.set()
        await asyncio.gather(*reading)

    asyncio.run(asyncio.wait_for(visit(), 10))


def test_health_waits_for_no_thread(server):
    """While every thread of the server is taken, it says that it is well."""

    async def visit():
        limiter = anyio.to_thread.current_default_thread_limiter()
        for taken in range(int(limiter.total_tokens)):
            limiter.acquire_on_behalf_of_nowait(taken)
        return await asyncio.wait_for(status(server, "/api/health"), 5)

    assert asyncio.run(visit()) == 200
