"""How long steps have been waited for: of all workers together, and of each by itself."""

import time
from collections.abc import Callable, Collection

LOOKS = 20  # at who is busy, in the time that a step may take


class StepClock:
    """Since when nothing has come from anybody, and since when nothing from each worker that has something to do."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = self._looked = clock()
        self._of_worker: dict[str, float] = {}  # by address

    def begin(self) -> None:
        """From now on the next result is waited for."""
        self._since = self._clock()

    def gave(self, worker: str) -> None:
        """A worker ended a step; what it does next begins now."""
        self._of_worker[worker] = self._clock()

    def is_over(self, limit: float, has_worker: Callable[[], bool], busy: Callable[[], Collection[str]]) -> bool:
        """Whether a step takes longer than it may. Time without a worker does not count.

        A result of one worker says nothing of what another one is at, so that each has a time of its own.
        """
        now = self._clock()
        if now - self._since > limit:
            if has_worker():
                return True
            self._since, self._of_worker = now, {}
            return False
        if now - self._looked < limit / LOOKS:
            return False
        self._looked, before, self._of_worker = now, self._of_worker, {}
        for worker in busy():
            self._of_worker[worker] = before.get(worker, now)
        return any(now - since > limit for since in self._of_worker.values())
