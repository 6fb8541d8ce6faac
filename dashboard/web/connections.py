"""Connections that say nothing: who sends no whole request within seconds is sent away, so that others find room."""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0  # for a request's headers to arrive
UNFINISHED = 128  # connections without a whole request; one more sends the oldest of them away
CONNECTIONS = 4000  # of all kinds
_SPARE = 200  # files beside connections that a process may need
_unfinished: dict["Connection", None] = {}  # the oldest first


class Connection(AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # one of two classes of uvicorn's
    """uvicorn's own, with an eye on the time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Somebody connected, and may now say what they want."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
            return
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        before = self.cycle
        if self._late is None and _is_idle(before):
            self._await_request()  # the next one on a connection that is kept
        super().data_received(data)
        if self.cycle is not before:
            self._has_request()

    def handle_websocket_upgrade(self, *arguments: Any) -> None:
        """From here on it is a socket."""
        self._has_request()
        super().handle_websocket_upgrade(*arguments)

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._has_request()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        _unfinished[self] = None
        self._late = self.loop.call_later(HEADER_SECONDS, self._send_away)
        if len(_unfinished) > UNFINISHED:
            next(iter(_unfinished))._send_away()

    def _has_request(self) -> None:
        _unfinished.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _send_away(self) -> None:
        self._has_request()
        self.transport.abort()


def _is_idle(cycle: Any) -> bool:
    """Whether no request is being answered."""
    return cycle is None or bool(cycle.response_complete)


def most_connections() -> int:
    """As many as files may be open, but for some."""
    return min(CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE)


def allow_many_files() -> None:
    """A connection is an open file, and the limit that processes start with is low on many systems."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + _SPARE if hard == resource.RLIM_INFINITY else min(hard, CONNECTIONS + _SPARE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
