"""A solid: tets of one law."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elements import tet
from pliant.geometry import TetMesh
from pliant.materials import Invertible, SolidLaw
from pliant.model import checks
from pliant.model.blocks import Block, InvertibleSolids, Solids
from pliant.model.body import Body


class Solid(Body):
    """A solid in a scene. Vertices are numbered as in its mesh."""

    kind = "solid"

    def __init__(self, name: str, mesh: TetMesh, material: SolidLaw | Invertible, density: float, damping: float):
        checks.instance(mesh, TetMesh, f"{name}: the mesh", "a TetMesh (TriMesh.tetrahedralize makes one)")
        checks.law(material.law if isinstance(material, Invertible) else material, name)
        super().__init__(name, mesh.points, checks.number(damping, f"{name}: damping", "s"))
        self.mesh, self.material = mesh, material
        self.density = checks.number(density, f"{name}: density", "kg/m^3", positive=True)

    def blocks(self, first: int) -> list[Block]:
        gradients, volumes = tet.rest_data(self.mesh.points, self.mesh.tets)
        material, tets, m = self.material, self.mesh.tets + first, len(volumes)
        law = material.law if isinstance(material, Invertible) else material
        rest = (tets, type(law), gradients, volumes, np.tile(law.parameters, (m, 1)))
        if isinstance(material, Invertible):
            return [InvertibleSolids(*rest, np.tile(material.conversion, (m, 1)), np.zeros(m))]
        return [Solids(*rest)]

    def masses(self) -> np.ndarray:
        share = np.repeat(self.mesh.volumes * self.density / 4, 4)
        return np.bincount(self.mesh.tets.ravel(), share, minlength=self.n_vertices)

    def ingredients(self) -> dict[str, Any]:
        return {"mesh": self.mesh, "material": self.material, "density": self.density, "damping": self.damping}

    @property
    def surface(self) -> np.ndarray:
        return self.mesh.surface_triangles
