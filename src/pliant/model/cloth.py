"""A sheet: triangles of one law that also bend, and may be stiffer along warp and weft."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import is_one_of
from pliant.elements import fibre, hinge, triangle
from pliant.elements.fan_weights import fan_weights
from pliant.elements.fold_fan import fold_fan_block
from pliant.elements.fold_pair import fold_pair_block
from pliant.elements.joint import StrainLimits, edge_limits
from pliant.elements.quadratic_bending import bending_heights, bending_pairs, bending_squares, plate_curvatures
from pliant.errors import SceneError
from pliant.geometry import TriMesh, fold_fans, hinges
from pliant.materials import SolidLaw, varying_law
from pliant.materials.plane_stress import law_of_sheet
from pliant.model import checks
from pliant.model.blocks import Block, CurvedSquares, Fibres, Hinges, Pairs, PlateSquares, RestHeights, Sheets
from pliant.model.body import STRAIN_RATE, Body
from pliant.model.pressure import Inflated

BENDING_MODELS = ("quadratic", "coupled", "dihedral")
FLAT = 1e-6  # [rad] a sheet whose hinges are all flatter than this at rest is flat


class Cloth(Body):
    """A sheet in a scene. Vertices are numbered as in its mesh."""

    kind = "cloth"
    element_names = ("triangle", "triangles")

    def __init__(
        self,
        name: str,
        mesh: TriMesh,
        material: SolidLaw | Sequence[SolidLaw],
        density: float,
        bending: float,
        damping: float,
        bending_model: str | None,
        warp: float,
        weft: float,
        warp_direction: ArrayLike,
        tear_at: float | None = None,
        damping_form: str = STRAIN_RATE,
        strain_limit: float | None = None,
    ):
        checks.instance(mesh, TriMesh, f"{name}: the mesh", "a TriMesh such as pl.shapes.cloth()")
        if isinstance(material, Sequence) and not isinstance(material, str):
            material = varying_law([law_of_sheet(law) for law in material])
        checks.law(material, name, len(mesh.triangles), "triangles")
        super().__init__(name, mesh.points, damping, damping_form)
        self.mesh = mesh
        self.material: SolidLaw = law_of_sheet(material)
        self.density = checks.number(density, f"{name}: density", "kg/m^2", positive=True)
        self.bending = checks.number(bending, f"{name}: bending", "N m")
        self.warp = checks.number(warp, f"{name}: warp", "N/m")
        self.weft = checks.number(weft, f"{name}: weft", "N/m")
        self.warp_direction = checks.unit_vector(warp_direction, f"{name}: warp_direction")
        self.tear_at = checks.tear_limit(tear_at, f"{name}: tear_at")
        self.strain_limit = checks.strain_limit(strain_limit, self.tear_at, f"{name}: strain_limit")
        self._hinges = hinges(mesh.triangles, mesh.n_vertices)
        self._angles = hinge.rest_data(mesh.points, self._hinges)[0]
        self.bending_model = self._choose_model(bending_model)
        self.given_bending_model = bending_model

    def _choose_model(self, asked: str | None) -> str:
        """As asked, or the quadratic form."""
        if asked is not None and not is_one_of(asked, BENDING_MODELS):
            raise SceneError(
                f"{self.name}: bending_model is {asked!r}: give 'quadratic', 'coupled', 'dihedral' or None."
            )
        return asked or "quadratic"

    def with_angles(self) -> Cloth:
        """Itself, or where bending_model was left out, the same sheet with bending that is one of angles."""
        if self.bending_model != "quadratic" or self.given_bending_model is not None:
            return self
        other = copy(self)
        other.bending_model = "coupled"
        return other

    @property
    def _is_flat(self) -> bool:
        """At rest."""
        return bool(np.all(np.abs(self._angles) < FLAT))

    def blocks(self, first: int) -> list[Block]:
        points, triangles = self.mesh.points, self.mesh.triangles
        gradients, areas, _ = triangle.rest_data(points, triangles)
        parameters = self.material.of_elements(len(areas))
        blocks: list[Block] = [Sheets(triangles + first, type(self.material), gradients, areas, parameters)]
        blocks += [
            Fibres(triangles + first, fibre.rest_data(points, triangles, direction), stiffness * areas)
            for direction, stiffness in self._yarns()
        ]
        if self.bending > 0:
            blocks += self._bending_blocks(first)
        if self.strain_limit is not None:
            edges = self.mesh.edges
            lengths = (1 + self.strain_limit) * np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
            limits = edge_limits(StrainLimits, edges, lengths, self.masses, 0.0)
            blocks.append(replace(limits, elements=edges + first))
        return blocks

    def _yarns(self) -> list[tuple[np.ndarray, float]]:
        """Directions (3,) or (m, 3) and stiffness [N/m] of warp and weft, where they add any."""
        corner = self.mesh.points[self.mesh.triangles]
        normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        yarns = [(self.warp_direction, self.warp), (np.cross(normals, self.warp_direction), self.weft)]
        return [(direction, stiffness) for direction, stiffness in yarns if stiffness > 0]

    def _bending_blocks(self, first: int) -> list[Block]:
        if self.bending_model == "dihedral":
            return [self._hinge_block(first)]
        blocks = self._quadratic_blocks() if self.bending_model == "quadratic" else self._fold_blocks()
        return [replace(block, elements=block.elements + first) for block in blocks]

    def _quadratic_blocks(self) -> list[Block]:
        """One form of the positions and, where the sheet is curved at rest, heights of vertices above triangles; of a
        sheet that tears, squares triangle by triangle.
        """
        points, triangles = self.mesh.points, self.mesh.triangles
        if self.tears:
            return [bending_squares(points, triangles, self.bending, self._is_flat)]
        plate = plate_curvatures(points, triangles)
        pairs = Pairs(*bending_pairs(plate, self.bending))
        return [pairs] if self._is_flat else [pairs, bending_heights(points, triangles, plate, self.bending)]

    def _fold_blocks(self) -> list[Block]:
        """Angles of single folds, pairs of folds and fans of three."""
        points, triangles, k = self.mesh.points, self.mesh.triangles, self.bending
        folds = fold_fans(points, triangles)
        pairs, fans = triangles.ravel()[folds.pair_corners[:, :5]], triangles.ravel()[folds.fan_corners[:, :6]]
        weights = fan_weights(points, triangles, self._hinges, folds)
        blocks = [fold_pair_block(points, pairs, weights.pairs, k), fold_fan_block(points, fans, weights.fans, k)]
        return [
            Hinges(self._hinges, self._angles, k * weights.own),
            *(block for block in blocks if len(block.elements)),
        ]

    def _hinge_block(self, first: int) -> Hinges:
        angles, weights = hinge.rest_data(self.mesh.points, self._hinges)
        return Hinges(self._hinges + first, angles, self.bending * weights)

    def damped_blocks(self, first: int) -> list[Block]:
        """Quadratic bending sees no rotation of a bent sheet as one: the angles of its folds are damped instead."""
        blocks = super().damped_blocks(first)
        quadratic = (Pairs, RestHeights, PlateSquares, CurvedSquares)
        others = [block for block in blocks if not isinstance(block, quadratic)]
        return others if len(others) == len(blocks) else [*others, self._hinge_block(first)]

    def neighbours(self, vertices: np.ndarray) -> np.ndarray:
        """Numbers of the vertices that share a triangle with `vertices` (k,), indices."""
        touching = np.isin(self.mesh.triangles, vertices).any(axis=1)
        return np.unique(self.mesh.triangles[touching])

    @property
    def masses(self) -> np.ndarray:
        share = np.repeat(self.mesh.areas * self.density / 3, 3)
        return np.bincount(self.mesh.triangles.ravel(), share, minlength=self.n_vertices)

    @property
    def n_elements(self) -> int:
        return len(self.mesh.triangles)

    def ingredients(self) -> dict[str, Any]:
        names = ("mesh", "material", "density", "bending", "damping", "warp", "weft", "warp_direction", "tear_at")
        own = {name: getattr(self, name) for name in (*names, "damping_form", "strain_limit")}
        return {**own, "bending_model": self.given_bending_model}

    @property
    def tears(self) -> bool:
        return self.tear_at is not None

    def inflated(self) -> list[Inflated]:
        surfaces = super().inflated()
        if surfaces and self.tears:
            raise SceneError(
                f"{self.name}: a torn sheet encloses nothing: set pressure to 0, volume to None or tear_at to None."
            )
        return surfaces

    @property
    def triangles(self) -> np.ndarray:
        """(k, 3) triangles that are left, as indices of rows of `positions`: in the simulation last built from the
        scene, or as they will be when it starts.
        """
        return self.mesh.triangles.copy() if self._elements is None else self._elements()

    @property
    def surface(self) -> np.ndarray:
        return self.mesh.triangles
