"""Connections that hold a place: who sends or reads nothing for long, or has many, makes room for others."""

import asyncio
import resource
from collections import Counter
from typing import Any

from uvicorn.middleware.proxy_headers import _TrustedHosts
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from dashboard.web.senders import sender

HEADER_SECONDS = 10.0  # for a request's headers to arrive
HEADER_BYTES = 64_000  # of a request beside its body
READ_SECONDS = 30.0  # for somebody to read what waits for them
UNFINISHED = 128  # connections without a whole request; one more sends the oldest of them away
CONNECTIONS = 4000  # of all kinds
OF_ONE = 200  # of these, from one address
_HERE = ("127.0.0.1", "::1")  # this machine, and a proxy on it
_SPARE = 200  # files beside connections that a process may need
_unfinished: dict["Connection", None] = {}  # the oldest first
_bodies: dict["Connection", None] = {}  # those of which a body is still to come, the oldest first
_count: Counter[str] = Counter()  # of all connections, by their sender
_knows_bodies = hasattr(AutoHTTPProtocol, "on_body")  # httptools, which has no limit for headers; h11 has one


class _Line:
    """What HTTP connections and WebSockets share: they count for their sender, who reads what waits."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _sender = ""
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)  # type: ignore[misc]  # of one of uvicorn's classes
        peer = transport.get_extra_info("peername")
        self._sender = sender(peer[0]) if peer else ""
        _count[self._sender] += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)  # type: ignore[misc]

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        if self._unread is None:
            self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        self._was_read()

    def _was_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _forget(self) -> None:
        self._was_read()
        _count[self._sender] -= 1
        if _count[self._sender] <= 0:
            del _count[self._sender]


class Socket(_Line, AutoWebSocketsProtocol):  # type: ignore[valid-type, misc]  # one of two classes of uvicorn's
    """uvicorn's own WebSocket, with an eye on who reads."""


class Connection(_Line, AutoHTTPProtocol):  # type: ignore[valid-type, misc]  # one of two classes of uvicorn's
    """uvicorn's own, with an eye on time and size."""

    may_be_many: _TrustedHosts | tuple[str, ...] = _HERE  # addresses from which many people come

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._late: asyncio.TimerHandle | None = None
        self._beside = 0  # bytes of the present request that are not its body

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A client connected; its request may follow."""
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        if peer and _count[self._sender] > OF_ONE and peer[0] not in self.may_be_many:
            transport.abort()
            return
        if len(self.connections) > most_connections():
            if not _bodies:
                transport.abort()
                return
            next(iter(_bodies))._send_away()
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        before = self.cycle
        if self._late is None and _is_idle(before):
            self._await_request()  # the next one on a connection that is kept
        self._beside += len(data)
        super().data_received(data)
        if self.cycle is not before:
            self._has_request()
        elif _knows_bodies and self._beside > HEADER_BYTES:
            self._send_away()
        if _awaits_body(self.cycle):
            _bodies.setdefault(self)
        else:
            _bodies.pop(self, None)

    def on_body(self, body: bytes) -> None:
        """A piece of a body, as httptools reports it."""
        self._beside -= len(body)
        super().on_body(body)

    def handle_websocket_upgrade(self, *arguments: Any) -> None:
        """From here on it is a socket."""
        self._has_request()
        super().handle_websocket_upgrade(*arguments)
        self._forget()  # the socket counts

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._has_request()
        _bodies.pop(self, None)
        super().connection_lost(exc)

    def _await_request(self) -> None:
        _unfinished[self] = None
        self._late = self.loop.call_later(HEADER_SECONDS, self._send_away)
        if len(_unfinished) > UNFINISHED:
            next(iter(_unfinished))._send_away()

    def _has_request(self) -> None:
        self._beside = 0
        _unfinished.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _send_away(self) -> None:
        self._has_request()
        _bodies.pop(self, None)
        self.transport.abort()


def _is_idle(cycle: Any) -> bool:
    """Whether no request is being answered."""
    return cycle is None or bool(cycle.response_complete)


def _awaits_body(cycle: Any) -> bool:
    """Whether more of a request is to come that is not answered yet."""
    return cycle is not None and bool(cycle.more_body) and not cycle.response_complete


def most_connections() -> int:
    """The limit of open files, less some for other uses."""
    return min(CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE)


def trust(proxies: list[str]) -> None:
    """Exempt these addresses from the limit per address; `*` means all."""
    Connection.may_be_many = _TrustedHosts("*" if "*" in proxies else [*_HERE, *proxies])


def allow_many_files() -> None:
    """A connection is an open file, and the limit that processes start with is low on many systems."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + _SPARE if hard == resource.RLIM_INFINITY else min(hard, CONNECTIONS + _SPARE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
