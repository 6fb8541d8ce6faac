"""A cache of what is derived from scores; many who ask at once for the same wait for one answer, others for nobody.

All of it together has a bound in bytes, and what nobody asked for lately goes first: a result that is gone leaves.
"""

import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import xarray as xr

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

BYTES = 128_000_000  # of all that is kept, but for the newest
IDLE = 300.0  # seconds after which what nobody asked for makes room for what is new
_MOST = 20_000  # objects that are looked at for the size of one


@dataclass
class _Kept:
    """A result, how large it is and when it was last asked for."""

    value: Any
    bytes: int
    used: float


class Derived:
    """What the functions of the dashboard have derived."""

    def __init__(self, most_bytes: int = BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes, self._clock = most_bytes, clock
        self._lock = threading.Lock()
        self._kept: dict[str, OrderedDict[Hashable, _Kept]] = {}  # by name of the function; the last used last
        self._making: dict[tuple[str, Hashable], Future[Any]] = {}
        self.bytes = 0

    def once(self, name: str, size: int, key: Hashable, make: Callable[[], Result], light: bool) -> Result:
        """The result of this key, made now unless it is kept or being made by somebody else."""
        with self._lock:
            known = self._kept.setdefault(name, OrderedDict()).get(key)
            if known is not None:
                known.used = self._clock()
                self._kept[name].move_to_end(key)
                value: Result = known.value
                return value
            making = self._making.get((name, key))
            if making is None:
                mine = self._making[name, key] = Future()
        if making is not None:
            made: Result = making.result()
            return made
        return self._made(name, size, key, make, light, mine)

    def _made(
        self, name: str, size: int, key: Hashable, make: Callable[[], Result], light: bool, mine: "Future[Any]"
    ) -> Result:
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._making[name, key]
            mine.set_exception(error)
            raise
        kept = _Kept(value, 0 if light else size_of(value), self._clock())
        with self._lock:
            del self._making[name, key]
            self._kept[name][key] = kept
            self.bytes += kept.bytes
            self._let_go_of_idle()
            self._make_room(name, size, kept)
        mine.set_result(value)
        return value

    def _make_room(self, name: str, size: int, newest: _Kept) -> None:
        while len(self._kept[name]) > size:
            self._drop(name, next(iter(self._kept[name])))
        while self.bytes > max(self._most_bytes, newest.bytes):
            oldest = min((name for name, entries in self._kept.items() if entries), key=self._last_use)
            self._drop(oldest, next(iter(self._kept[oldest])))

    def _let_go_of_idle(self) -> None:
        now = self._clock()
        for name, entries in self._kept.items():
            while entries and now - self._last_use(name) > IDLE:
                self._drop(name, next(iter(entries)))

    def _last_use(self, name: str) -> float:
        return next(iter(self._kept[name].values())).used

    def _drop(self, name: str, key: Hashable) -> None:
        self.bytes -= self._kept[name].pop(key).bytes


derived = Derived()


def cached(
    size: int, *, light: bool = False, one_at_a_time: bool = False
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """The last `size` results of a pure function; the same one is never computed twice at a time.

    A light result holds nothing of its own that is large. What is very large is made one at a time.
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        name, alone = f"{function.__module__}.{function.__qualname__} {id(function)}", threading.RLock()

        @wraps(function)
        def once(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
            def make() -> Result:
                if not one_at_a_time:
                    return function(*arguments, **named)
                with alone:
                    return function(*arguments, **named)

            return derived.once(name, size, (arguments, tuple(sorted(named.items()))), make, light)

        return once

    return decorate


def size_of(value: Any) -> int:
    """Roughly how many bytes a value holds: arrays, tables and texts; each once, however often it stands in it."""
    total, waiting, seen = 0, [value], set[int]()
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray | xr.DataArray | pa.Array):
            total += one.nbytes
        elif isinstance(one, pd.DataFrame):
            total += int(one.memory_usage().sum())
        elif isinstance(one, str | bytes):
            total += sys.getsizeof(one)
        else:
            inside = list(_inside(one))
            total += 64 + 8 * len(inside)
            waiting += inside
    return total


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return (getattr(value, field.name) for field in fields(value))
    return ()
