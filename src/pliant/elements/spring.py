"""The spring between two vertices, and the rope that only pulls.

    E = k/2 (l - l0)^2 with l = |x_j - x_i|;   shorter than at rest, the stiffness is `compression` times k:
    1 is a spring, 0 a rope.

Seen from vertex i, with r = x_j - x_i and d = r / l:

    force = E' d,   block = k d d^T + max(E' / l, 0) (1 - d d^T).

The exact block has E' / l without max. Under compression that part is negative: the spring wants to turn aside. It is
left out of the block that vertex block descent solves, so that the block is never indefinite; energy, gradient and the
exact Hessian (energies.springs) keep it.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes import maximum, number, select, sqrt
from pliant.lanes.vectors import add_identity, add_scaled, add_square, dot, physics

LEAST_LENGTH = 1e-30  # [m] divides in place of a shorter length: ends that coincide have no direction and no force


def rest_data(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Lengths (m,) [m] of edges (m, 2)."""
    return np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)


@physics
def spring_energy(r, stiffness, rest_length, compression):
    """E [J]; stiffness [N/m], rest_length [m]."""
    stretch = sqrt(dot(r, r)) - rest_length
    k = select(stretch < 0.0, stiffness * compression, stiffness)
    return 0.5 * k * stretch * stretch


@physics
def add_spring(f, H, r, stiffness, rest_length, compression):
    """Add the force on vertex i and its block; r = x_j - x_i."""
    length = sqrt(dot(r, r))
    inverse = 1.0 / maximum(length, number(LEAST_LENGTH, length))
    k = select(length < rest_length, stiffness * compression, stiffness)
    pull = k * (1.0 - rest_length * inverse)  # E' / l
    f = add_scaled(f, pull, r)
    across = maximum(pull, number(0.0, pull))
    H = add_identity(H, across)
    d = (inverse * r[0], inverse * r[1], inverse * r[2])
    return f, add_square(H, k - across, d)
