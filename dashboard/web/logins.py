"""Logins over the network: verified by two threads, and slower and slower for a sender who guesses."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from dashboard.access import Access, AccessRole, login_name
from dashboard.web.senders import sender

FREE = 5  # wrong logins of a sender that cost nothing
LONGEST = 60.0  # seconds that a sender waits at most after one more
SENDERS = 1000  # whose wrong logins are counted at a time
WAITING = 16  # logins that may wait for a thread
WAITING_AGAIN = 8  # the same of senders who guessed wrong before: these wait for a thread of their own
OF_ONE = 2  # of these, from one sender
FORGOTTEN = 900.0  # seconds after its last wrong login in which a sender is counted
_log = logging.getLogger(__name__)


class TooManyLogins(Exception):
    """A sender must wait before the next try."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


@dataclass
class _Guesses:
    """The wrong logins of a sender."""

    count: int = 0
    until: float = 0.0  # when the next may be tried
    last: float = 0.0  # when the last one was
    trying: int = 0


class _Thread:
    """One thread for hashes, each of which takes a processor and 64 MB on purpose, and those who wait for it."""

    def __init__(self, most: int) -> None:
        self._thread = ThreadPoolExecutor(1, "login")
        self._waiting, self._most = 0, most

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait."""
        return self._waiting >= self._most

    async def run(self, verify: Callable[[], AccessRole | None]) -> AccessRole | None:
        """Wait, and verify a login."""
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, verify)
        finally:
            self._waiting -= 1


class Logins:
    """Says what a sender may do. Who was let in before is let in at once, whatever others do.

    Guesses keep nobody waiting who makes none: senders who guessed wrong before have a thread, and all others another.
    """

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access, self._clock = access, clock
        self._guesses: dict[str, _Guesses] = {}
        self._first, self._again = _Thread(WAITING), _Thread(WAITING_AGAIN)

    async def role(self, authorization: str | None, address: str) -> AccessRole | None:
        """What the sender may do; None: a login is needed. Raises TooManyLogins."""
        role = self._access.role_of(authorization)
        if role is not None or not authorization:
            return role
        guesses = self._of(sender(address))
        left = guesses.until - self._clock()
        at_once = 1 if guesses.count >= FREE else OF_ONE
        thread = self._again if guesses.count else self._first
        if left > 0 or guesses.trying >= at_once or thread.is_full:
            raise TooManyLogins(max(left, 1.0))
        guesses.trying += 1
        try:
            role = await thread.run(lambda: self._access.role(authorization))
        finally:
            guesses.trying -= 1
        if role is None:
            self._count(guesses, authorization, address)
        else:
            self._guesses.pop(sender(address), None)
        return role

    def _of(self, name: str) -> _Guesses:
        known = self._guesses.get(name)
        if known is not None and not known.trying and self._clock() - known.last > FORGOTTEN:
            del self._guesses[name]
        if len(self._guesses) >= SENDERS and name not in self._guesses:
            oldest = min(self._guesses, key=lambda other: self._guesses[other].until)
            del self._guesses[oldest]
        return self._guesses.setdefault(name, _Guesses(last=self._clock()))

    def _count(self, guesses: _Guesses, authorization: str, address: str) -> None:
        """Twice as long after each wrong login beyond the first few."""
        guesses.count, guesses.last = guesses.count + 1, self._clock()
        beyond = guesses.count - FREE
        if beyond >= 0:
            guesses.until = self._clock() + min(LONGEST, 2.0 ** min(beyond, 16))
        _log.warning("wrong login of %r from %s, number %d", login_name(authorization)[:64], address, guesses.count)
