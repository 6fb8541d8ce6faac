"""The progress of a computation: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import Any

from tqdm import tqdm

Progress = Callable[[str, int, int], None]  # stage, done, total

_LINE_EVERY = 5.0  # seconds between plain lines of one stage


def silent(stage: str, done: int, total: int) -> None:
    """Report no progress."""


class ShownProgress:
    """Progress on standard error."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: tqdm[Any] | None = None
        self._last = 0.0
        self._terminal = sys.stderr.isatty()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show the progress of a stage."""
        if self._terminal:
            self._show_bar(stage, done, total)
        elif done == total or time.monotonic() - self._last > _LINE_EVERY:
            self._last = time.monotonic()
            print(f"{stage}: {done} of {total}", file=sys.stderr, flush=True)

    def _show_bar(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or self._bar is None:
            self.close()
            self._stage = stage
            self._bar = tqdm(
                total=total, desc=stage, leave=False, file=sys.stderr, bar_format="{desc} {bar} {n_fmt}/{total_fmt}"
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
