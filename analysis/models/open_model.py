"""A model that a process has open: its checkpoint, the device, and what the last step kept in memory."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from analysis.models.checkpoint import Checkpoint

Thing = TypeVar("Thing")

_QUESTIONS = 4  # things that are kept to answer them; each may take some hundred megabytes of disk


class OpenModel:
    """What the steps of a method get to work with.

    Loading weights takes longer than most steps, so one thing at a time is kept between them: the next step that asks
    for the same finds it, and one that asks for something else lets it go first, because two may not fit in memory.
    Small things that answer questions have a place of their own, so that a question costs a job nothing; the last few
    are kept, because people go back and forth between them.
    """

    def __init__(self, checkpoint: Checkpoint, device: str = "auto") -> None:
        self.checkpoint = checkpoint
        self.device = device
        self.device_name = ""  # as provenance writes it, once something was computed
        self._for_steps = _LastThings(1)
        self._for_questions = _LastThings(_QUESTIONS)

    def keep(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """What was made under this key the last time, or made now; only the last one is kept."""
        return self._for_steps.get(key, make)

    def keep_for_questions(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """The same for something small that one of the next questions may need."""
        return self._for_questions.get(key, make)


class _LastThings:
    """The last things that were asked for, under their keys."""

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._things: dict[Hashable, Any] = {}  # the one that was asked for last stands last

    def get(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        if key in self._things:
            self._things[key] = self._things.pop(key)
        else:
            while len(self._things) >= self._at_most:
                del self._things[next(iter(self._things))]
            self._things[key] = make()
        thing: Thing = self._things[key]
        return thing
