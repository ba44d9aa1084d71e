"""Quadratic energy of weighted pairs of vertices, 1/2 w |x_i - x_j|^2."""

from __future__ import annotations

import numpy as np

from pliant.energies.scatter import sum_at_vertices, sum_blocks_at_vertices
from pliant.model import Pairs

_SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])


def energy(pairs: Pairs, x: np.ndarray) -> float:
    """[J]."""
    return 0.5 * float(np.sum(pairs.weights * np.sum(_difference(pairs, x) ** 2, axis=1)))


def gradient(pairs: Pairs, x: np.ndarray) -> np.ndarray:
    """dE/dx (n, 3) [N]."""
    pull = pairs.weights[:, None] * _difference(pairs, x)
    return sum_at_vertices(pairs.elements, np.stack([pull, -pull], axis=1), len(x))


def element_hessians(pairs: Pairs, x: np.ndarray, part: slice) -> np.ndarray:
    """d2E/dx_i dx_j (k, 2, 3, 2, 3) [N/m]."""
    return np.einsum("m,ij,ab->miajb", pairs.weights[part], _SIGNS, np.eye(3))


def vertex_blocks(pairs: Pairs, x: np.ndarray) -> np.ndarray:
    """d2E/dx_i^2 (n, 3, 3) [N/m]."""
    own = np.broadcast_to(pairs.weights[:, None, None, None] * np.eye(3), (len(pairs.weights), 2, 3, 3))
    return sum_blocks_at_vertices(pairs.elements, own, len(x))


def _difference(pairs: Pairs, x: np.ndarray) -> np.ndarray:
    return x[pairs.elements[:, 0]] - x[pairs.elements[:, 1]]
