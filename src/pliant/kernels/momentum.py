"""Passes over rows after an iteration: take a step, and carry its motion on (Chebyshev's semi-iterative method, VBD
3.8).
"""

from __future__ import annotations

from numba import njit


@njit(nogil=True, error_model="numpy")
def accelerate(x, previous, before_previous, omega, first, last):
    """Equation 18 on rows first..last: x = omega (x - x_(n-2)) + x_(n-2), then both memories move on by one."""
    w = x.dtype.type(omega)
    for row in range(first, last):
        for k in range(4):
            old = before_previous[row, k]
            new = w * (x[row, k] - old) + old
            before_previous[row, k] = previous[row, k]
            previous[row, k] = new
            x[row, k] = new


@njit(nogil=True, error_model="numpy")
def move(x, length, d, first, last):
    """x += length d on rows first..last."""
    s = x.dtype.type(length)
    for row in range(first, last):
        for k in range(4):
            x[row, k] += s * d[row, k]
