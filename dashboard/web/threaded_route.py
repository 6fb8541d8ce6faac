"""A route whose requests are read off the event loop: parsing and checking a large body delays no other request."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

Check = Callable[[Request], None]  # raises when a request is refused
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ThreadedRoute(APIRoute):
    """FastAPI's route, which checks bodies on the event loop, run on an event loop in a separate thread."""

    def get_route_handler(self) -> Handler:
        """What answers a request once its body is there."""
        handled = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                await request.body()  # it is kept in the request
            except Exception as error:
                raise HTTPException(400, "There was an error parsing the body") from error
            return await run_in_threadpool(lambda: asyncio.run(handled(request)))

        return answer


def threaded_after(check: Check) -> type[ThreadedRoute]:
    """The same behind a check that refuses a request before its body is read."""

    class CheckedRoute(ThreadedRoute):
        """A route with this check."""

        def get_route_handler(self) -> Handler:
            """What answers a request that passes."""
            handled = super().get_route_handler()

            async def answer(request: Request) -> Response:
                check(request)
                return await handled(request)

            return answer

    return CheckedRoute
