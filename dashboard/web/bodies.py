"""Bodies of requests on their way in: how large one may be, how long it may take, and how many bytes all may have."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from starlette.responses import JSONResponse

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

MAX_UPLOAD = 5_000_000  # characters of one file
MAX_BODY = 6_000_000  # bytes of any request: a file and what is around it
MAX_VALUES = 500_000  # in a body: a file of as many pairs as are taken has fewer, and reading more would take long
MAX_NAMES = (
    100_000  # of values in a body: parsing names keeps Python's lock longest; the longest file of prompts has 40,000
)
MAX_CALL, MAX_CALL_VALUES = 300_000, 20_000  # the same of what pages send by themselves
MAX_SECONDS = 60.0  # for a body to arrive
MAX_TOGETHER = 64_000_000  # bytes of all bodies that are arriving or being handled
LARGE = 256_000  # bytes; of larger bodies some are handled at a time
LARGE_AT_A_TIME = 4
_BEFORE_A_VALUE = (b",", b"[", b"{")  # every value of JSON but the first stands behind one, or is that of a key


@dataclass(frozen=True)
class BodyLimits:
    """How much a request may bring."""

    bytes: int
    values: int
    names: int


UPLOAD = BodyLimits(MAX_BODY, MAX_VALUES, MAX_NAMES)
CALL = BodyLimits(MAX_CALL, MAX_CALL_VALUES, MAX_CALL_VALUES)


class BodyRefused(Exception):
    """A body that is not read to its end."""

    status = 400
    words = ("", "", "")


class TooLarge(BodyRefused):
    """It went over its limit, or will."""

    status = 413

    def __init__(self, limits: BodyLimits) -> None:
        super().__init__()
        size = f"{limits.bytes / 1e6:g} MB" if limits.bytes >= 1e6 else f"{limits.bytes / 1e3:g} kB"
        self.words = (
            "TooLarge",
            f"at most {size}, {limits.values:,} values and {limits.names:,} names are taken",
            "Send fewer pairs.",
        )


class TooSlow(BodyRefused):
    """It took longer than it may."""

    status = 408
    words = ("TooSlow", "the upload took too long", "Send less, or over a faster line.")


class TooManyBodies(BodyRefused):
    """Others take all the room, or came later and need it."""

    status = 503
    words = ("ServerBusy", "too much is being sent to this server at once", "Send it again in a moment.")


def refusal(error: BodyRefused) -> JSONResponse:
    """The answer to a body that was not read to its end."""
    return JSONResponse(dict(zip(("error", "message", "hint"), error.words, strict=True)), error.status)


class Bodies:
    """All bodies of a server; where they need more room than there is, the oldest unfinished one makes it."""

    def __init__(self) -> None:
        self._together = 0  # bytes
        self._arriving: dict[Body, None] = {}  # those of which something is there, the oldest first
        self.large = asyncio.Semaphore(LARGE_AT_A_TIME)

    def one(self, receive: Receive, limits: BodyLimits) -> "Body":
        """That of a request, to be entered while it is handled."""
        return Body(self, receive, limits)

    def make_room(self, body: "Body", length: int) -> None:
        """Count some more bytes of a body. Raises TooManyBodies."""
        self._arriving.setdefault(body)
        self._together += length
        while self._together > MAX_TOGETHER:
            oldest = next(iter(self._arriving))
            oldest.give_up()
            if oldest is body:
                raise TooManyBodies

    def has_arrived(self, body: "Body") -> None:
        """The body is complete: it can no longer be given up."""
        self._arriving.pop(body, None)

    def let_go(self, body: "Body", length: int) -> None:
        """Its bytes take no room any more."""
        self._arriving.pop(body, None)
        self._together -= length


class Body:
    """The messages that a body arrives in, as long as it stays below its limits and arrives in time."""

    def __init__(self, bodies: Bodies, receive: Receive, limits: BodyLimits) -> None:
        self._bodies, self._receive, self._limits = bodies, receive, limits
        self._end = asyncio.get_running_loop().time() + MAX_SECONDS
        self._waiting: asyncio.Timeout | None = None
        self._length, self._counted, self._values, self._names = 0, 0, 0, 0
        self._arrived = self._given_up = self._is_large = False

    async def receive(self) -> Message:
        """The next message."""
        if self._arrived:
            return await self._receive()
        message = await self._in_time()
        body = message.get("body", b"")
        self._length += len(body)
        self._values += sum(body.count(sign) for sign in _BEFORE_A_VALUE)
        self._names += body.count(b":")  # one stands behind every name
        if not self._is_within_limits():
            raise TooLarge(self._limits)
        self._counted += len(body)
        self._bodies.make_room(self, len(body))
        if not message.get("more_body", False):
            self._arrived = True
            self._bodies.has_arrived(self)
            await self._wait_for_others()
        return message

    def _is_within_limits(self) -> bool:
        limits = self._limits
        return self._length <= limits.bytes and self._values <= limits.values and self._names <= limits.names

    def give_up(self) -> None:
        """Free its room for others; whoever waits for the rest gets an error."""
        self._given_up = True
        self._let_go()
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """It was handled."""
        self._let_go()
        if self._is_large:
            self._bodies.large.release()

    async def _in_time(self) -> Message:
        try:
            async with asyncio.timeout_at(self._end) as self._waiting:
                message = await self._receive()
        except TimeoutError as error:
            raise TooManyBodies if self._given_up else TooSlow from error
        finally:
            self._waiting = None
        if self._given_up:
            raise TooManyBodies
        return message

    async def _wait_for_others(self) -> None:
        """Reading a large body takes much memory and time, so only some are read at once."""
        if self._length > LARGE:
            await self._bodies.large.acquire()
            self._is_large = True

    def _let_go(self) -> None:
        self._bodies.let_go(self, self._counted)
        self._counted = 0
