"""The trace of the stretch tensor and the smallest stretch as functions of the invariants I, II and J: no
decomposition.

F = R S with a proper rotation R, and principal stretches s_1 >= s_2 >= |s_3|, s_3 negative if F is inverted.  Then
t = tr S = s_1 + s_2 + s_3 is the largest root of

    p(t) = t^4 - 2 I t^2 - 8 J t + 2 II - I^2,    p'(t) = 8 (s_1 + s_2) (s_1 + s_3) (s_2 + s_3),

so that tr S and all its derivatives follow from I, II and J, for floats, lanes and arrays alike.
"""

from __future__ import annotations

from pliant.lanes import absolute, maximum, minimum, number, repeat, rounding, select, sqrt
from pliant.lanes.vectors import physics

MOST_STEPS = 20  # one to three do, but for inverted elements near (s, s, -s), where the root is triple
ENOUGH = 1e-3  # a step of the smallest stretch's square, after which convergence, being cubic, is within 1e-6
LEAST_SLOPE = 1e-4  # of (tr S)^3: bounds the derivatives where two stretches cancel and the rotation is not unique
LEAST_SLOPE_OF_ALL = 1e-12  # that of an element shrunk to 2e-5 of its size; keeps powers of 1 / p' in single precision


@physics
def trace_of_stretch(I, II, J):
    """tr S by Halley's method from above, until a step is so small that, convergence being cubic, the next would be
    lost in rounding.

    Where two stretches cancel the root is double, and is known no better than to the square root of the rounding.
    The start is an upper bound, exact at rest and for flat elements:  t^2 = I + 2 u with u = s_1 s_2 + s_2 s_3 +
    s_3 s_1, and u^2 = II_C + 2 J t with II_C = (I^2 - II)/2, where J t is at most II_C because u^2 >= 3 J t, and at
    most J (3 + I)/2 because t <= sqrt(3 I).
    """
    zero = number(0.0, I)
    II_C = maximum(0.5 * (I * I - II), zero)
    Jt = minimum(II_C, maximum(J, zero) * (1.5 + 0.5 * I))
    t, constant = sqrt(I + 2.0 * sqrt(II_C + 2.0 * Jt)), 2.0 * II - I * I
    return repeat(_trace_step, MOST_STEPS, t, I, J, constant)


@physics
def _trace_step(t, I, J, constant):
    """One step of Halley's method to the largest root of p; where it was longer than what rounding leaves."""
    least, enough = number(rounding(I) ** 0.5, I), number(rounding(I) ** 0.4, I)
    zero, one = number(0.0, I), number(1.0, I)
    tt = t * t
    p = (tt - 2.0 * I) * tt - 8.0 * J * t + constant
    slope = 4.0 * (tt - I) * t - 8.0 * J
    is_simple = slope > least * tt * t  # else rounding leaves nothing of p: stay
    # all four roots are real, hence p p'' <= 3/4 p'^2: the bound holds but for rounding
    below = maximum(2.0 * slope * slope - p * (12.0 * tt - 4.0 * I), slope * slope)
    step = select(is_simple, 2.0 * p * slope, zero) / select(is_simple, below, one)
    t = t - step
    return t, absolute(step) > enough * t


@physics
def inverse_slope(I, II, J, t):
    """1 / p'(t), bounded where two stretches cancel."""
    slope = 4.0 * (t * t - I) * t - 8.0 * J
    return 1.0 / maximum(slope, maximum(LEAST_SLOPE * t * t * t, number(LEAST_SLOPE_OF_ALL, t)))


@physics
def trace_and_gradient(I, II, J):
    """tr S, and its derivatives by I, II and J."""
    t = trace_of_stretch(I, II, J)
    w = inverse_slope(I, II, J, t)
    return t, (2.0 * t * t + 2.0 * I) * w, -2.0 * w, 8.0 * t * w


@physics
def smallest_stretch(I, II, J):
    """s_3, negative where F is inverted: its square is the smallest root of the characteristic polynomial of F^T F,

        c(r) = r^3 - r^2 + a r - b,    r = s^2 / I,   a = (I^2 - II) / (2 I^2),   b = J^2 / I^3,

    found by Halley's method from below.
    """
    zero, one = number(0.0, I), number(1.0, I)
    scale = one / maximum(I, number(1e-30, I))
    root = J * scale * sqrt(scale)
    a, b = 0.5 * maximum(one - II * scale * scale, zero), root * root
    least = number(rounding(I), I)
    r = b / maximum(a, maximum(9.0 * b, least))  # a Newton step from 0, below the root; 9 b <= a
    r = repeat(_square_step, MOST_STEPS, r, a, b)
    s = sqrt(maximum(r, zero) * I)
    return select(zero > J, -s, s)


@physics
def _square_step(r, a, b):
    """One step of Halley's method to the smallest root of c; where it was not yet short enough."""
    zero, one, least = number(0.0, r), number(1.0, r), number(rounding(r), r)
    c = ((r - one) * r + a) * r - b
    slope = (3.0 * r - 2.0) * r + a
    is_simple = slope > least
    below = maximum(2.0 * slope * slope - c * (6.0 * r - 2.0), slope * slope)
    step = select(is_simple, 2.0 * c * slope, zero) / select(is_simple, below, one)
    r = r - step
    return r, absolute(step) > ENOUGH * r
