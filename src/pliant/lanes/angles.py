"""The angle of a vector in the plane, for floats, lanes and (uncompiled) NumPy arrays and traced numbers.

Lanes compute it by a polynomial; a call of the C library for each lane would cost more than the rest of a hinge.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types

from pliant.lanes.inner import inner, overload
from pliant.lanes.math import absolute, number, select
from pliant.lanes.traced import traced
from pliant.lanes.types import Lanes

TAN_EIGHTH = math.sqrt(2.0) - 1.0  # tan(pi / 8): between it and 1, atan(t) = pi/4 + atan((t - 1) / (t + 1))


def _arctangent_coefficients(terms: int) -> tuple[float, ...]:
    """Coefficients of p, highest first, in atan(t) = t + t z p(z) with z = t^2, |t| <= tan(pi / 8).

    p(z) = sum_k (-1)^(k+1) z^k / (2k + 3) is interpolated at Chebyshev's points, whose error is near the least.
    """
    largest = TAN_EIGHTH**2
    series = [(-1) ** (k + 1) / (2 * k + 3) for k in range(40)]  # exact to rounding: largest^40 is below 1e-30
    fit = np.polynomial.Chebyshev.interpolate(np.polynomial.Polynomial(series), terms - 1, domain=[0.0, largest])
    return tuple(float(c) for c in reversed(fit.convert(kind=np.polynomial.Polynomial).coef))


def _arctangent_reduced(terms: int):
    """atan(t) of |t| <= tan(pi / 8)."""
    first, *others = _arctangent_coefficients(terms)
    rest = tuple(others)

    @inner()
    def arctangent_reduced(t):
        z = t * t
        tail = number(first, t)
        for coefficient in rest:
            tail = tail * z + coefficient
        return t + t * (z * tail)

    return arctangent_reduced


def atan2(y, x):
    """Angle of the vector (x, y) from the x axis, in [-pi, pi]; 0 for the zero vector, NaN where either is NaN.

    In lanes the sign of a zero is not looked at: the angle of (-1, -0) is +pi. The error is below four units in the
    last place.
    """
    one = traced(y, x)
    return np.arctan2(y, x) if one is None else one.apply("atan2", y, x)


@overload(atan2)
def _atan2(y, x):
    lanes = next((a for a in (y, x) if isinstance(a, Lanes)), None)
    if lanes is None:
        return lambda y, x: math.atan2(y, x)
    arctangent_reduced = _arctangent_reduced(6 if lanes.dtype == types.float32 else 12)
    quarter, half, full = math.pi / 4, math.pi / 2, math.pi

    def atan2_lanes(y, x):
        one = number(1.0, x)
        ax, ay = absolute(x), absolute(y)
        steep = ay > ax  # false for a NaN, which then stays in one of the two below
        small, large = select(steep, ax, ay), select(steep, ay, ax)
        upper = small > TAN_EIGHTH * large
        below = select(upper, small + large, select(large == 0.0, one, large))
        angle = arctangent_reduced(select(upper, small - large, small) / below)
        angle = select(upper, quarter + angle, angle)
        angle = select(steep, half - angle, angle)
        angle = select(x < 0.0, full - angle, angle)
        return select(y < 0.0, -angle, angle)

    return atan2_lanes
