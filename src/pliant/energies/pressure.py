"""Energy -p V of pressure inside closed surfaces.

V = 1/6 sum a . (b x c) over the triangles (a, b, c).  On a closed surface dV/da = 1/6 sum (b - a) x (c - a), and
d2V/da db = 1/6 sum -[c - m]_x with m the middle of the edge from a to b and [c]_x the matrix of c x: what is taken from
each triangle cancels with the neighbour's, so that nothing depends on the origin. A vertex alone has no stiffness.
"""

from __future__ import annotations

import numpy as np

from pliant.energies.scatter import sum_at_vertices
from pliant.model import Pressures


def energy(block: Pressures, x: np.ndarray) -> float:
    """[J]."""
    return float(np.sum(energies(block, x)))


def energies(block: Pressures, x: np.ndarray) -> np.ndarray:
    """(m,) [J] of each triangle: only their sum over a closed surface has a meaning."""
    corner = (x - x[block.elements[0, 0]])[block.elements]
    six_volumes = np.einsum("ma,ma->m", corner[:, 0], np.cross(corner[:, 1], corner[:, 2]))
    return -block.pressures * six_volumes / 6


def gradient(block: Pressures, x: np.ndarray) -> np.ndarray:
    """dE/dx (n, 3) [N]."""
    corner = x[block.elements]
    twice_area = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    push = (-block.pressures / 6)[:, None] * twice_area
    return sum_at_vertices(block.elements, np.repeat(push[:, None], 3, axis=1), len(x))


def element_hessians(block: Pressures, x: np.ndarray, part: slice) -> np.ndarray:
    """d2E/dx_i dx_j (k, 3, 3, 3, 3) [N/m]; exact in their sum over a closed surface."""
    corner = x[block.elements[part]]
    H = np.zeros((len(corner), 3, 3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        across = corner[:, k] - 0.5 * (corner[:, i] + corner[:, j])
        H[:, i, :, j] = (block.pressures[part] / 6)[:, None, None] * _cross_matrices(across)
        H[:, j, :, i] = H[:, i, :, j].transpose(0, 2, 1)
    return H


def vertex_blocks(block: Pressures, x: np.ndarray) -> np.ndarray:
    """d2E/dx_i^2 (n, 3, 3) [N/m]: zero, because V is linear in every vertex."""
    return np.zeros((len(x), 3, 3))


def _cross_matrices(c: np.ndarray) -> np.ndarray:
    """[c]_x (k, 3, 3) with [c]_x v = c x v."""
    x, y, z = c.T
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
