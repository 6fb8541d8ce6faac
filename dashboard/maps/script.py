"""Python scripts that people take away: named constants, then a program that uses them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constant:
    """A plain value at the head of a script."""

    name: str
    value: Any
    remark: str = ""


def script(purpose: str, constants: Iterable[Constant], program: str) -> str:
    """A script that says what it is for; whatever a value is, it stays a value in it."""
    lines = [f'"""{purpose}"""', ""]
    for constant in constants:
        remark = f"  # {constant.remark}" if constant.remark else ""
        lines.append(f"{constant.name} = {constant.value!r}{remark}")
    return "\n".join(lines) + "\n" + program
