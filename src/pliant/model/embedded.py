"""A fine surface that moves with the coarse tets around it, for pictures and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.errors import SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.model import checks
from pliant.sparse import sp

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

    from pliant.model.solid import Solid

NEAREST = 24  # tets that are tried for a point, nearest centres first; then all
FARTHEST = -2.0  # least barycentric coordinate of a point outside: farther out, following a tet is a guess


class EmbeddedMesh:
    """A surface in a solid: each vertex keeps its barycentric coordinates in one tet."""

    def __init__(self, solid: Solid, mesh: TriMesh):
        what = f"{solid.name}.embed"
        checks.instance(mesh, TriMesh, f"{what}: the mesh", "a TriMesh such as pl.load_mesh('skin.obj')")
        self.mesh, self.solid = mesh, solid
        self.owners, self.weights = _located(what, mesh.points, solid.mesh)  # (n,) tets, (n, 4) of their corners
        self.tets = solid.mesh.tets[self.owners]

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m] where the surface is now."""
        return np.einsum("nk,nka->na", self.weights, self.solid.positions[self.tets])

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


class Skin(NamedTuple):
    """All surfaces of a solid that are drawn in place of its own."""

    matrix: sp.csr_matrix  # (points, vertices of the solid): where its points are
    triangles: np.ndarray  # (m, 3) of its points
    owners: np.ndarray  # (m,) the tet in which the first corner of each is


def skin_of(solid: Solid) -> Skin | None:
    """None if nothing is embedded."""
    if not solid.skins:
        return None
    starts = np.cumsum([0, *(skin.mesh.n_vertices for skin in solid.skins)])
    tets, weights = (np.concatenate([getattr(skin, name) for skin in solid.skins]) for name in ("tets", "weights"))
    rows = np.repeat(np.arange(len(tets)), 4)
    matrix = sp.csr_matrix((weights.ravel(), (rows, tets.ravel())), (len(tets), solid.n_vertices))
    triangles = np.concatenate([skin.triangles + first for skin, first in zip(solid.skins, starts, strict=False)])
    owners = np.concatenate([skin.owners for skin in solid.skins])
    return Skin(matrix, triangles, owners[triangles[:, 0]])


def _located(what: str, points: np.ndarray, mesh: TetMesh) -> tuple[np.ndarray, np.ndarray]:
    """The tet (n,) that a point lies in, or is nearest to by its coordinates, and coordinates (n, 4)."""
    from scipy.spatial import cKDTree  # takes a fifth of a second to import

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
            f"{what}: vertex {worst} at {points[worst].tolist()} lies far outside the solid: move the surface to "
            "where the solid's mesh is, or scale it."
        )
    return chosen, weights


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
