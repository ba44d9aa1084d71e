"""Bending of a sheet that hardly stretches, as one constant quadratic form of the positions.

    E = k/2 sum_T A_T |K_T|^2      (k: bending stiffness [N m], the rigidity of a plate with Poisson's ratio 0)

with curvatures K_T of triangles that are linear in the positions (elements.plate_triangles): over an unfolded hinge,
the change of slope across its edge, sum_k c_k x_k, is a vector whose length is the fold, for deformations that keep
lengths (Bergou et al. 2006, A Quadratic Bending Model for Inextensible Surfaces; Wardetzky et al. 2007). So
E = 1/2 x^T Q x with constant Q.

A sheet that is curved at rest has the curvature K_T0 = sum_c K_c0 n there, along the triangle's normal n:

    E = k/2 sum_T A_T |K_T - K_T0 n|^2 = 1/2 x^T Q x - k sum_T A_T (K_T . K_T0) . n + constant

Parts of K_T at rest along the triangle are sums of its edges and taken out of the weights of its corners. The second
sum is one of heights of vertices above triangles (elements.rest_height): still E >= 0, and E = 0 at rest.

Deviation: Bergou et al. take the trace of the curvature at edges, 3 / (A_1 + A_2) |e|^2 theta_e^2, which is three
times the plate's energy on a regular grid, depends on the triangulation, and lets a free rim warp into a saddle for
nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.elements.curved_square import CurvedSquares
from pliant.elements.plate_square import PlateSquares, square_weights
from pliant.elements.plate_triangles import triangle_curvatures
from pliant.elements.rest_height import RestHeights, rest_heights
from pliant.geometry.plates import plate_corners
from pliant.sparse import sp

ROUNDING = 1e-12  # of sqrt(Q_ii Q_jj): what cancels, but for rounding


class PlateCurvatures(NamedTuple):
    """sqrt(A_T) K_T of a sheet's triangles (m, 3)."""

    sums: sp.csr_matrix  # (3 m, n) [1/m] of positions, three rows a triangle; rows sum to zero
    at_rest: np.ndarray  # (m, 3) along the triangle's normal, at rest


def plate_curvatures(points: np.ndarray, triangles: np.ndarray, is_local: bool = False) -> PlateCurvatures:
    """Of points (n, 3) [m] at rest and triangles (m, 3); is_local: see elements.plate_triangles."""
    sums = triangle_curvatures(points, triangles, is_local)
    corner = points[triangles]
    edges = corner[:, 1:] - corner[:, :1]
    normal = np.cross(edges[:, 0], edges[:, 1])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    vectors = (sums @ points).reshape(-1, 3, 3)
    at_rest = np.einsum("mca,ma->mc", vectors, normal)
    parts = np.linalg.solve(edges @ edges.transpose(0, 2, 1), edges @ vectors.transpose(0, 2, 1)).transpose(0, 2, 1)
    own = np.concatenate((-parts.sum(axis=2, keepdims=True), parts), axis=2)  # (m, 3, 3) by component and corner
    rows = np.repeat(np.arange(3 * len(triangles)), 3)
    along = sp.csr_matrix((own.ravel(), (rows, np.repeat(triangles, 3, axis=0).ravel())), sums.shape)
    return PlateCurvatures((sums - along).tocsr(), at_rest)


def bending_pairs(plate: PlateCurvatures, stiffness: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (k, 2) and weights (k,) [N/m] of the quadratic form (see elements.pair), sorted; stiffness k [N m]."""
    Q = (stiffness * (plate.sums.T @ plate.sums)).tocoo()
    diagonal = np.sqrt(Q.diagonal())
    kept = (Q.row < Q.col) & (np.abs(Q.data) > ROUNDING * diagonal[Q.row] * diagonal[Q.col])
    pairs, weights = np.stack((Q.row[kept], Q.col[kept]), axis=1).astype(np.int64), -Q.data[kept]
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], weights[order]


def bending_heights(points: np.ndarray, triangles: np.ndarray, plate: PlateCurvatures, stiffness: float) -> RestHeights:
    """What a sheet's curvature at rest adds to the quadratic form."""
    m = len(triangles)
    mixed = sp.csr_matrix((plate.at_rest.ravel(), (np.repeat(np.arange(m), 3), np.arange(3 * m))), (m, 3 * m))
    weights = (stiffness * (mixed @ plate.sums)).tocoo()
    is_outside = (triangles[weights.row] != weights.col[:, None]).all(axis=1) & (weights.data != 0)
    triangle, vertex = weights.row[is_outside], weights.col[is_outside]
    elements = np.column_stack((vertex, triangles[triangle])).astype(np.int64)
    return rest_heights(points, elements, weights.data[is_outside])


def bending_squares(
    points: np.ndarray, triangles: np.ndarray, stiffness: float, is_flat: bool
) -> PlateSquares | CurvedSquares:
    """The energy triangle by triangle, so that it can be taken apart."""
    sums = triangle_curvatures(points, triangles, is_local=True)
    elements = triangles.ravel()[_corners(triangles, sums)[:, :12]]
    if is_flat:
        return PlateSquares(elements, square_weights(elements, sums, stiffness))
    plate = plate_curvatures(points, triangles, is_local=True)
    return CurvedSquares(elements, square_weights(elements, plate.sums, stiffness), np.sqrt(stiffness) * plate.at_rest)


def square_corners(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Corners of triangles (m, 12 k) that the squares of a sheet follow (geometry.plates)."""
    return _corners(triangles, triangle_curvatures(points, triangles, is_local=True))


def _corners(triangles: np.ndarray, sums: sp.csr_matrix) -> np.ndarray:
    """Without outer vertices that no curvature depends on."""
    whole = plate_corners(triangles, sums.shape[1])[:, 6:12]
    m = len(triangles)
    rows, vertices = 3 * np.arange(m)[:, None, None] + np.arange(3), triangles.ravel()[whole][:, :, None]
    rows, vertices = np.broadcast_arrays(rows, vertices)
    size = np.abs(np.asarray(sums[rows.ravel(), vertices.ravel()])).reshape(m, 6, 3).max(axis=2)
    largest = np.abs(sums).max(axis=1).toarray().reshape(m, 3).max(axis=1)
    return plate_corners(triangles, sums.shape[1], size > ROUNDING * largest[:, None])
