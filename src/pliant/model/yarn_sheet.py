"""A sheet of homogenised yarn-level cloth: one energy per triangle, of stretch, shear and bending together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER
from pliant.elements import hinge
from pliant.elements.yarn_triangle import YarnTriangles, rest_gradients, wings
from pliant.errors import SceneError
from pliant.geometry import TriMesh, hinges
from pliant.materials import YarnCloth
from pliant.model import checks
from pliant.model.blocks import Block, Hinges
from pliant.model.body import STRAIN_RATE, Body
from pliant.model.cloth import Cloth

LEAST_WARP = 1e-6  # of the warp's length that must lie in a triangle


class YarnSheet(Cloth):
    """A yarn cloth in a scene. Vertices are numbered as in its mesh."""

    kind = "yarn_cloth"
    material: YarnCloth  # type: ignore[assignment]

    def __init__(
        self,
        name: str,
        mesh: TriMesh,
        material: YarnCloth,
        density: float | None,
        damping: float,
        warp: ArrayLike | str | None = None,
        damping_form: str = STRAIN_RATE,
    ):
        checks.instance(mesh, TriMesh, f"{name}: the mesh", "a TriMesh such as pl.shapes.cloth()")
        checks.instance(material, YarnCloth, f"{name}: the material", 'pl.YarnCloth("material.json")')
        Body.__init__(self, name, mesh.points, damping, damping_form)
        self.mesh, self.material = mesh, material
        given = material.density if density is None else density
        self.density = checks.number(given, f"{name}: density", "kg/m^2", positive=True)
        self.warp_field = _warp_field(name, mesh, warp)
        self.tear_at = None
        self.bending, self.bending_model = 0.0, "dihedral"  # bending is the material's
        self._hinges = _checked_hinges(name, mesh)

    def blocks(self, first: int) -> list[Block]:
        points, triangles = self.mesh.points, self.mesh.triangles
        across, present = wings(triangles)
        gradients = rest_gradients(points, triangles, self.warp_field)
        elements = np.concatenate([triangles, across], axis=1) + first
        return [YarnTriangles(elements, self.material, gradients, self.mesh.areas, present.astype(float))]

    def damped_blocks(self, first: int) -> list[Block]:
        """Strains in the plane by the moduli at rest, and the angles of folds by the bending stiffness at rest."""
        angles, weights = hinge.rest_data(self.mesh.points, self._hinges)
        _, _, bending = self.material.rest_moduli
        return [*self.blocks(first), Hinges(self._hinges + first, angles, bending * weights)]

    def ingredients(self) -> dict[str, Any]:
        names = ("mesh", "material", "density", "damping", "damping_form")
        return {**{name: getattr(self, name) for name in names}, "warp": self.warp_field}

    @property
    def triangles(self) -> np.ndarray:
        """(m, 3) triangles, as rows of `positions`."""
        return self.mesh.triangles.copy()


def check_yarn_options(
    name: str, bending: float, bending_model: str | None, weft: float, direction: ArrayLike, tear_at: float | None,
    strain_limit: float | None = None,
) -> None:  # fmt: skip
    """What other cloth has and yarn cloth does not must be as it is by default."""
    given: dict[str, Any] = {"bending": bending, "bending_model": bending_model, "weft": weft, "tear_at": tear_at}
    usual: dict[str, Any] = {"bending": 1e-5, "bending_model": None, "weft": 0.0, "tear_at": None}
    given["strain_limit"], usual["strain_limit"] = strain_limit, None
    given["warp_direction"], usual["warp_direction"] = np.asarray(direction).tolist(), [1.0, 0.0, 0.0]
    for key, value in given.items():
        if value != usual[key]:
            raise SceneError(f"{name}: {key} is {value!r}, but a yarn cloth has none of its own; leave it out.")


def _warp_field(name: str, mesh: TriMesh, warp: ArrayLike | str | None) -> np.ndarray:
    """Directions of the warp (m, 3), checked: each has a part in its triangle."""
    m, what = len(mesh.triangles), f"{name}: warp"
    if isinstance(warp, str):
        raise SceneError(f"{what} is {warp!r}: give a vector (3,) or one per triangle ({m}, 3).")
    try:
        field = np.asarray((1.0, 0.0, 0.0) if warp is None else warp, dtype=float)
    except NO_NUMBER:
        field = np.empty(0)
    if field.shape not in ((3,), (m, 3)) or not np.isfinite(field).all():
        raise SceneError(f"{what}: give a finite vector (3,) or one per triangle ({m}, 3), not shape {field.shape}.")
    field = np.broadcast_to(field, (m, 3)).copy()
    length = np.linalg.norm(field, axis=1)
    zero = np.flatnonzero(length == 0)
    if zero.size:
        raise SceneError(f"{what} is zero in triangle {zero[0]}: give a vector with a direction.")
    corner = mesh.points[mesh.triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    inside = np.linalg.norm(np.cross(field, normal), axis=1) / (length * np.linalg.norm(normal, axis=1))
    across = np.flatnonzero(inside < LEAST_WARP)
    if across.size:
        k = int(across[0])
        raise SceneError(
            f"{what} {field[k].tolist()} is across triangle {k}: give a direction that lies in the sheet there, or one "
            f"per triangle ({m}, 3)."
        )
    return field


def _checked_hinges(name: str, mesh: TriMesh) -> np.ndarray:
    """Folds of the sheet (k, 4), if every two triangles at an edge lie side by side."""
    triangles, n = mesh.triangles, mesh.n_vertices
    starts, ends = triangles[:, [1, 2, 0]].ravel(), triangles[:, [2, 0, 1]].ravel()
    undirected = np.minimum(starts, ends) * n + np.maximum(starts, ends)
    _, inverse, counts = np.unique(undirected, return_inverse=True, return_counts=True)
    shared = counts[inverse.ravel()]
    _, present = wings(triangles)
    bad = np.flatnonzero((shared > 1) & ~present.ravel())
    if bad.size:
        k = int(bad[0])
        why = f"belongs to {shared[k]} triangles" if shared[k] > 2 else "joins two triangles that face opposite sides"
        raise SceneError(
            f"{name}: the edge [{starts[k]}, {ends[k]}] {why}: yarn cloth bends between two triangles of one "
            "orientation. Orient the mesh alike, or cut it there."
        )
    return hinges(triangles, n)
