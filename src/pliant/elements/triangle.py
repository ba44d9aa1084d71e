"""The linear triangle of a sheet: rest data, its 3x2 deformation gradient, and its membrane force on one vertex.

    F = sum_j x_j b_j^T  with constant shape-function gradients b_j [1/m], 2-vectors in a rest basis of the triangle.

Any law psi(I, II, J) of solids is a membrane when the third stretch, across the sheet, is held at 1:

    I = tr C + 1,  II = tr C^2 + 1,  J = sqrt(det C) = |n|   with C = F^T F,  n = F_1 x F_2  (columns of F)

and psi is energy per rest area: mu and lam in N/m.  St. Venant-Kirchhoff becomes exactly its two-dimensional form.
In the position of vertex i, with q = F b_i, w = b_i1 F_2 - b_i2 F_1 and the unit normal u = n / J:

    dI = 2 q             d2I  = 2 |b|^2 Identity
    dII = 4 F F^T q      d2II = 4 (|q|^2 Identity + q q^T + |b|^2 F F^T)
    dJ = w x u           d2J  = |w|^2 / J  u u^T        (|w| is the opposite edge over twice the rest area)

All first derivatives lie in the triangle's plane.  Along u the block is the number
N = 2 psi_I |b|^2 + 4 psi_II |q|^2 + psi_J |w|^2 / J; compressed sheets have N < 0 and buckle.  The block that vertex
block descent solves takes max(N, 0); energy, gradient and the exact Hessian (energies.triangles) are as they are.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.vectors import (
    add_identity,
    add_product,
    add_scaled,
    add_square,
    cross,
    dot,
    physics,
    unless_zero,
)

LEAST_AREA = 1e-6  # J that divides in place of a smaller one: a collapsed triangle has no normal


def rest_data(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shape-function gradients b (m, 3, 2) [1/m], areas (m,) [m^2] and frames (m, 2, 3).

    A frame's rows are the rest basis in space: the first edge's direction, and across it to the third vertex.
    """
    corner = points[triangles]
    first, second = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    length = np.linalg.norm(first, axis=1, keepdims=True)
    along = first / length
    height = second - np.einsum("ma,ma->m", second, along)[:, None] * along
    altitude = np.linalg.norm(height, axis=1, keepdims=True)
    frames = np.stack((along, height / altitude), axis=1)
    foot = np.einsum("ma,ma->m", second, along)[:, None]
    gradients = np.empty((len(triangles), 3, 2))
    gradients[:, 1] = np.hstack((1 / length, -foot / (length * altitude)))
    gradients[:, 2] = np.hstack((np.zeros_like(length), 1 / altitude))
    gradients[:, 0] = -(gradients[:, 1] + gradients[:, 2])
    return gradients, 0.5 * (length * altitude)[:, 0], frames


@physics
def deformation_gradient(a, b, ba, bb):
    """Columns F_1, F_2 of F; a, b relative to the vertex, with their shape-function gradients."""
    return _column(a, b, ba[0], bb[0]), _column(a, b, ba[1], bb[1])


@physics
def _column(a, b, ba, bb):
    return (a[0] * ba + b[0] * bb, a[1] * ba + b[1] * bb, a[2] * ba + b[2] * bb)


@physics
def invariants(F, is_triangle):
    """I, II and J; those of the rest state where there is no triangle, because a law may be singular at F = 0."""
    c11, c12, c22 = dot(F[0], F[0]), dot(F[0], F[1]), dot(F[1], F[1])
    n = cross(F[0], F[1])
    three = number(3.0, c11)
    I = select(is_triangle, c11 + c22 + 1.0, three)
    II = select(is_triangle, c11 * c11 + (c12 * c12 + c12 * c12) + c22 * c22 + 1.0, three)
    return I, II, select(is_triangle, sqrt(dot(n, n)), number(1.0, c11))


@physics
def membrane_energy(a, b, ba, bb, area, parameters, density):
    """A psi [J]; a, b relative to the vertex with their gradients; density(I, II, J, *parameters) of the law."""
    I, II, J = invariants(deformation_gradient(a, b, ba, bb), area > 0.0)
    return area * density(I, II, J, *parameters)


@physics
def add_membrane(f, H, a, b, ba, bb, area, parameters, derivatives):
    """Add the force on the vertex and its block; derivatives(I, II, J, *parameters) of the law, None where zero."""
    F = deformation_gradient(a, b, ba, bb)
    own = (-(ba[0] + bb[0]), -(ba[1] + bb[1]))
    I, II, J = invariants(F, area > 0.0)
    first, second = derivatives(I, II, J, *parameters)
    q = _column(F[0], F[1], own[0], own[1])
    r = add_scaled(_scaled(dot(F[0], q), F[0]), dot(F[1], q), F[1])  # F F^T q
    w = _column(F[1], F[0], own[0], -own[1])
    inverse = 1.0 / maximum(J, number(LEAST_AREA, J))
    u = _scaled(inverse, cross(F[0], F[1]))
    g = cross(w, u)
    bb_own, across = own[0] * own[0] + own[1] * own[1], dot(w, w) * inverse
    f = unless_zero(_add_force, f, first[0], area * 2.0, q)
    f = unless_zero(_add_force, f, first[1], area * 4.0, r)
    f = unless_zero(_add_force, f, first[2], area, g)
    H = unless_zero(_add_second_order, H, first[1], area, bb_own, F, q)
    H = unless_zero(_add_own, H, second[0], area * 4.0, q)
    H = unless_zero(_add_mixed, H, second[1], area * 8.0, q, r)
    H = unless_zero(_add_mixed, H, second[2], area * 2.0, q, g)
    H = unless_zero(_add_own, H, second[3], area * 16.0, r)
    H = unless_zero(_add_mixed, H, second[4], area * 4.0, r, g)
    H = unless_zero(_add_own, H, second[5], area, g)
    # What acts alike in all directions, then the normal direction, where the sum must not be negative.
    alike = unless_zero(_plus, area * 0.0, first[0], area * 2.0 * bb_own)
    alike = unless_zero(_plus, alike, first[1], area * 4.0 * dot(q, q))
    normal = unless_zero(_plus, alike, first[2], area * across)
    return f, add_square(add_identity(H, alike), maximum(normal, number(0.0, J)) - alike, u)


@physics
def _scaled(s, a):
    return (s * a[0], s * a[1], s * a[2])


@physics
def _plus(total, coefficient, factor):
    return total + coefficient * factor


@physics
def _add_force(f, coefficient, factor, gradient):
    return add_scaled(f, -(coefficient * factor), gradient)


@physics
def _add_second_order(H, coefficient, area, bb, F, q):
    """d2II without its part along the identity."""
    s = coefficient * area * 4.0
    H = add_square(H, s, q)
    return add_square(add_square(H, s * bb, F[0]), s * bb, F[1])


@physics
def _add_own(H, coefficient, factor, gradient):
    return add_square(H, coefficient * factor, gradient)


@physics
def _add_mixed(H, coefficient, factor, one, other):
    return add_product(H, coefficient * factor, one, other)
