"""What a scene has for clothes: garments of panels, seams and elastic bands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry.garment import Garment
from pliant.materials import SolidLaw, YarnCloth
from pliant.model import checks
from pliant.model.body import Body
from pliant.model.cloth import Cloth
from pliant.model.seams import Band, Seam, make_band, make_seam


class AddingGarments(ABC):
    """A part of Scene."""

    bodies: list[Body]
    seams: list[Seam]
    bands: list[Band]

    @abstractmethod
    def add_cloth(self, mesh: Any, material: Any, *options: Any, **named: Any) -> Cloth:
        """Add a sheet."""

    def add_garment(
        self,
        garment: Garment,
        material: SolidLaw | YarnCloth,
        seam_seconds: float = 0.0,
        seam_stiffness: float | None = None,
        **options: Any,
    ) -> Cloth:
        """Add panels as one sheet, flat at rest and put on where the garment says, sewn along the garment's seams.

        material: as of add_cloth. The warp runs along u: the x axis of the garment's mesh.
        seam_seconds, seam_stiffness: as of add_seam. options: as of add_cloth.
        """
        checks.instance(garment, Garment, "add_garment: the garment", 'pl.load_garment("vest.obj")')
        body = self.add_cloth(garment.mesh, material, **options)
        body.set_positions(garment.positions)
        for chain_a, chain_b in garment.seams:
            self.add_seam(body, chain_a, body, chain_b, seam_stiffness, seam_seconds, align=False)
        return body

    def add_seam(
        self,
        body_a: Cloth,
        chain_a: ArrayLike,
        body_b: Cloth,
        chain_b: ArrayLike,
        stiffness: float | None = None,
        seconds: float = 0.5,
        align: bool = True,
    ) -> Seam:
        """Sew two chains of edges together, of two sheets or of one.

        chain_a, chain_b: vertices in the order in which edges join them; a loop ends with the vertex it begins with, as
            those of mesh.boundary_loops() do. Points at equal parts of both lengths at rest are sewn together, so the
            numbers of vertices and the lengths may differ.
        stiffness: [N/m^2], force per length of the seam and per gap; None: ten times as stiff as an edge of the sheet.
        seconds: the gaps that the scene starts with close in this time, at constant speed; 0: they pull at once.
            In a scene with contact, seams that close by more than an edge per step are refused.
        align: let the second chain run, and a loop begin, so that the gaps are least; False: as given.
        """
        self._check_own("add_seam", body_a, body_b)
        seam = make_seam(body_a, chain_a, body_b, chain_b, stiffness, seconds, align)
        self.seams.append(seam)
        return seam

    def add_band(
        self, body: Cloth, chain: ArrayLike, ratio: float = 0.8, stiffness: float = 10.0, seconds: float = 0.5
    ) -> Band:
        """Sew an elastic band along a chain of edges of a sheet, such as a waist: it only pulls.

        chain: as of add_seam. ratio: its length at rest over that of the chain. stiffness: [N], its force when it is
        stretched to twice its length. seconds: in which it shrinks from the chain's length to its own.
        """
        self._check_own("add_band", body)
        band = make_band(body, chain, ratio, stiffness, seconds)
        self.bands.append(band)
        return band

    def _check_own(self, what: str, *bodies: Body) -> None:
        for body in bodies:
            if not any(body is own for own in self.bodies):
                raise SceneError(f"{what}: {getattr(body, 'name', body)!r} is not a body of this scene; add it first.")
