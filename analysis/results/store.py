"""Results on disk, found again instantly: a diskcache whose values are bytes and nothing else."""

import hashlib
import logging
import os
import re
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import diskcache

from analysis.errors import StoreError

PAGES = 256  # of 4 kB that a connection keeps; every thread has one, and the default is 32 MB and 64 MB mapped
_DIGEST = 16  # bytes of SHA-256 before each value, so that damage is noticed
_AFTER_ALL_TEXT: Final = b""  # SQLite orders every text before every blob, and this is the least blob
_VALUE_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28}\.val")  # as diskcache names the files of large values
_FAILURES = (OSError, sqlite3.Error, diskcache.Timeout)
_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where results and converted models live: $HEAD_ATLAS_CACHE, else the user's cache folder."""
    chosen = os.environ.get("HEAD_ATLAS_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "head-atlas"


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Never pickles, never unpickles, and never leaves its folder: the database may have been written by anyone."""

    def get(self, key: Any, raw: bool) -> Any:
        """Return names; keys pickled by other programs are not loaded."""
        if not raw:
            raise ValueError("the store has names only")
        return super().get(key, raw)

    def store(self, value: Any, read: bool, key: Any = None) -> Any:
        """Take bytes and nothing else."""
        if not isinstance(value, bytes):
            raise TypeError("the store holds bytes only")
        return super().store(value, read, key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Return bytes; values pickled by other programs are not loaded."""
        if mode == diskcache.core.MODE_PICKLE:
            raise ValueError("the store holds bytes only")
        if filename is not None and not self._is_inside(filename):
            raise ValueError("the store reads its own files only")
        return super().fetch(mode, filename, value, read)

    def remove(self, file_path: Any) -> None:
        """Delete a file of the store, and no other one."""
        if self._is_inside(file_path):
            super().remove(file_path)

    def _is_inside(self, filename: Any) -> bool:
        """Whether it is the name of a value's file, and no link on the way leads elsewhere."""
        if not isinstance(filename, str) or not _VALUE_FILE.fullmatch(filename):
            return False
        folder = os.path.realpath(self._directory)
        return os.path.realpath(Path(folder, filename)) == str(Path(folder, filename))


class Store:
    """Named byte strings: results of a model, their parts, and the cards of the models themselves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replaced = 0  # times that the database was gone, or another one, and everything in it with it
        self._opening = threading.Lock()
        self._cache, self._identity = self._opened()

    def get(self, key: str) -> bytes | None:
        """The value, or None if it is missing or damaged."""
        if not _storable(key):
            return None
        with self._usable() as cache:
            try:
                content = cache.get(key)
            except (ValueError, TypeError):  # somebody else's pickle, or a file elsewhere
                content = b""
            except sqlite3.OperationalError as error:
                if "decode" not in str(error):  # else a text that is not UTF-8
                    raise
                content = b""
        if content is None:
            return None
        if not isinstance(content, bytes):  # the database can hold texts and numbers too
            content = b""
        if hashlib.sha256(content[_DIGEST:]).digest()[:_DIGEST] != content[:_DIGEST]:
            with suppress(StoreError):  # a disk that cannot be written keeps it
                self.delete(key)
            return None
        return bytes(content[_DIGEST:])

    def put(self, key: str, value: bytes) -> None:
        """Keep a value; whole or not at all."""
        with self._usable() as cache:
            cache.set(key, hashlib.sha256(value).digest()[:_DIGEST] + value)

    def delete(self, key: str) -> None:
        """Forget a value."""
        with self._usable() as cache:
            cache.delete(key)

    def contains(self, key: str) -> bool:
        """Whether there is an entry of this name; its value is not read, so damage goes unnoticed."""
        if not _storable(key):
            return False
        with self._usable() as cache:
            return key in cache

    def bytes_of(self, key: str) -> int | None:
        """A value's length in bytes, or None if it is missing; the value is not read, so damage goes unnoticed."""
        if not _storable(key):
            return None
        # The index has the size of values that stand in files of their own; a short one stands in the index itself.
        query = (
            "SELECT CASE WHEN filename IS NULL THEN LENGTH(value) ELSE size END FROM Cache WHERE key = ? AND raw = 1"
        )
        with self._usable() as cache:
            rows = cache._sql(query, (key,)).fetchall()
        return int(rows[0][0]) - _DIGEST if rows else None

    def names(self, prefix: str = "") -> Iterator[str]:
        """The names that start with the prefix, in the order in which they were first put."""
        yield from self.times(prefix)

    def times(self, prefix: str = "") -> dict[str, float]:
        """The same, each with the moment at which its value was put: another moment is another value."""
        if not _storable(prefix):
            return {}
        # diskcache has no call for a range of keys. Text keys are stored as they are, marked raw; SQLite compares their
        # UTF-8 bytes, which is the order of code points, so the names with a prefix are one range of the index of keys.
        query = "SELECT key, store_time FROM Cache WHERE key >= ? AND key < ? AND raw = 1 ORDER BY rowid"
        with self._usable() as cache:
            return dict(cache._sql(query, (prefix, _successor(prefix))).fetchall())

    def size(self) -> int:
        """Bytes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def close(self) -> None:
        """Let go of the files."""
        self._cache.close()

    @contextmanager
    def _usable(self) -> Iterator[diskcache.Cache]:
        """The database as it is on disk now: what is written to one that was deleted would be lost without a word."""
        try:
            if self._identity_now() != self._identity:
                self._open_again()
            yield self._cache
        except _FAILURES as error:
            raise _unusable(self.folder, error) from error

    def _open_again(self) -> None:
        with self._opening:
            if self._identity_now() != self._identity:
                _log.warning("the store in %s was deleted or replaced; continuing with what is there now", self.folder)
                self._cache, self._identity = self._opened()
                self.replaced += 1

    def _opened(self) -> tuple[diskcache.Cache, tuple[int, int] | None]:
        try:
            cache = diskcache.Cache(
                str(self.folder), disk=BytesDisk, eviction_policy="none", size_limit=2**62,
                sqlite_cache_size=PAGES, sqlite_mmap_size=0,
            )  # fmt: skip
        except _FAILURES as error:
            raise _unusable(self.folder, error) from error
        return cache, self._identity_now()

    def _identity_now(self) -> tuple[int, int] | None:
        """Which file the database is; its number is not given to another one while it is open here."""
        try:
            database = (self.folder / diskcache.core.DBNAME).stat()
        except FileNotFoundError:
            return None
        return database.st_dev, database.st_ino


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
