"""Bending of a sheet that is flat at rest and hardly stretches, as one constant quadratic form of the positions.

The curvature at a vertex is the mean of the folds of the edges that meet there, weighed by their length:

    S_v = 1 / (2 A_v)  sum_{edges e at v} |e| theta_e  m_e m_e^T,     m_e across the edge, in the plane
    E   = k/2 sum_v A_v |S_v|^2         (k: bending stiffness [N m], the rigidity of a plate with Poisson's ratio 0)

with A_v the Voronoi area of the vertex.  For deformations that keep lengths, theta_e is the length of a vector that is
linear in the positions (Bergou et al. 2006, A Quadratic Bending Model for Inextensible Surfaces; Wardetzky et al.
2007): over the unfolded hinge, the change of slope across the edge, sum_k c_k x_k.  So E = 1/2 x^T Q x with constant Q.

Deviation: Bergou et al. take the trace of the curvature at edges, 3 / (A_1 + A_2) |e|^2 theta_e^2, which is three
times the plate's energy on a regular grid, depends on the triangulation, and lets a free rim warp into a saddle for
nothing.  The tensor at vertices makes a strip along the cells of a grid bend exactly as a plate, a strip of irregular
triangles within 5 %.  What remains: where diagonals alternate, twist is twice too stiff, so that a cylinder along the
diagonals has 1.5 times the plate's energy.

A sheet that is not flat at rest is treated as if each of its hinges were: it strives to unfold.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

ROUNDING = 1e-12  # of sqrt(Q_ii Q_jj): half of a grid's weights cancel, but for rounding
_COMPONENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of a symmetric tensor; off-diagonal ones count twice


def bending_pairs(
    points: np.ndarray, triangles: np.ndarray, hinges: np.ndarray, stiffness: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) and weights (k,) [N/m] of the bending energy (see elements.pair), sorted.

    points (n, 3) at rest, hinges (h, 4) of the triangles, stiffness k [N m], one number or one a vertex (n,).
    """
    area = vertex_areas(points, triangles)
    rigidity = np.broadcast_to(np.asarray(stiffness, dtype=float), len(points))
    curvature = sp.diags(np.tile(np.sqrt(rigidity * area), 6)) @ _curvatures(points, hinges, area)
    Q = (curvature.T @ curvature).tocoo()
    diagonal = np.sqrt(Q.diagonal())
    kept = (Q.row < Q.col) & (np.abs(Q.data) > ROUNDING * diagonal[Q.row] * diagonal[Q.col])
    pairs, weights = np.stack((Q.row[kept], Q.col[kept]), axis=1).astype(np.int64), -Q.data[kept]
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], weights[order]


def _curvatures(points: np.ndarray, hinges: np.ndarray, area: np.ndarray) -> sp.csr_matrix:
    """S_v as a sparse matrix (6 n, n) on one coordinate of the positions; off-diagonal components times sqrt 2.

    With the edge's own direction t in place of m: m_e . m_f = t_e . t_f in the plane, and t needs no normal.
    """
    n, h = len(points), len(hinges)
    edge = points[hinges[:, 1]] - points[hinges[:, 0]]
    length = np.linalg.norm(edge, axis=1)
    t = edge / length[:, None]
    slopes = sp.csr_matrix(
        (_slope_changes(points, hinges).ravel(), (np.repeat(np.arange(h), 4), hinges.ravel())), (h, n)
    )
    ends = hinges[:, :2]
    parts = []
    for i, j in _COMPONENTS:
        size = 0.5 * length * t[:, i] * t[:, j] * (1.0 if i == j else np.sqrt(2.0))
        values = size[:, None] / area[ends]
        parts.append(sp.csr_matrix((values.ravel(), (ends.ravel(), np.repeat(np.arange(h), 2))), (n, h)) @ slopes)
    return sp.vstack(parts).tocsr()


def _slope_changes(points: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """c (h, 4) [1/m]: sum_k c_k z_k is the fold of a hinge, unfolded into a plane, with small heights z.

    A wing at height y beside the edge, its foot at the part p of the edge, rises by (z - (1 - p) z_0 - p z_1) / y.
    """
    x = points[hinges]
    edge = x[:, 1] - x[:, 0]
    squared = np.einsum("ma,ma->m", edge, edge)
    c = np.zeros((len(hinges), 4))
    for wing in (2, 3):
        arm = x[:, wing] - x[:, 0]
        part = np.einsum("ma,ma->m", arm, edge) / squared
        height = np.linalg.norm(np.cross(edge, arm), axis=1) / np.sqrt(squared)
        c[:, wing] = 1 / height
        c[:, 0] -= (1 - part) / height
        c[:, 1] -= part / height
    return c


def vertex_areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Voronoi areas (n,) [m^2] of vertices; they sum to the area of the sheet.

    A corner of a triangle without obtuse angle owns what is nearest to it; of an obtuse triangle half goes to the
    obtuse corner and a quarter to each other (Meyer et al. 2003, Discrete Differential-Geometry Operators).
    """
    x = points[triangles]
    ahead, behind = np.roll(x, -1, axis=1) - x, np.roll(x, 1, axis=1) - x
    double = np.linalg.norm(np.cross(ahead[:, 0], behind[:, 0]), axis=1)[:, None]
    cotangent = np.einsum("mka,mka->mk", ahead, behind) / double
    opposite = np.sum((ahead - behind) ** 2, axis=2) * cotangent  # |opposite edge|^2 cot of the corner's angle
    nearest = (np.roll(opposite, -1, axis=1) + np.roll(opposite, 1, axis=1)) / 8
    obtuse = np.where(cotangent < 0, double / 4, double / 8)
    share = np.where((cotangent < 0).any(axis=1, keepdims=True), obtuse, nearest)
    return np.bincount(triangles.ravel(), share.ravel(), len(points))
