"""Damping of tets as one of their vertices sees it (elements.strain_rates has the formulas)."""

from __future__ import annotations

from pliant.elements.element import Element, View
from pliant.elements.strain_rates import TetRates, average_stiffness, largest_stiffness, rate_block
from pliant.elements.tet import deformation_gradient, left_cauchy_green, own_gradient
from pliant.lanes import maximum, number
from pliant.lanes.vectors import add, add_identity, add_square, add_symmetric, dot, physics, subtract, symmetric_times


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
    """Add the force on the vertex and its block."""
    F, dC = _change(a, b, c, a0, b0, c0, ba, bb, bc)
    own = own_gradient(ba, bb, bc)
    part = 0.5 * bulk * (dC[0] + dC[3] + dC[5])
    pushed = symmetric_times(dC, own)
    s = (shear * pushed[0] + part * own[0], shear * pushed[1] + part * own[1], shear * pushed[2] + part * own[2])
    f = subtract(f, (dot(F[0], s), dot(F[1], s), dot(F[2], s)))
    across = dot(own, s)
    H = add_identity(H, maximum(across, number(0.0, across)))
    H = add_symmetric(H, shear * dot(own, own), left_cauchy_green(F))
    return f, add_square(H, shear + bulk, (dot(F[0], own), dot(F[1], own), dot(F[2], own)))


@physics
def _change(a, b, c, a0, b0, c0, ba, bb, bc):
    """Rows of F, and the change of C = F^T F since the start of the step, symmetric."""
    F = deformation_gradient(a, b, c, ba, bb, bc)
    D = deformation_gradient(subtract(a, a0), subtract(b, b0), subtract(c, c0), ba, bb, bc)
    # rows of F + F_t, then columns of both
    R = (subtract(add(F[0], F[0]), D[0]), subtract(add(F[1], F[1]), D[1]), subtract(add(F[2], F[2]), D[2]))
    P, Q = _transposed(R), _transposed(D)
    return F, (
        dot(P[0], Q[0]),
        0.5 * (dot(P[0], Q[1]) + dot(P[1], Q[0])),
        0.5 * (dot(P[0], Q[2]) + dot(P[2], Q[0])),
        dot(P[1], Q[1]),
        0.5 * (dot(P[1], Q[2]) + dot(P[2], Q[1])),
        dot(P[2], Q[2]),
    )


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
    qi = (dot(F[0], bi), dot(F[1], bi), dot(F[2], bi))
    qj = (dot(F[0], bj), dot(F[1], bj), dot(F[2], bj))
    return rate_block(dot(bi, symmetric_times(S, bj)), dot(bi, bj), B, shear, bulk, qi, qj)


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
