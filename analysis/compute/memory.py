"""Freed memory, given back to the system."""

import ctypes
import sys


def give_back() -> None:
    """Let the C library return what was freed; it keeps pieces of up to 32 MB, which add up from layer to layer."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        except (OSError, AttributeError):  # another C library than glibc
            return
