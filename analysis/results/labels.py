"""When a method says that a head does something, or matters: a strength from a threshold on."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Unit = Literal["share", "nats"]


@dataclass(frozen=True)
class LabelRule:
    """A strength makes a label from `least` on, or only above it."""

    least: float
    letter: str  # of the threshold, as its slider calls it
    words: str  # what the strength is
    strict: bool = False  # a strength as large as the threshold is not enough
    unit: Unit = "share"
    note: str = ""  # on what strengths are
    samples: str = ""  # what it may be taken over: seeds, for example

    def holds(self, strengths: npt.ArrayLike, least: float | None = None) -> npt.NDArray[np.bool_]:
        """Where there is a label, at the method's own threshold or another one; never where the strength is missing."""
        threshold = self.least if least is None else least
        values = np.asarray(strengths, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            return values > threshold if self.strict else values >= threshold
