"""Results on disk, found again instantly: a diskcache whose values are bytes and nothing else."""

import hashlib
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import diskcache

from analysis.errors import StoreError

_DIGEST = 16  # bytes of SHA-256 before each value, so that damage is noticed
_AFTER_ALL_TEXT: Final = b""  # SQLite orders every text before every blob, and this is the least blob


def cache_folder() -> Path:
    """Where results and converted models live: $HEAD_ATLAS_CACHE, else the user's cache folder."""
    chosen = os.environ.get("HEAD_ATLAS_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "head-atlas"


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Refuses to pickle on the way in and to unpickle on the way out."""

    def store(self, value: Any, read: bool, key: Any = None) -> Any:
        """Take bytes and nothing else."""
        if not isinstance(value, bytes):
            raise TypeError("the store holds bytes only")
        return super().store(value, read, key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Give bytes; what was pickled by somebody else is not loaded."""
        if mode == diskcache.core.MODE_PICKLE:
            raise ValueError("the store holds bytes only")
        return super().fetch(mode, filename, value, read)


class Store:
    """Named byte strings: results of a model, their parts, and the cards of the models themselves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self._cache = diskcache.Cache(str(folder), disk=BytesDisk, eviction_policy="none", size_limit=2**62)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise _unusable(folder, error) from error

    def get(self, key: str) -> bytes | None:
        """The value, or nothing when there is none or it is damaged."""
        if not _storable(key):
            return None
        try:
            content = self._cache.get(key)
        except (ValueError, TypeError):  # somebody else's pickle
            content = b""
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise _unusable(self.folder, error) from error
        if content is None:
            return None
        if hashlib.sha256(content[_DIGEST:]).digest()[:_DIGEST] != content[:_DIGEST]:
            self.delete(key)
            return None
        return bytes(content[_DIGEST:])

    def put(self, key: str, value: bytes) -> None:
        """Keep a value; whole or not at all."""
        try:
            self._cache.set(key, hashlib.sha256(value).digest()[:_DIGEST] + value)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise _unusable(self.folder, error) from error

    def delete(self, key: str) -> None:
        """Forget a value."""
        try:
            self._cache.delete(key)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise _unusable(self.folder, error) from error

    def contains(self, key: str) -> bool:
        """Whether there is an entry of this name; its value is not read, so damage goes unnoticed."""
        if not _storable(key):
            return False
        try:
            return key in self._cache
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise _unusable(self.folder, error) from error

    def names(self, prefix: str = "") -> Iterator[str]:
        """The names that start with the prefix, in the order in which they were first put."""
        if not _storable(prefix):
            return
        # diskcache has no call for a range of keys. Text keys are stored as they are, marked raw; SQLite compares their
        # UTF-8 bytes, which is the order of code points, so the names with a prefix are one range of the index of keys.
        query = "SELECT key FROM Cache WHERE key >= ? AND key < ? AND raw = 1 ORDER BY rowid"
        try:
            rows = self._cache._sql(query, (prefix, _successor(prefix))).fetchall()
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise _unusable(self.folder, error) from error
        for (name,) in rows:
            yield name

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def close(self) -> None:
        """Let go of the files."""
        self._cache.close()


def _storable(text: str) -> bool:
    """Whether SQLite can hold the text: a lone surrogate has no UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _successor(prefix: str) -> str | bytes:
    """The least key after all texts that start with the prefix."""
    shortened = prefix.rstrip(chr(sys.maxunicode))  # the last character of all has no next one
    if not shortened:
        return _AFTER_ALL_TEXT
    next_code = ord(shortened[-1]) + 1
    if next_code == 0xD800:
        next_code = 0xE000  # surrogates are not characters
    return shortened[:-1] + chr(next_code)


def _unusable(folder: Path, error: Exception) -> StoreError:
    hint = "Check free space and permissions, or choose another folder with HEAD_ATLAS_CACHE."
    if type(error) is sqlite3.DatabaseError:
        hint = "Its database is damaged; `python -m analysis cache prune --all` starts afresh."
    return StoreError(f"the store in {folder} cannot be used: {error}", hint)
