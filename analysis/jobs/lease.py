"""Who works on a job: one engine at a time, however many servers share a store.

A lease is a lock on a file. The kernel lets go of it when its process ends, however it ends, so a job of a killed
server is free at once and nobody has to say that it is still alive.
"""

import fcntl
import hashlib
import logging
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from analysis.errors import StoreError

_log = logging.getLogger(__name__)


class Lease:
    """A job that is ours, until the lease is left."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if _is_there(self._path, self._descriptor):  # else the store was deleted, and the name is another's lease
                self._path.unlink(missing_ok=True)  # while it is locked, so that nobody takes it in between
        except OSError as problem:  # a file that stays hinders nobody once its lock is gone
            _log.warning("%s cannot be removed: %s", self._path, problem.strerror)
        finally:
            os.close(self._descriptor)


class Leases:
    """The leases of a store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, job_id: str) -> Lease | None:
        """The lease of a job, unless it is taken."""
        path = self._folder / hashlib.sha256(job_id.encode()).hexdigest()[:32]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            while True:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                if not _locked(descriptor):
                    os.close(descriptor)
                    return None
                if _is_there(path, descriptor):
                    return Lease(path, descriptor)
                os.close(descriptor)
        except OSError as error:
            hint = "Check free space and permissions, or choose another folder with HEAD_ATLAS_CACHE."
            raise StoreError(f"no job can be started in {self._folder}: {error.strerror}", hint) from error


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_there(path: Path, descriptor: int) -> bool:
    """Whether the locked file still has its name: who had the lease before may have removed it meanwhile."""
    mine = os.fstat(descriptor)
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return (mine.st_dev, mine.st_ino) == (named.st_dev, named.st_ino)
