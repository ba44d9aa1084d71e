"""Damping of the triangles of sheets as one of their vertices sees it (elements.strain_rates has the formulas)."""

from __future__ import annotations

from pliant.elements.element import Element, View
from pliant.elements.strain_rates import TriangleRates, average_stiffness, largest_stiffness, rate_block
from pliant.elements.triangle import deformation_gradient
from pliant.lanes import maximum, number
from pliant.lanes.vectors import add, add_identity, add_scaled, add_square, dot, physics, subtract


@physics
def triangle_rate_energy(a, b, a0, b0, ba, bb, shear, bulk):
    """D [J]; a, b relative to the vertex, now and at the start of the step."""
    _, (c11, c12, c22) = _change(a, b, a0, b0, ba, bb)
    trace = c11 + c22
    return 0.25 * shear * (c11 * c11 + (c12 * c12 + c12 * c12) + c22 * c22) + 0.125 * bulk * trace * trace


@physics
def add_triangle_rate(f, H, a, b, a0, b0, ba, bb, shear, bulk):
    """Add the force on the vertex and its block."""
    F, (c11, c12, c22) = _change(a, b, a0, b0, ba, bb)
    own = (-(ba[0] + bb[0]), -(ba[1] + bb[1]))
    part = 0.5 * bulk * (c11 + c22)
    s = (
        shear * (c11 * own[0] + c12 * own[1]) + part * own[0],
        shear * (c12 * own[0] + c22 * own[1]) + part * own[1],
    )
    f = add_scaled(add_scaled(f, -s[0], F[0]), -s[1], F[1])
    across = own[0] * s[0] + own[1] * s[1]
    H = add_identity(H, maximum(across, number(0.0, across)))
    weight = shear * (own[0] * own[0] + own[1] * own[1])
    H = add_square(add_square(H, weight, F[0]), weight, F[1])
    q = (
        F[0][0] * own[0] + F[1][0] * own[1],
        F[0][1] * own[0] + F[1][1] * own[1],
        F[0][2] * own[0] + F[1][2] * own[1],
    )
    return f, add_square(H, shear + bulk, q)


@physics
def _change(a, b, a0, b0, ba, bb):
    """Columns of F, and the change of C = F^T F since the start of the step: its entries 11, 12 and 22."""
    F = deformation_gradient(a, b, ba, bb)
    D = deformation_gradient(subtract(a, a0), subtract(b, b0), ba, bb)
    P = (subtract(add(F[0], F[0]), D[0]), subtract(add(F[1], F[1]), D[1]))  # F + F_t
    return F, (dot(P[0], D[0]), 0.5 * (dot(P[0], D[1]) + dot(P[1], D[0])), dot(P[1], D[1]))


@physics
def triangle_rate_blocks(corners, previous, b0, b1, b2, shear, bulk):
    """d2D at pairs of corners i <= j, row by row."""
    a, b = subtract(corners[1], corners[0]), subtract(corners[2], corners[0])
    F, (c11, c12, c22) = _change(a, b, subtract(previous[1], previous[0]), subtract(previous[2], previous[0]), b1, b2)
    part, zero = 0.5 * bulk * (c11 + c22), number(0.0, bulk)
    S = (shear * c11 + part, shear * c12, shear * c22 + part)
    B = add_square((F[0][0] * F[0][0], F[0][0] * F[0][1], F[0][0] * F[0][2],
                    F[0][1] * F[0][1], F[0][1] * F[0][2], F[0][2] * F[0][2]), number(1.0, bulk), F[1])  # fmt: skip
    none = (zero, zero, zero)
    q0 = add_scaled(add_scaled(none, b0[0], F[0]), b0[1], F[1])
    q1 = add_scaled(add_scaled(none, b1[0], F[0]), b1[1], F[1])
    q2 = add_scaled(add_scaled(none, b2[0], F[0]), b2[1], F[1])
    return (
        _pair(b0, b0, S, B, shear, bulk, q0, q0),
        _pair(b0, b1, S, B, shear, bulk, q0, q1),
        _pair(b0, b2, S, B, shear, bulk, q0, q2),
        _pair(b1, b1, S, B, shear, bulk, q1, q1),
        _pair(b1, b2, S, B, shear, bulk, q1, q2),
        _pair(b2, b2, S, B, shear, bulk, q2, q2),
    )


@physics
def _pair(bi, bj, S, B, shear, bulk, qi, qj):
    s = bi[0] * (S[0] * bj[0] + S[1] * bj[1]) + bi[1] * (S[1] * bj[0] + S[2] * bj[1])
    return rate_block(s, bi[0] * bj[0] + bi[1] * bj[1], B, shear, bulk, qi, qj)


TRIANGLE_RATES = Element(
    TriangleRates,
    "damping of sheets",
    corners=3,
    corner_numbers=("gradients",),
    numbers=("shear", "bulk"),
    views=(View(((0, 1, 2), (1, 2, 0), (2, 0, 1)), add_triangle_rate, triangle_rate_energy),),
    blocks=triangle_rate_blocks,
    laplacian=average_stiffness,
    projection=largest_stiffness,
    sees_previous=True,
)
