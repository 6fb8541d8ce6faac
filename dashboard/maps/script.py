"""Python scripts that people take away: named constants, then a program that uses them."""

from collections.abc import Iterable, Sequence
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


def repeating_script(
    purpose: str,
    constants: Iterable[Constant],
    *,
    fingerprint: str,
    commands: Sequence[Sequence[str]],  # of the command line, each of which computes a result
    files: Sequence[str] = (),  # of somebody's own, that they read
    summary: Sequence[str] = (),  # a command that sums the results up
) -> str:
    """A script that runs commands, each into a file of its own, and compares the fingerprint of the weights."""
    own = [Constant("OWN_FILES", list(dict.fromkeys(files)), "that must be here")] if files else []
    shown = [Constant("SUMMARY", list(summary), "what says it all together")] if summary else []
    fixed = [
        Constant("FINGERPRINT", fingerprint, "of the weights that the view was made from"),
        Constant("COMMANDS", [list(command) for command in commands]),
    ]
    imports = ["import json", "import subprocess", "import sys"]
    lines = ["import pyarrow.parquet as pq", ""]
    if files:
        imports.append("from pathlib import Path")
        lines += CHECK_FILES
    lines += ["for number, command in enumerate(COMMANDS, start=1):", *(f"    {line}" for line in _COMPUTE)]
    if summary:
        lines.append('subprocess.run([sys.executable, "-m", "analysis", *SUMMARY], check=True)')
    program = "\n".join(["", *imports, "", *lines, ""])
    return script(purpose, [*constants, *fixed, *own, *shown], program)


CHECK_FILES = (
    "lacking = [name for name in OWN_FILES if not Path(name).is_file()]",
    "if lacking:",
    '    sys.exit(f"Put these files here first: {lacking}")',
)
COMPARE = (
    'print("same weights" if made_from == FINGERPRINT else f"OTHER WEIGHTS: {made_from} instead of {FINGERPRINT}")'
)
_COMPUTE = (
    'out = f"{command[0]}-{number}.parquet"',
    'subprocess.run([sys.executable, "-m", "analysis", *command, "--out", out], check=True)',
    'made_from = json.loads(pq.read_schema(out).metadata[b"head-atlas"])["model"]["fingerprint"]',
    COMPARE,
)
