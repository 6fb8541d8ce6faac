"""What is kept of derived values: each is made once, nobody waits for somebody else's, and all of it has a bound."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from dashboard.cache import IDLE, Derived, cached, size_of


@dataclass(frozen=True)
class Pair:
    """Two things."""

    first: object
    second: object


def test_the_same_is_made_once_and_another_one_at_the_same_time():
    """Ten who ask for one value wait for one computation; who asks for another one does not wait for it."""
    made, release = [], threading.Event()

    @cached(4)
    def slow(key):
        made.append(key)
        if key == "slow":
            release.wait(30)
        return key

    with ThreadPoolExecutor(11) as pool:
        waiting = [pool.submit(slow, "slow") for _ in range(10)]
        assert pool.submit(slow, "fast").result(timeout=10) == "fast"
        assert not any(one.done() for one in waiting)
        release.set()
        assert [one.result(timeout=10) for one in waiting] == ["slow"] * 10
    assert sorted(made) == ["fast", "slow"]


def test_what_is_very_large_is_made_one_at_a_time():
    """Two different tables are not in memory at once."""
    now, most = [0], [0]

    @cached(1, one_at_a_time=True)
    def table(key):
        now[0] += 1
        most[0] = max(most[0], now[0])
        time.sleep(0.05)
        now[0] -= 1
        return key

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(table, range(4))) == [0, 1, 2, 3]
    assert most == [1]


def test_a_failure_is_told_and_not_kept():
    """The next one who asks tries again."""
    tries = []

    @cached(4)
    def fails(key):
        tries.append(key)
        raise ValueError("cannot be made")

    for _ in range(2):
        with pytest.raises(ValueError, match="cannot be made"):
            fails("a")
    assert tries == ["a", "a"]


def test_all_of_it_has_a_bound_in_bytes():
    """What was asked for the longest ago goes, of whichever function; the newest stays, however large it is."""
    clock = [0.0]
    derived, made = Derived(most_bytes=2_500, clock=lambda: clock[0]), []

    def get(name, key, size):
        clock[0] += 1
        derived.once(name, 10, key, lambda: made.append((name, key)) or bytes(size), False)

    for name, key in (("f", 1), ("g", 1), ("f", 1), ("g", 2), ("f", 1), ("g", 1)):
        get(name, key, 1_000)
    assert made == [("f", 1), ("g", 1), ("g", 2), ("g", 1)]
    get("f", 2, 9_000)
    assert derived.bytes < 9_100
    get("f", 2, 9_000)
    assert made[-1] == ("f", 2)
    assert len(made) == 5


def test_what_nobody_asks_for_leaves():
    """After a while, when something new is made: what was derived from a result that is gone is not asked for."""
    clock = [0.0]
    derived = Derived(clock=lambda: clock[0])
    derived.once("f", 10, "old", lambda: bytes(1_000), False)
    clock[0] = IDLE + 1
    derived.once("g", 10, "new", lambda: b"", False)
    assert derived.bytes < 100


def test_each_function_keeps_some():
    """No more results than it says."""
    derived = Derived()
    for key in range(5):
        derived.once("f", 3, key, lambda: b"x", False)
    assert list(derived._kept["f"]) == [2, 3, 4]


def test_the_size_of_a_value_is_that_of_what_it_holds():
    """Arrays and texts inside of tuples, dicts and dataclasses, each once."""
    array = np.zeros(1_000)
    assert 8_000 <= size_of(array) < 8_200
    assert 8_000 <= size_of({"a": (array, Pair(array, "text"))}) < 9_000
    assert size_of(Pair("x" * 5_000, [np.zeros(1_000), b"y" * 5_000])) > 18_000
