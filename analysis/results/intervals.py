"""How sure a share of n pairs is: its 95 % Wilson interval."""

import numpy as np
import numpy.typing as npt

from analysis.results.scores import Floats

Z = 1.959963984540054  # of the normal distribution 95 % lie within so many standard deviations


def wilson(hits: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Lower and upper end of the interval for hits of n; NaN where there are no hits known, or no pairs.

    The interval holds the shares that hits of n would not be surprising for; unlike hits / n ± error it stays within
    0 and 1, and says something at both ends (Wilson 1927). The mean hits of several samples count like one sample's:
    the pairs are the same in all of them.
    """
    count = np.asarray(hits, dtype=np.float64)
    total = np.asarray(n, dtype=np.float64)
    total = np.where(total > 0, total, np.nan)
    share = count / total
    weight = 1 + Z**2 / total
    middle = (share + Z**2 / (2 * total)) / weight
    half = Z / weight * np.sqrt(share * (1 - share) / total + Z**2 / (4 * total**2))
    low = np.where(count == 0, 0.0, middle - half)  # exactly, not but for rounding
    high = np.where(count == total, 1.0, middle + half)
    return np.where(np.isnan(total), np.nan, low), high


def uncertain(hits: npt.ArrayLike, n: npt.ArrayLike, tau: float) -> npt.NDArray[np.bool_]:
    """Whether the interval contains τ, so that more pairs might decide otherwise; never where nothing is known."""
    low, high = wilson(hits, n)
    return (low <= tau) & (tau <= high)
