"""Weighted pairs of vertices: any constant quadratic energy that neither moving nor turning a body changes.

    E = 1/2 sum_ij Q_ij x_i . x_j  with symmetric Q whose rows sum to zero
      = -1/2 sum_pairs w_ij |x_i - x_j|^2,   w_ij = Q_ij   [N/m]   (each pair i < j once)

so that a pair with w < 0 pulls together.  Quadratic bending and attachments are such energies.
Seen from vertex i:  force = -sum_j w_ij (x_j - x_i),   block = -sum_j w_ij Identity = Q_ii Identity,
exact and, since Q is positive semidefinite, never negative.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes.vectors import add_identity, add_scaled, dot, physics


def attachment_pairs(
    vertices: np.ndarray, coefficients: np.ndarray, stiffness: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2), smaller vertex first, and weights (k,) [N/m] of links E = k/2 |sum_i a_i x_i|^2 with sum_i a_i = 0.

    vertices (m, c) and coefficients (m, c) of m links: of a link between a vertex and a point on a face, the vertex
    with a = 1 and the face's vertices with minus the point's barycentric coordinates.  stiffness (m,) or one number
    [N/m].  From |sum a_i x_i|^2 = -sum_pairs a_i a_j |x_i - x_j|^2 follows w_ij = k a_i a_j.
    """
    first, second = np.triu_indices(vertices.shape[1], 1)
    factor = np.broadcast_to(np.asarray(stiffness, dtype=float), len(vertices))[:, None]
    weights = factor * coefficients[:, first] * coefficients[:, second]
    pairs = np.stack((vertices[:, first], vertices[:, second]), axis=-1)
    return merged_pairs(pairs.reshape(-1, 2), weights.ravel())


def merged_pairs(pairs: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair once, smaller vertex first, sorted, with the sum of its weights; pairs of sum zero left out."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    size = int(high.max()) + 1 if len(high) else 1
    key, where = np.unique(low * size + high, return_inverse=True)
    total = np.bincount(where, weights, len(key))
    kept = (total != 0) & (key // size != key % size)
    return np.stack((key // size, key % size), axis=1)[kept], total[kept]


@physics
def pair_energy(r, weight):
    """The pair's part of E [J]; r = x_j - x_i."""
    return -0.5 * weight * dot(r, r)


@physics
def add_pair(f, H, r, weight):
    """Add the force on vertex i and its block; r = x_j - x_i, weight w_ij [N/m]."""
    return add_scaled(f, -weight, r), add_identity(H, -weight)
