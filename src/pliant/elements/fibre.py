"""Stretch of a triangle along one direction of its rest state: the warp or weft of a cloth.

    E = A k/8 (|F d|^2 - 1)^2 = A k/2 e^2 with Green's strain e along the unit direction d,
    F d = sum_j beta_j x_j,   beta_j = b_j . d.

Seen from vertex i:  force = -A k/2 (|F d|^2 - 1) beta_i F d,
                     block =  A k beta_i^2 (F d (F d)^T + max(|F d|^2 - 1, 0) / 2  Identity).

The exact block has no max. Under compression that part is negative and is left out of what vertex block descent
solves, as in elements.spring.
"""

from __future__ import annotations

import numpy as np

from pliant.elements import triangle
from pliant.errors import MeshError
from pliant.lanes import maximum, number
from pliant.lanes.vectors import add_identity, add_scaled, add_square, dot, physics

LEAST_SINE = 1e-6  # of the angle between a direction and a triangle's normal


def rest_data(points: np.ndarray, triangles: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """beta (m, 3) [1/m]: derivatives of the shape functions along a direction (3,) or (m, 3) laid into each triangle.

    The direction is projected onto the triangle's plane at rest and made a unit vector there.
    """
    gradients, _, frames = triangle.rest_data(points, triangles)
    wanted = np.broadcast_to(np.asarray(direction, dtype=float), (len(triangles), 3))
    flat = np.einsum("mca,ma->mc", frames, wanted)
    length = np.linalg.norm(flat, axis=1)
    lost = np.flatnonzero(~(length > LEAST_SINE * np.linalg.norm(wanted, axis=1)))
    if lost.size:
        raise MeshError(
            f"The fibre direction {tuple(wanted[lost[0]].tolist())} has no part in the plane of triangle {lost[0]}; "
            "give a direction that lies in the sheet, for all triangles or one a triangle (m, 3)."
        )
    return np.einsum("mjc,mc->mj", gradients, flat / length[:, None])


@physics
def fibre_energy(a, b, beta_a, beta_b, stiffness):
    """E [J]; a, b relative to the vertex; stiffness A k [J]."""
    stretch = _stretched(a, b, beta_a, beta_b)
    strain = dot(stretch, stretch) - 1.0
    return 0.125 * stiffness * strain * strain


@physics
def add_fibre(f, H, a, b, beta_a, beta_b, stiffness):
    """Add the force on the vertex and its block; a, b relative to it; stiffness A k [J]."""
    own = -(beta_a + beta_b)
    stretch = _stretched(a, b, beta_a, beta_b)
    strain = dot(stretch, stretch) - 1.0
    f = add_scaled(f, -0.5 * stiffness * strain * own, stretch)
    weight = stiffness * own * own
    H = add_identity(H, 0.5 * weight * maximum(strain, number(0.0, strain)))
    return f, add_square(H, weight, stretch)


@physics
def _stretched(a, b, beta_a, beta_b):
    """F d: the rest direction as it is now."""
    return (a[0] * beta_a + b[0] * beta_b, a[1] * beta_a + b[1] * beta_b, a[2] * beta_a + b[2] * beta_b)
