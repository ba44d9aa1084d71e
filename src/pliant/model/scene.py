"""What a user builds: bodies and what acts on them."""

from __future__ import annotations

from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TetMesh
from pliant.materials import Invertible, SolidLaw
from pliant.model import checks
from pliant.model.body import Body
from pliant.model.solid import Solid

AnyBody = TypeVar("AnyBody", bound=Body)
BODIES: dict[str, type[Body]] = {kind.kind: kind for kind in (Solid,)}


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
