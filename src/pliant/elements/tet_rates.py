"""Damping of tets as one of their vertices sees it (elements.strain_rates has the formulas)."""

from __future__ import annotations

from pliant.elements.element import Element, View
from pliant.elements.strain_rates import TetRates, average_stiffness, largest_stiffness, rate_block
from pliant.elements.tet import deformation_gradient, left_cauchy_green, own_gradient
from pliant.lanes import maximum, number
from pliant.lanes.vectors import (
    add,
    add_identity,
    add_scaled,
    add_square,
    add_symmetric,
    dot,
    physics,
    subtract,
    symmetric_times,
)


@physics
def tet_rate_energy(a, b, c, a0, b0, c0, ba, bb, bc, shear, bulk):
    """D [J]; a, b, c relative to the vertex, now and at the start of the step."""
    _, dC = _change(a, b, c, a0, b0, c0, ba, bb, bc)
    trace = dC[0] + dC[3] + dC[5]
    off = dC[1] * dC[1] + dC[2] * dC[2] + dC[4] * dC[4]
    squared = dC[0] * dC[0] + dC[3] * dC[3] + dC[5] * dC[5] + off + off
    return 0.25 * shear * squared + 0.125 * bulk * trace * trace


@physics
def add_tet_rate(f, H, a, b, c, a0, b0, c0, ba, bb, bc, shear, bulk):
    """Add the force on the vertex and its block.

    The block first, and dC b only, not dC: fewer numbers are alive at a time than there are registers, which saves a
    fifth of the time.
    """
    own, F = own_gradient(ba, bb, bc), deformation_gradient(a, b, c, ba, bb, bc)
    H = add_symmetric(H, shear * dot(own, own), left_cauchy_green(F))
    H = add_square(H, shear + bulk, _times(F, own))
    D = deformation_gradient(subtract(a, a0), subtract(b, b0), subtract(c, c0), ba, bb, bc)
    R = _twice_the_mean(F, D)
    pushed = add(_transposed_times(R, _times(D, own)), _transposed_times(D, _times(R, own)))  # 2 dC b
    part = 0.5 * bulk * (dot(R[0], D[0]) + dot(R[1], D[1]) + dot(R[2], D[2]))  # with the trace of dC
    half = 0.5 * shear
    s = (half * pushed[0] + part * own[0], half * pushed[1] + part * own[1], half * pushed[2] + part * own[2])
    across = dot(own, s)
    return subtract(f, _times(F, s)), add_identity(H, maximum(across, number(0.0, across)))


@physics
def _change(a, b, c, a0, b0, c0, ba, bb, bc):
    """Rows of F, and the change of C = F^T F since the start of the step, symmetric."""
    F = deformation_gradient(a, b, c, ba, bb, bc)
    D = deformation_gradient(subtract(a, a0), subtract(b, b0), subtract(c, c0), ba, bb, bc)
    P, Q = _transposed(_twice_the_mean(F, D)), _transposed(D)
    return F, (
        dot(P[0], Q[0]),
        0.5 * (dot(P[0], Q[1]) + dot(P[1], Q[0])),
        0.5 * (dot(P[0], Q[2]) + dot(P[2], Q[0])),
        dot(P[1], Q[1]),
        0.5 * (dot(P[1], Q[2]) + dot(P[2], Q[1])),
        dot(P[2], Q[2]),
    )


@physics
def _times(A, u):
    """A u, A by rows."""
    return (dot(A[0], u), dot(A[1], u), dot(A[2], u))


@physics
def _transposed_times(A, u):
    """A^T u, A by rows."""
    zero = number(0.0, u[0])
    return add_scaled(add_scaled(add_scaled((zero, zero, zero), u[0], A[0]), u[1], A[1]), u[2], A[2])


@physics
def _twice_the_mean(F, D):
    """Rows of F + F_t, for D = F - F_t."""
    return (subtract(add(F[0], F[0]), D[0]), subtract(add(F[1], F[1]), D[1]), subtract(add(F[2], F[2]), D[2]))


@physics
def _transposed(A):
    return (A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2])


@physics
def tet_rate_blocks(corners, previous, b0, b1, b2, b3, shear, bulk):
    """d2D at pairs of corners i <= j, row by row."""
    now = (subtract(corners[1], corners[0]), subtract(corners[2], corners[0]), subtract(corners[3], corners[0]))
    then = (subtract(previous[1], previous[0]), subtract(previous[2], previous[0]), subtract(previous[3], previous[0]))
    F, dC = _change(now[0], now[1], now[2], then[0], then[1], then[2], b1, b2, b3)
    zero = number(0.0, bulk)
    S = add_identity((zero, zero, zero, zero, zero, zero), 0.5 * bulk * (dC[0] + dC[3] + dC[5]))
    S, B = add_symmetric(S, shear, dC), left_cauchy_green(F)
    return (
        _pair(b0, b0, F, S, B, shear, bulk),
        _pair(b0, b1, F, S, B, shear, bulk),
        _pair(b0, b2, F, S, B, shear, bulk),
        _pair(b0, b3, F, S, B, shear, bulk),
        _pair(b1, b1, F, S, B, shear, bulk),
        _pair(b1, b2, F, S, B, shear, bulk),
        _pair(b1, b3, F, S, B, shear, bulk),
        _pair(b2, b2, F, S, B, shear, bulk),
        _pair(b2, b3, F, S, B, shear, bulk),
        _pair(b3, b3, F, S, B, shear, bulk),
    )


@physics
def _pair(bi, bj, F, S, B, shear, bulk):
    return rate_block(dot(bi, symmetric_times(S, bj)), dot(bi, bj), B, shear, bulk, _times(F, bi), _times(F, bj))


TET_RATES = Element(
    TetRates,
    "damping of tets",
    corners=4,
    corner_numbers=("gradients",),
    numbers=("shear", "bulk"),
    views=(View(((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)), add_tet_rate, tet_rate_energy),),
    blocks=tet_rate_blocks,
    laplacian=average_stiffness,
    projection=largest_stiffness,
    sees_previous=True,
)
