"""How far float32 can be trusted, so that a shortcut never changes a count.

A product of two vectors of n numbers is a sum of n terms. In float32 it is off by up to

    SAFETY · UNIT · sqrt(n) · ‖a‖ · ‖b‖

except once in 10¹³ products: rounding errors are as good as random and mostly cancel (Higham & Mary 2019). This bound
is the *margin* of a comparison. An entry is *surely larger* than the target's when it exceeds it by more than the
margin, *surely not* when it falls short by more than the margin, and *near* otherwise. So a claim

- is refuted when k entries are surely larger,
- holds when fewer than k entries are surely larger or near,
- is doubtful otherwise. It is decided in float64, where an entry that exceeds the target's by less than `TIE` of the
  row's scale ties with it, and ties do not count as larger.
"""

import torch
from torch import Tensor

TIE = 1e-12  # of the row's scale ‖q‖ · max ‖u‖: values closer than this in float64 are ties

_UNIT = 2.0**-24  # the rounding unit of float32
_SAFETY = 8.0


def relative_error(*lengths: int) -> float:
    """The bound for products of these lengths that follow each other, relative to the norms of their factors."""
    roots = 0.0
    for length in lengths:
        roots += length**0.5
    return _SAFETY * _UNIT * roots


def scaled(matrices: Tensor) -> Tensor:  # [n, ·, ·], and so is the result
    """Each matrix times the power of two that brings its largest entry to about 1.

    A positive factor changes no order, a power of two rounds nothing, and float32 norms of very small heads do not
    vanish.
    """
    largest = matrices.abs().amax((1, 2), keepdim=True)
    exponent = torch.frexp(largest).exponent
    factor = torch.ldexp(torch.ones_like(matrices[:, :1, :1]), -exponent)
    return matrices * factor
