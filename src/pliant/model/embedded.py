"""A fine surface that moves with the coarse tets around it, for pictures and results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from pliant.errors import SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.model import checks

NEAREST = 24  # tets that are tried for a point, nearest centres first; then all
FARTHEST = -2.0  # least barycentric coordinate of a point outside: farther out, following a tet is a guess


class EmbeddedMesh:
    """A surface in a solid: each vertex keeps its barycentric coordinates in one tet."""

    def __init__(self, name: str, mesh: TriMesh, tets: TetMesh, positions: Callable[[], np.ndarray]):
        checks.instance(mesh, TriMesh, f"{name}.embed: the mesh", "a TriMesh such as pl.load_mesh('skin.obj')")
        self.mesh = mesh
        self.tets, self.weights = _located(name, mesh.points, tets)
        self._positions = positions

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m] where the surface is now."""
        return np.einsum("nk,nka->na", self.weights, self._positions()[self.tets])

    @property
    def triangles(self) -> np.ndarray:
        """(m, 3) of the surface."""
        return self.mesh.triangles

    @property
    def normals(self) -> np.ndarray:
        """(n, 3) unit normals of the vertices now: of the triangles around, by their areas."""
        x, triangles = self.positions, self.mesh.triangles
        corner = x[triangles]
        areas = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        normals = np.zeros_like(x)
        np.add.at(normals, triangles, areas[:, None, :])
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return normals / np.where(length > 0, length, 1.0)


def _located(name: str, points: np.ndarray, mesh: TetMesh) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 4) of the tet that a point lies in, or is nearest to by its coordinates, and coordinates (n, 4)."""
    corner = mesh.points[mesh.tets]
    inverses = np.linalg.inv((corner[:, 1:] - corner[:, :1]).transpose(0, 2, 1))
    tree = cKDTree(corner.mean(axis=1))
    chosen, weights = _best(points, corner, inverses, tree, min(NEAREST, len(corner)))
    outside = np.flatnonzero(weights.min(axis=1) < -1e-9)
    if outside.size and len(corner) > NEAREST:
        for part in np.array_split(outside, -(-outside.size * len(corner) // 2_000_000) or 1):
            chosen[part], weights[part] = _best(points[part], corner, inverses, tree, len(corner))
    worst = int(weights.min(axis=1).argmin())
    if weights[worst].min() < FARTHEST:
        raise SceneError(
            f"{name}.embed: vertex {worst} at {points[worst].tolist()} lies far outside the solid: move the surface to "
            "where the solid's mesh is, or scale it."
        )
    return mesh.tets[chosen], weights


def _best(
    points: np.ndarray, corner: np.ndarray, inverses: np.ndarray, tree: cKDTree, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of the `count` tets nearest to each point, that in which its least barycentric coordinate is largest."""
    candidates = tree.query(points, k=count)[1].reshape(len(points), count)
    local = np.einsum("nkab,nkb->nka", inverses[candidates], points[:, None] - corner[candidates, 0])
    coordinates = np.concatenate([1 - local.sum(axis=2, keepdims=True), local], axis=2)
    best = coordinates.min(axis=2).argmax(axis=1)
    rows = np.arange(len(points))
    return candidates[rows, best], coordinates[rows, best]
