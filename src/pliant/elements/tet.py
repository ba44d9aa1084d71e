"""The linear tetrahedron: rest data, deformation gradient F, its invariants and their derivatives in one vertex.

    F = sum_j x_j b_j^T  with the constant shape-function gradients b_j [1/m], sum_j b_j = 0.

Seen from vertex i, with the opposite face (a, b, c) ordered so that the volume is positive:

              i          area = (b - a) x (c - a)
             /|\\         J = area . (x_i - a) / (6 V)
            / | \\        dJ/dx_i = area / (6 V),   d2J/dx_i^2 = 0
           a--|--c
            \\ | /
              b
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import select
from pliant.lanes.vectors import cross, dot, physics, subtract, symmetric_times

KEEP = 0.1  # one step of one vertex leaves a tet at least this part of its volume, where the law has a barrier


def rest_data(points: np.ndarray, tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shape-function gradients b (m, 4, 3) [1/m] and volumes (m,) [m^3] of positively oriented tets."""
    corner = points[tets]
    edges = corner[:, 1:] - corner[:, :1]  # rows x_k - x_0
    crosses = np.stack(
        [np.cross(edges[:, 1], edges[:, 2]), np.cross(edges[:, 2], edges[:, 0]), np.cross(edges[:, 0], edges[:, 1])], 1
    )
    volume6 = np.einsum("ma,ma->m", edges[:, 0], crosses[:, 0])
    gradients = np.empty((len(tets), 4, 3))
    gradients[:, 1:] = crosses / volume6[:, None, None]
    gradients[:, 0] = -gradients[:, 1:].sum(1)
    return gradients, volume6 / 6


@physics
def area_and_volume_ratio(a, b, c, inverse_6v):
    """Area vector of the opposite face and J = det F; a, b, c relative to the vertex."""
    area = cross(subtract(b, a), subtract(c, a))
    return area, -(dot(area, a) * inverse_6v)


@physics
def deformation_gradient(a, b, c, ba, bb, bc):
    """Rows of F; a, b, c relative to the vertex, with their shape-function gradients."""
    return (
        _gradient_row(a[0], b[0], c[0], ba, bb, bc),
        _gradient_row(a[1], b[1], c[1], ba, bb, bc),
        _gradient_row(a[2], b[2], c[2], ba, bb, bc),
    )


@physics
def _gradient_row(a, b, c, ba, bb, bc):
    return (a * ba[0] + b * bb[0] + c * bc[0], a * ba[1] + b * bb[1] + c * bc[1], a * ba[2] + b * bb[2] + c * bc[2])


@physics
def own_gradient(ba, bb, bc):
    """Shape-function gradient of the vertex itself: all four sum to zero."""
    return (-(ba[0] + bb[0] + bc[0]), -(ba[1] + bb[1] + bc[1]), -(ba[2] + bb[2] + bc[2]))


@physics
def left_cauchy_green(F):
    """F F^T, symmetric."""
    return (dot(F[0], F[0]), dot(F[0], F[1]), dot(F[0], F[2]), dot(F[1], F[1]), dot(F[1], F[2]), dot(F[2], F[2]))


@physics
def invariants(F, B):
    """I = |F|^2, II = |F F^T|^2 and J = det F, with B = F F^T."""
    I = B[0] + B[3] + B[5]
    off = B[1] * B[1] + B[2] * B[2] + B[4] * B[4]
    II = B[0] * B[0] + B[3] * B[3] + B[5] * B[5] + off + off
    return I, II, dot(F[0], cross(F[1], F[2]))


@physics
def invariant_gradients(F, B, b):
    """Derivatives in x_i, up to constant factors: q = F b (dI = 2 q), r = F F^T q (dII = 4 r), g = cof(F) b = dJ."""
    q = (dot(F[0], b), dot(F[1], b), dot(F[2], b))
    r = symmetric_times(B, q)
    g = (dot(cross(F[1], F[2]), b), dot(cross(F[2], F[0]), b), dot(cross(F[0], F[1]), b))
    return q, r, g


@physics
def first_invariant_curvature(bb):
    """c of d2I/dx_i^2 = c Identity, from bb = |b|^2."""
    return bb + bb


@physics
def second_invariant_curvature(bb, q):
    """c and k of d2II/dx_i^2 = c Identity + k F F^T + dI dI^T: c = 4 |q|^2, k = 4 |b|^2, dI dI^T = 4 q q^T."""
    return 4.0 * dot(q, q), 4.0 * bb


@physics
def limit_volume_loss(step, J, loss):
    """`step`, or less if J - step * loss would fall below the part KEEP of J; J and loss may share any factor."""
    room = J * (1.0 - KEEP)
    return select(loss * step > room, room / loss, step)


@physics
def bound_step(step, a, b, c, dx):
    """`step`, or less if a tet would lose more than a part of its volume on the way dx of one vertex.

    J is linear in one vertex, so the bound is exact. It compares volumes now with volumes after, so it needs no
    constant; a, b, c: the opposite face, relative to the vertex.
    """
    area = cross(subtract(b, a), subtract(c, a))
    return limit_volume_loss(step, -dot(area, a), -dot(area, dx))
