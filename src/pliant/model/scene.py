"""What a user builds: bodies and what acts on them."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TetMesh
from pliant.materials import SolidLaw
from pliant.model import checks
from pliant.model.attachments import Attachment, make_attachment
from pliant.model.body import Body
from pliant.model.solid import Solid
from pliant.model.wind import Wind
from pliant.model.world_box import WorldBox


class Scene:
    """Bodies under gravity. Build it, then give it to a Simulation."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.gravity = gravity
        self.bodies: list[Body] = []
        self.attachments: list[Attachment] = []
        self._world_box: WorldBox | None = None
        self._wind: Wind | None = None

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

    @property
    def world_box(self) -> WorldBox | None:
        """The box all vertices are pushed back into; None: the world has no end."""
        return self._world_box

    @world_box.setter
    def world_box(self, value: WorldBox | None) -> None:
        if value is not None:
            checks.instance(value, WorldBox, "Scene: world_box", "pl.WorldBox(lower=..., upper=..., stiffness=...)")
        self._world_box = value

    @property
    def wind(self) -> Wind | None:
        """The moving air; None: no air."""
        return self._wind

    @wind.setter
    def wind(self, value: Wind | None) -> None:
        if value is not None:
            checks.instance(value, Wind, "Scene: wind", "pl.Wind(velocity=(5, 0, 0))")
        self._wind = value

    def add_solid(
        self,
        mesh: TetMesh,
        material: SolidLaw,
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
        body = Solid(self._free_name(name, Solid.kind), mesh, material, density, damping)
        self.bodies.append(body)
        return body

    def attach(
        self,
        body_a: Body,
        vertices_a: ArrayLike,
        body_b: Body,
        vertices_b: ArrayLike,
        stiffness: float,
        weights_a: ArrayLike | None = None,
        weights_b: ArrayLike | None = None,
    ) -> Attachment:
        """Link k points of one body with k points of another, or of itself, by springs of rest length zero.

        vertices_a, vertices_b: (k,) vertices, or (k, 2), (k, 3) or (k, 4) the corners of edges, faces or tets that
            points lie on, with weights (k, 2|3|4) of sum 1 (a negative one puts the point outside).
        stiffness: [N/m] of each link; a link d long holds stiffness/2 d^2.
        """
        for body in (body_a, body_b):
            if not any(body is own for own in self.bodies):
                raise SceneError(f"attach: {getattr(body, 'name', body)!r} is not a body of this scene; add it first.")
        link = make_attachment(body_a, vertices_a, body_b, vertices_b, stiffness, weights_a, weights_b)
        self.attachments.append(link)
        return link

    def _free_name(self, name: str | None, kind: str) -> str:
        names = {body.name for body in self.bodies}
        if name is None:
            return next(f"{kind}{k}" for k in count() if f"{kind}{k}" not in names)
        if name in names:
            raise SceneError(f"the scene already has a body named {name!r}; choose another name.")
        return name
