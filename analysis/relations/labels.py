"""What speaks against a label, that is, against a score above τ by which a head implements a relation.

For arrays of any shape. NaN, not measured, speaks against nothing.
"""

import numpy as np
import numpy.typing as npt

from analysis.relations.scores import TAU
from analysis.results.intervals import uncertain
from analysis.results.scores import Bools

__all__ = ["LEAST_BEYOND", "copy_like", "uncertain", "unspecific"]

LEAST_BEYOND = 0.5  # β from which a head does more than copy


def copy_like(beyond: npt.ArrayLike) -> Bools:
    """Whether the source itself outranks the target in most hits, as when a head copies and the two are alike."""
    return np.asarray(beyond, dtype=np.float64) < LEAST_BEYOND


def unspecific(control: npt.ArrayLike, tau: float = TAU) -> Bools:
    """Whether shuffled targets score above τ, too: the head promotes the targets whatever the source is."""
    return np.asarray(control, dtype=np.float64) > tau
