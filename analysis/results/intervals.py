"""How sure numbers are: Wilson intervals of shares, Student's t of means, discoveries among many tests."""

from functools import cache

import numpy as np
import numpy.typing as npt

from analysis.results.scores import Bools, Floats

RATE = 0.05  # of false discoveries among all that are called so
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


def t_tail(t: npt.ArrayLike, freedom: int) -> Floats:
    """The probability of a Student's t at least as far from 0, on either side: exact for whole degrees of freedom.

    Abramowitz & Stegun 26.7.3 and 26.7.4: a finite sum of powers of the cosine of arctan(t / √freedom).
    """
    angle = np.arctan(np.abs(np.asarray(t, dtype=np.float64)) / np.sqrt(freedom))
    sine, cosine = np.sin(angle), np.cos(angle)
    is_odd = freedom % 2 == 1
    term = cosine if is_odd else np.ones_like(angle)
    total = np.zeros_like(angle)
    for power in range(1 if is_odd else 0, freedom - 1, 2):
        total = total + term
        term = term * cosine**2 * (power + 1) / (power + 2)
    within = 2 / np.pi * (angle + sine * total) if is_odd else sine * total
    return np.asarray(np.clip(1 - within, 0, 1))


@cache
def t_quantile(freedom: int) -> float:
    """Within so many standard errors of the mean 95 % of samples of freedom + 1 numbers have the true one."""
    low, high = 0.0, 20.0  # 12.7 with one degree of freedom, less with more
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(t_tail(middle, freedom)) > 1 - 0.95 else (low, middle)
    return (low + high) / 2


def discoveries(p: npt.ArrayLike, rate: float = RATE) -> Bools:
    """Which of many tests are called significant so that on average at most this share of them are so by chance.

    The procedure of Benjamini & Hochberg (1995); a test without a p (NaN) is none.
    """
    values = np.asarray(p, dtype=np.float64)
    known = np.sort(values[~np.isnan(values)])
    allowed = rate * np.arange(1, known.size + 1) / max(known.size, 1)
    passed = np.flatnonzero(known <= allowed)
    return np.asarray(values <= known[passed[-1]]) if passed.size else np.zeros(values.shape, dtype=bool)
