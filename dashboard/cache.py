"""A cache of what is derived from scores that do not change; many who ask at once wait for one answer."""

import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def cached(size: int) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """The last `size` results of a pure function; the same one is never computed twice at a time."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        kept, lock = lru_cache(maxsize=size)(function), threading.RLock()

        @wraps(function)
        def once(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
            with lock:
                return kept(*arguments, **named)  # type: ignore[arg-type]  # hashable by the caller's promise

        return once

    return decorate
