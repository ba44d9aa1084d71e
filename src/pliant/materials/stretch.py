"""The trace of the stretch tensor, for co-rotational laws, as a function of the other invariants: no decomposition.

F = R S with a proper rotation R, and principal stretches s_1 >= s_2 >= |s_3|, s_3 negative if F is inverted.  Then
t = tr S = s_1 + s_2 + s_3 is the largest root of

    p(t) = t^4 - 2 I t^2 - 8 J t + 2 II - I^2,    p'(t) = 8 (s_1 + s_2) (s_1 + s_3) (s_2 + s_3),

so that tr S and all its derivatives follow from I, II and J, for floats, lanes and arrays alike.
"""

from __future__ import annotations

from pliant.lanes import maximum, number, sqrt
from pliant.lanes.vectors import physics

HALLEY_STEPS = 7  # from sqrt(3 I), an upper bound; cubic convergence where the root is simple
LEAST_SLOPE = 1e-4  # of (tr S)^3: bounds the derivatives where two stretches cancel and the rotation is not unique


@physics
def trace_of_stretch(I, II, J):
    """tr S by Halley's method from above."""
    t = sqrt(3.0 * I)
    constant = 2.0 * II - I * I
    for _ in range(HALLEY_STEPS):
        tt = t * t
        p = (tt - 2.0 * I) * tt - 8.0 * J * t + constant
        slope = 4.0 * (tt - I) * t - 8.0 * J
        curvature = 12.0 * tt - 4.0 * I
        below = 2.0 * slope * slope - p * curvature
        t = t - 2.0 * p * slope / maximum(below, number(1e-30, below))
    return t


@physics
def inverse_slope(I, II, J, t):
    """1 / p'(t), bounded where two stretches cancel."""
    slope = 4.0 * (t * t - I) * t - 8.0 * J
    return 1.0 / maximum(slope, LEAST_SLOPE * t * t * t)
