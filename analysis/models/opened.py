"""A model that a process has open: its checkpoint, the device, and what the last step kept in memory."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from analysis.models.checkpoint import Checkpoint

Kept = TypeVar("Kept")


class OpenModel:
    """What the steps of a method get to work with.

    Loading weights takes longer than most steps, so one thing at a time is kept between them: the next step that asks
    for the same finds it, and one that asks for something else lets it go first, because two may not fit in memory.
    """

    def __init__(self, checkpoint: Checkpoint, device: str = "auto") -> None:
        self.checkpoint = checkpoint
        self.device = device
        self.device_name = ""  # as provenance writes it, once something was computed
        self._key: Hashable = None
        self._kept: Any = None

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What was made under this key the last time, or made now; only the last one is kept."""
        if self._key != key:
            self._key, self._kept = None, None
            self._kept = make()
            self._key = key
        kept: Kept = self._kept
        return kept
