"""Bending of a sheet that is flat at rest and hardly stretches, as one constant quadratic form of the positions.

    E = k/2 sum_v theta^T D_v theta        (k: bending stiffness [N m], the rigidity of a plate with Poisson's ratio 0)

with the folds theta of the edges at vertex v and forms D_v that agree with the plate on any mesh
(elements.vertex_folds).  For deformations that keep lengths, theta_e is the length of a vector that is linear in the
positions (Bergou et al. 2006, A Quadratic Bending Model for Inextensible Surfaces; Wardetzky et al. 2007): over the
unfolded hinge, the change of slope across the edge, sum_k c_k x_k.  So E = 1/2 x^T Q x with constant Q.

Deviation: Bergou et al. take the trace of the curvature at edges, 3 / (A_1 + A_2) |e|^2 theta_e^2, which is three
times the plate's energy on a regular grid, depends on the triangulation, and lets a free rim warp into a saddle for
nothing.  With the forms at vertices strips bend and squares twist as plates do within 2 %, whatever their triangles.

A sheet that is not flat at rest is treated as if each of its hinges were: it strives to unfold.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.flat_fold import slope_changes
from pliant.elements.vertex_folds import vertex_forms
from pliant.sparse import sp

ROUNDING = 1e-12  # of sqrt(Q_ii Q_jj): what cancels, but for rounding


def bending_pairs(
    points: np.ndarray, triangles: np.ndarray, hinges: np.ndarray, stiffness: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) and weights (k,) [N/m] of the bending energy (see elements.pair), sorted.

    points (n, 3) at rest, hinges (h, 4) of the triangles, stiffness k [N m], one number or one a vertex (n,).
    """
    n, h = len(points), len(hinges)
    rigidity = np.broadcast_to(np.asarray(stiffness, dtype=float), n)
    slopes = sp.csr_matrix(
        (slope_changes(points, hinges).ravel(), (np.repeat(np.arange(h), 4), hinges.ravel())), (h, n)
    )
    forms = sp.csr_matrix((h, h))
    for group in vertex_forms(points, triangles, hinges):
        k = group.hinges.shape[1]
        values = rigidity[group.vertices][:, None, None] * group.forms
        index = np.repeat(group.hinges, k, axis=1).ravel(), np.tile(group.hinges, (1, k)).ravel()
        forms = forms + sp.csr_matrix((values.ravel(), index), (h, h))
    Q = (slopes.T @ forms @ slopes).tocoo()
    diagonal = np.sqrt(Q.diagonal())
    kept = (Q.row < Q.col) & (np.abs(Q.data) > ROUNDING * diagonal[Q.row] * diagonal[Q.col])
    pairs, weights = np.stack((Q.row[kept], Q.col[kept]), axis=1).astype(np.int64), -Q.data[kept]
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], weights[order]
