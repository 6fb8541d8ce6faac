"""A model that a process has open: its checkpoint, the device, and what the last step kept in memory."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from analysis.models.checkpoint import Checkpoint

Kept = TypeVar("Kept")


class OpenModel:
    """What the steps of a method get to work with.

    Loading weights takes longer than most steps, so one thing at a time is kept between them: the next step that asks
    for the same finds it, and one that asks for something else lets it go first, because two may not fit in memory.
    Small things that answer questions have a place of their own, so that a question costs a job nothing.
    """

    def __init__(self, checkpoint: Checkpoint, device: str = "auto") -> None:
        self.checkpoint = checkpoint
        self.device = device
        self.device_name = ""  # as provenance writes it, once something was computed
        self._for_steps = _Kept()
        self._for_questions = _Kept()

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What was made under this key the last time, or made now; only the last one is kept."""
        return self._for_steps.get(key, make)

    def keep_for_questions(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The same for something small that the next question about the same may need."""
        return self._for_questions.get(key, make)


class _Kept:
    """One thing under its key."""

    def __init__(self) -> None:
        self._key: Hashable = None
        self._thing: Any = None

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        if self._key != key:
            self._key, self._thing = None, None
            self._thing = make()
            self._key = key
        thing: Kept = self._thing
        return thing
