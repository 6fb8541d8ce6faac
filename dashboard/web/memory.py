"""The memory of the server's process: few heaps, a threshold that stays, and what was freed is given back.

By default glibc makes up to eight heaps per processor, one per thread that asks, and with every large piece of memory
that is freed it raises the size from which on pieces are given back at once: a server of forty threads grows for hours.
"""

import ctypes
import os
import sys
import threading
from pathlib import Path

import pyarrow as pa

from analysis.compute.memory import give_back

HEAPS = 2
LARGE = 1 << 20  # bytes; pieces of this size are given back at once
EVERY = 5.0  # seconds between two looks
GROWN = 32_000_000  # bytes more than after the last look, of which something may be given back
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # of glibc's malloc.h


def settle_memory() -> None:
    """To be called before there are threads; what the environment says of it stands."""
    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform != "linux":
        return
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:  # another C library than glibc
        return
    for name, number, value in (
        ("MALLOC_ARENA_MAX", _M_ARENA_MAX, HEAPS),
        ("MALLOC_MMAP_THRESHOLD_", _M_MMAP_THRESHOLD, LARGE),
        ("MALLOC_TRIM_THRESHOLD_", _M_TRIM_THRESHOLD, 2 * LARGE),
    ):
        if name not in os.environ:
            libc.mallopt(number, value)


def keep_small() -> None:
    """Give back, every few seconds at most, what a server that grew does not need any more."""
    if sys.platform == "linux" and "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        threading.Thread(target=_keep_small, name="memory", daemon=True).start()


def _keep_small() -> None:
    waiting, after = threading.Event(), 0
    while not waiting.wait(EVERY):
        if _resident() > after + GROWN:
            give_back()
            after = _resident()
        after = min(after, _resident())


def _resident() -> int:
    """Bytes of the process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
