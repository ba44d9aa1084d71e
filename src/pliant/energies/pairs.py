"""Energy of weighted pairs and its derivatives, in double precision (see elements.pair).

Everywhere: x (n, 3) [m], pairs (m, 2), weights w (m,) [N/m]; E = 1/2 sum w |x_i - x_j|^2.
A single pair's energy may be negative; the sum of a bending or attachment energy is not.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def energy(x: Array, pairs: Array, weights: Array) -> Array:
    """w/2 |x_i - x_j|^2 (m,) [J]."""
    return 0.5 * weights * np.sum((x[pairs[:, 1]] - x[pairs[:, 0]]) ** 2, axis=1)


def gradient(x: Array, pairs: Array, weights: Array) -> Array:
    """dE/dx (m, 2, 3) [N]."""
    pull = weights[:, None] * (x[pairs[:, 0]] - x[pairs[:, 1]])
    return np.stack((pull, -pull), axis=1)


def hessian(x: Array, pairs: Array, weights: Array) -> Array:
    """d2E/dx2 (m, 6, 6) [N/m]; does not depend on x."""
    return weights[:, None, None] * np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))


def vertex_blocks(x: Array, pairs: Array, weights: Array) -> Array:
    """d2E/dx_i^2 (m, 2, 3, 3) [N/m], exact; their sum at a vertex is not negative."""
    return np.broadcast_to(weights[:, None, None, None] * np.eye(3), (len(pairs), 2, 3, 3))
