"""Energy of vertices outside their bounds, k/2 d^2 an axis."""

from __future__ import annotations

import numpy as np

from pliant.energies.scatter import sum_at_vertices, sum_blocks_at_vertices
from pliant.model import Bounds


def energy(bounds: Bounds, x: np.ndarray) -> float:
    """[J]."""
    return 0.5 * float(np.sum(bounds.stiffness[:, None] * _depths(bounds, x) ** 2))


def gradient(bounds: Bounds, x: np.ndarray) -> np.ndarray:
    """dE/dx (n, 3) [N]."""
    return sum_at_vertices(bounds.elements, (bounds.stiffness[:, None] * _depths(bounds, x))[:, None], len(x))


def element_hessians(bounds: Bounds, x: np.ndarray, part: slice) -> np.ndarray:
    """d2E/dx2 (k, 1, 3, 1, 3) [N/m]."""
    return _own(bounds, x)[part, :, :, None, :]


def vertex_blocks(bounds: Bounds, x: np.ndarray) -> np.ndarray:
    """d2E/dx_i^2 (n, 3, 3) [N/m]."""
    return sum_blocks_at_vertices(bounds.elements, _own(bounds, x), len(x))


def _own(bounds: Bounds, x: np.ndarray) -> np.ndarray:
    """(m, 1, 3, 3) [N/m]."""
    stiffness = bounds.stiffness[:, None] * (_depths(bounds, x) != 0)
    return (stiffness[:, :, None] * np.eye(3))[:, None]


def _depths(bounds: Bounds, x: np.ndarray) -> np.ndarray:
    """(m, 3) how far outside along each axis, negative below the lower bound [m]."""
    at = x[bounds.elements[:, 0]]
    return np.minimum(at - bounds.lower, 0) + np.maximum(at - bounds.upper, 0)
