"""Answers to questions in the store: the last ones, so that asking on and on does not fill the disk."""

from analysis.results.store import Store

MOST = 500_000_000  # bytes
_LISTED = "asked"  # before the size and the key of an answer


class Answers:
    """What was computed because somebody asked; what jobs have computed stays."""

    def __init__(self, store: Store, most: int = MOST) -> None:
        self._store, self._most = store, most

    def keep(self, key: str, content: bytes) -> None:
        """Keep an answer; the oldest ones make room."""
        self._store.put(key, content)
        self._store.put(f"{_LISTED}/{len(content)}/{key}", b"")
        times = self._store.times(f"{_LISTED}/")
        total = 0
        for name in sorted(times, key=lambda name: times[name], reverse=True):
            _, size, old = name.split("/", 2)
            total += int(size)
            if total > self._most and old != key:
                self._store.delete(old)
                self._store.delete(name)
