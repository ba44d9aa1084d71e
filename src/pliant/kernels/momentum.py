"""Passes over rows after an iteration: take a step, and carry its motion on (Chebyshev's semi-iterative method, VBD
3.8).
"""

from __future__ import annotations

from pliant.lanes.functions import physics
from pliant.lanes.inner import inner


@physics
def carried_on(x, before_previous, omega):
    """Equation 18: omega (x - x_(n-2)) + x_(n-2)."""
    return omega * (x - before_previous) + before_previous


@inner(nogil=True, error_model="numpy")
def accelerate(x, previous, before_previous, omega, first, last, collided):
    """Equation 18 on rows first..last: x = omega (x - x_(n-2)) + x_(n-2), then both memories move on by one.

    Rows that have collided in this step are not carried on (VBD 3.8); no entries in `collided`: none has.
    """
    one = x.dtype.type(1.0)
    for row in range(first, last):
        w = one if len(collided) > 0 and collided[row] else x.dtype.type(omega)
        for k in range(4):
            old = before_previous[row, k]
            new = carried_on(x[row, k], old, w)
            before_previous[row, k] = previous[row, k]
            previous[row, k] = new
            x[row, k] = new


@inner(nogil=True, error_model="numpy")
def move(x, length, d, first, last):
    """x += length d on rows first..last."""
    s = x.dtype.type(length)
    for row in range(first, last):
        for k in range(4):
            x[row, k] += s * d[row, k]
