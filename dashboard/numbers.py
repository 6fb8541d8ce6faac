"""The numbers behind a view, from which the page's scripts make all that follows local settings."""

import hashlib
from dataclasses import replace

from dashboard.cache import cached
from dashboard.view import View


def numbers_of(view: View) -> bytes | None:
    """The numbers of the map on the page; None where there is no result."""
    return view.map.numbers(view.shown) if view.shown is not None else None


def address_of(view: View) -> str:
    """Where the page finds them, the same for all local settings; empty where there are none."""
    numbers = numbers_of(view)
    return f"/view/numbers/{mark_of(numbers)}{view.named.without_local().to_query()}" if numbers is not None else ""


def compared_addresses(view: View) -> list[str]:
    """Where the page finds the numbers of two results that a figure compares; none where there is no such figure."""
    if view.shown is None:
        return []
    return [address_of(replace(view, state=state)) for state in view.map.compared(view.shown)]


@cached(16)
def mark_of(numbers: bytes) -> str:
    """A mark of their content."""
    return hashlib.sha256(numbers).hexdigest()[:16]
