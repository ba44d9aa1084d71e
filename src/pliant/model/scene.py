"""What a user builds: bodies and what acts on them."""

from __future__ import annotations

from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TetMesh, TriMesh
from pliant.materials import Invertible, SolidLaw
from pliant.model import checks
from pliant.model.body import Body
from pliant.model.cloth import Cloth
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet

AnyBody = TypeVar("AnyBody", bound=Body)
BODIES: dict[str, type[Body]] = {kind.kind: kind for kind in (Solid, Cloth, SpringNet)}


class Scene:
    """Bodies under gravity. Build it, then give it to a Simulation."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.gravity = gravity
        self.bodies: list[Body] = []

    @property
    def solids(self) -> list[Solid]:
        """The bodies that are solids."""
        return [body for body in self.bodies if isinstance(body, Solid)]

    @property
    def gravity(self) -> np.ndarray:
        """(3,) [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = checks.vectors(value, None, "Scene: gravity", "m/s^2")

    def add_solid(
        self,
        mesh: TetMesh,
        material: SolidLaw | Invertible,
        density: float = 1000.0,
        damping: float = 0.0,
        name: str | None = None,
    ) -> Solid:
        """Add a solid.

        density: [kg/m^3] of the shape at rest.
        damping: k_d [s] of the VBD paper's Equations 10 and 11.  Each vertex is braked by k_d times the elastic
            stiffness it feels when only itself moves, [N s/m].  As the paper's, it brakes rigid motion too;
            `docs/decisions/0003-damping.md` says how much.
        name: used in messages and files; solid0, solid1, ... if not given.
        """
        return self.add(Solid(self._free_name(name, Solid), mesh, material, density, damping))

    def add_cloth(
        self,
        mesh: TriMesh,
        material: SolidLaw,
        density: float = 0.2,
        bending: float = 1e-5,
        damping: float = 0.0,
        bending_model: str | None = None,
        warp: float = 0.0,
        weft: float = 0.0,
        warp_direction: ArrayLike = (1.0, 0.0, 0.0),
        name: str | None = None,
    ) -> Cloth:
        """Add a sheet.

        material: any law of solids; its moduli are then those of a sheet, force a length [N/m]: those of a solid
            [Pa] times the thickness. The third stretch, across the sheet, is held at 1.
        density: [kg/m^2] of the sheet at rest.
        bending: stiffness k [N m], the rigidity of a plate: a strip of width b bent to the curvature c needs the
            moment k b c.
        bending_model: "quadratic" for sheets that are flat at rest, a constant form of the positions; "dihedral",
            the angle between triangles, for any rest shape; None: quadratic if the sheet is flat.
        warp, weft: stiffness [N/m] that threads add along `warp_direction` (laid into the sheet) and across it.
        damping: k_d [s] as for solids.
        """
        return self.add(
            Cloth(
                self._free_name(name, Cloth),
                mesh,
                material,
                density,
                bending,
                damping,
                bending_model,
                warp,
                weft,
                warp_direction,
            )
        )

    def add_springs(
        self,
        points: ArrayLike,
        edges: ArrayLike,
        stiffness: ArrayLike,
        mass: ArrayLike,
        damping: float = 0.0,
        lengths: ArrayLike | None = None,
        one_sided: bool = False,
        bending: float = 0.0,
        name: str | None = None,
    ) -> SpringNet:
        """Add points (n, 3) [m] joined by springs (m, 2).

        stiffness: [N/m], one number or one a spring; mass: [kg] of each vertex, one number or one each.
        lengths: at rest [m]; None: as the points lie.  one_sided: springs only pull, as ropes do.
        bending: stiffness [N m^2] of a rod against turning at vertices with two springs.
        damping: k_d [s] as for solids.
        """
        net = SpringNet(
            self._free_name(name, SpringNet), points, edges, stiffness, mass, damping, lengths, one_sided, bending
        )
        return self.add(net)

    def add(self, body: AnyBody) -> AnyBody:
        """Add a body that was made by itself."""
        self.bodies.append(body)
        return body

    def _free_name(self, name: str | None, kind: type[Body]) -> str:
        names = {body.name for body in self.bodies}
        if name is None:
            return next(f"{kind.kind}{k}" for k in count() if f"{kind.kind}{k}" not in names)
        if name in names:
            raise SceneError(f"the scene already has a body named {name!r}; choose another name.")
        return name
