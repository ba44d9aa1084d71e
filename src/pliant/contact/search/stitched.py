"""Parts of sheets that a seam joins: they lie on each other there, and are no contact.

A primitive and one across a seam are neighbours, as triangles with a common vertex are, if a vertex of one is stitched
to a vertex of the other.
"""

from __future__ import annotations

import numpy as np


def stitched_keys(pairs: np.ndarray, n_vertices: int) -> np.ndarray:
    """(k,) ascending: pairs (k, 2) of vertices that are stitched together, in both orders, as i n + j."""
    both = np.concatenate([pairs, pairs[:, ::-1]]).astype(np.int64)
    return np.unique(both @ (n_vertices, 1))


def are_stitched(keys: np.ndarray, n_vertices: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(m,) bool: which primitives with vertices first (m, p) and second (m, q) are neighbours across a seam."""
    result = np.zeros(len(first), bool)
    if not len(keys):
        return result
    for one in first.astype(np.int64).T:
        for other in second.T:
            key = one * n_vertices + other
            result |= keys[np.minimum(np.searchsorted(keys, key), len(keys) - 1)] == key
    return result
