"""From numbers of elements to numbers of vertices."""

from __future__ import annotations

import numpy as np

CHUNK = 16384  # elements whose Hessians are held at a time


def chunks(m: int) -> list[slice]:
    return [slice(first, min(first + CHUNK, m)) for first in range(0, m, CHUNK)]


def sum_at_vertices(elements: np.ndarray, nodal: np.ndarray, n: int) -> np.ndarray:
    """Vectors of the elements' corners (m, k, 3) summed at the vertices (n, 3)."""
    corners = elements.ravel()
    return np.stack([np.bincount(corners, nodal[..., a].ravel(), minlength=n) for a in range(3)], axis=1)


def sum_blocks_at_vertices(elements: np.ndarray, own: np.ndarray, n: int) -> np.ndarray:
    """Blocks of the elements' corners (m, k, 3, 3) summed at the vertices (n, 3, 3)."""
    corners = elements.ravel()
    entries = [np.bincount(corners, own[..., a, b].ravel(), minlength=n) for a in range(3) for b in range(3)]
    return np.stack(entries, axis=1).reshape(n, 3, 3)
