"""A solid: tets of one law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from pliant.arguments import is_one_of
from pliant.elements import tet
from pliant.elements.invertible_patch import invertible_patch_blocks
from pliant.elements.patch import patch_blocks
from pliant.elements.patch_measure import CORNERS
from pliant.errors import SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.geometry.cavities import outside_and_cavities
from pliant.geometry.patches import patches_of_tets
from pliant.materials import Invertible, SolidLaw, varying_law
from pliant.model import checks
from pliant.model.blocks import Block, Dampers, InvertibleSolids, PatchTets, Solids
from pliant.model.body import STRAIN_RATE, Body
from pliant.model.embedded import EmbeddedMesh
from pliant.model.pressure import Inflated, Pressure, checked_pressure, inflated_surfaces, is_present
from pliant.model.volume import Volume, checked_volume

LINEAR, PATCH = ELEMENTS = ("linear", "patch")


class Solid(Body):
    """A solid in a scene. Vertices are numbered as in its mesh."""

    kind = "solid"
    element_names = ("tet", "tets")
    settings = (*Body.settings, "cavity_pressure", "cavity_volume", "viscosity")
    has_inside = True

    def __init__(
        self,
        name: str,
        mesh: TetMesh,
        material: SolidLaw | Invertible | Sequence[SolidLaw],
        density: float,
        damping: float,
        damping_form: str = STRAIN_RATE,
        element: str = LINEAR,
    ):
        checks.instance(mesh, TetMesh, f"{name}: the mesh", "a TetMesh (TriMesh.tetrahedralize makes one)")
        if isinstance(material, Sequence) and not isinstance(material, str):
            material = varying_law(material)
        checks.law(material.law if isinstance(material, Invertible) else material, name, len(mesh.tets), "tets")
        super().__init__(name, mesh.points, damping, damping_form)
        self.mesh, self.material = mesh, material
        if not is_one_of(element, ELEMENTS):
            raise SceneError(f"{name}: element is {element!r}: choose one of {', '.join(map(repr, ELEMENTS))}.")
        self.element = element
        self.skins: list[EmbeddedMesh] = []  # drawn in place of its own surface
        self.density = checks.number(density, f"{name}: density", "kg/m^3", positive=True)
        self._viscosity = 0.0
        self._cavity_pressure: Pressure = 0.0
        self._cavity_volume: Volume | None = None

    @property
    def surface(self) -> np.ndarray:
        return self.mesh.surface_triangles

    @property
    def tets(self) -> np.ndarray:
        """(k, 4) vertex indices of the tets that are left: in the simulation last built from the scene, or as they will
        be when it starts.
        """
        return self.mesh.tets.copy() if self._elements is None else self._elements()

    @property
    def cavity_pressure(self) -> Pressure:
        """p [Pa], or a function of the time [s] that gives it: the pressure in the solid's cavities, which pushes
        their walls apart. `pressure` acts on the outer surface alone.
        """
        return self._cavity_pressure

    @cavity_pressure.setter
    def cavity_pressure(self, value: Pressure) -> None:
        self._cavity_pressure = checked_pressure(value, f"{self.name}: cavity_pressure")

    @property
    def cavity_volume(self) -> Volume | None:
        """V [m^3], or a function of the time [s] that gives it: the volume that the solid's cavities are to have,
        whatever pressure that needs. None: not prescribed. `volume` is that within the outer surface.
        """
        return self._cavity_volume

    @cavity_volume.setter
    def cavity_volume(self, value: Volume | None) -> None:
        self._cavity_volume = checked_volume(value, f"{self.name}: cavity_volume")

    def inflated(self) -> list[Inflated]:
        has_outer = is_present(self.pressure) or self.volume is not None
        has_inner = is_present(self.cavity_pressure) or self.cavity_volume is not None
        if not has_outer and not has_inner:
            return []
        outside, cavities = outside_and_cavities(self.mesh.points, self.surface)
        if has_inner and len(cavities) == 0:
            what = "cavity_pressure" if self.cavity_volume is None else "cavity_volume"
            raise SceneError(f"{self.name}: it has no cavity that could hold {what}; leave it out.")
        given = (
            ("", outside, self.pressure, self.volume),
            ("cavity_", cavities, self.cavity_pressure, self.cavity_volume),
        )
        return inflated_surfaces(self.name, given)

    @property
    def viscosity(self) -> float:
        """eta [Pa s]: a viscous stress eta grad v, v the velocity (Wang and Yang, after Equation 20).

        Neighbours damp each other, so it does not act on translation. The weights are constant, those of eta times
        the Laplacian of the shape at rest; unlike a fluid's symmetric stress it damps rotation, by 2 eta omega^2 [W]
        for each cubic metre that turns with omega [1/s].
        """
        return self._viscosity

    @viscosity.setter
    def viscosity(self, value: float) -> None:
        self._viscosity = checks.number(value, f"{self.name}: viscosity", "Pa s")

    def embed(self, mesh: TriMesh) -> EmbeddedMesh:
        """A surface [m], placed as the solid's mesh is at rest, that moves with the tets: its `positions` and `normals`
        are those of the simulation last built from the scene. Results, pictures and the viewer show it in place of the
        solid's own surface, but for results with volume=True. Several surfaces are shown together.
        """
        skin = EmbeddedMesh(self, mesh)
        self.skins.append(skin)
        return skin

    def blocks(self, first: int) -> list[Block]:
        gradients, volumes = tet.rest_data(self.mesh.points, self.mesh.tets)
        material, tets, m = self.material, self.mesh.tets + first, len(volumes)
        law = material.law if isinstance(material, Invertible) else material
        rest = (tets, type(law), gradients, volumes, law.of_elements(m))
        patch = patches_of_tets(self.mesh.tets, CORNERS) if self.element == PATCH else None
        blocks: list[Block]
        if isinstance(material, Invertible):
            conversion = material.of_elements(m)
            if patch is None:
                blocks = [InvertibleSolids(*rest, conversion, np.zeros(m))]
            else:
                blocks = [*invertible_patch_blocks(Solids(*rest), patch, conversion)]
        else:
            blocks = [Solids(*rest)] if patch is None else [*patch_blocks(Solids(*rest), patch)]
        if self.viscosity > 0:
            blocks.append(_dampers(tets, gradients, self.viscosity * volumes))
        return blocks

    def damped_blocks(self, first: int) -> list[Block]:
        """Tets, each by itself; those of patches with their own law, whose volume term is reduced."""
        stored = super().damped_blocks(first)
        if self.element != PATCH:
            return stored
        return [replace(b, volumes=self.mesh.volumes) for b in stored if isinstance(b, PatchTets)]

    @property
    def masses(self) -> np.ndarray:
        share = np.repeat(self.mesh.volumes * self.density / 4, 4)
        return np.bincount(self.mesh.tets.ravel(), share, minlength=self.n_vertices)

    @property
    def n_elements(self) -> int:
        return len(self.mesh.tets)

    def ingredients(self) -> dict[str, Any]:
        names = ("mesh", "material", "density", "damping", "damping_form", "element")
        return {name: getattr(self, name) for name in names}


def _dampers(tets: np.ndarray, gradients: np.ndarray, stiffness: np.ndarray) -> Dampers:
    """c_ij = -eta V b_i . b_j [N s/m] of each edge, summed over its tets; stiffness: (m,) eta V [Pa s m^3]."""
    corners = list(combinations(range(4), 2))
    pairs = np.sort(np.concatenate([tets[:, corner] for corner in corners]), axis=1)
    products = [-stiffness * np.einsum("ma,ma->m", gradients[:, i], gradients[:, j]) for i, j in corners]
    edges, edge_of_pair = np.unique(pairs, axis=0, return_inverse=True)
    return Dampers(edges, np.bincount(edge_of_pair.ravel(), np.concatenate(products), minlength=len(edges)))
