"""Logins over the network: verified by a few threads, and slower and slower for a sender who guesses."""

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
WAITING = 16  # logins that may wait for a thread; half as many of those who guessed wrong before
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


class Logins:
    """Says what a sender may do. Who was let in before is let in at once, whatever others do."""

    def __init__(self, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
        self._access, self._clock = access, clock
        self._threads = ThreadPoolExecutor(2, "login")  # a hash takes a processor and 64 MB on purpose
        self._guesses: dict[str, _Guesses] = {}
        self._waiting = 0

    async def role(self, authorization: str | None, address: str) -> AccessRole | None:
        """What the sender may do; None: a login is needed. Raises TooManyLogins."""
        role = self._access.role_of(authorization)
        if role is not None or not authorization:
            return role
        guesses = self._of(sender(address))
        left = guesses.until - self._clock()
        at_once = 1 if guesses.count >= FREE else OF_ONE
        room = WAITING // 2 if guesses.count else WAITING
        if left > 0 or guesses.trying >= at_once or self._waiting >= room:
            raise TooManyLogins(max(left, 1.0))
        guesses.trying, self._waiting = guesses.trying + 1, self._waiting + 1
        try:
            loop = asyncio.get_running_loop()
            role = await loop.run_in_executor(self._threads, self._access.role, authorization)
        finally:
            guesses.trying, self._waiting = guesses.trying - 1, self._waiting - 1
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
