"""What a user builds: bodies, how they are held, and gravity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import TetMesh
from pliant.materials import SolidLaw
from pliant.model import checks

FREE, PLANE, LINE, FIXED = 3, 2, 1, 0  # dimension of the space a vertex moves in

Motion = Callable[[float], ArrayLike]


@dataclass
class Body:
    """A solid in a scene. Vertices are numbered as in its mesh."""

    name: str
    mesh: TetMesh
    material: SolidLaw
    density: float  # [kg/m^3]
    damping: float  # k_d [s]
    initial_positions: np.ndarray  # (n, 3) [m]
    initial_velocities: np.ndarray  # (n, 3) [m/s]
    subspace: np.ndarray  # (n,) FREE, PLANE, LINE or FIXED
    directions: np.ndarray  # (n, 3) unit normal of the plane or direction of the line
    motions: list[tuple[np.ndarray, Motion]] = field(default_factory=list)
    _simulated: Callable[[], np.ndarray] | None = None

    @property
    def n_vertices(self) -> int:
        return self.mesh.n_vertices

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m]: in the simulation last built from the scene, or as they will be when it starts."""
        return self.initial_positions.copy() if self._simulated is None else self._simulated()

    def pin(self, vertices: ArrayLike) -> None:
        """Hold vertices (indices or mask) where they are when the simulation starts."""
        self._hold(vertices, FIXED, None, "pin")

    def move(self, vertices: ArrayLike, motion: Motion) -> None:
        """Lead vertices: motion(t) gives their positions (k, 3) [m] at time t [s]."""
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.move")
        if not callable(motion):
            raise SceneError(
                f"{self.name}.move: the motion is {motion!r}; give a function of the time [s] "
                "that returns positions [m]."
            )
        self._hold(chosen, FIXED, None, "move")
        self.motions.append((chosen, motion))

    def constrain_to_line(self, vertices: ArrayLike, direction: ArrayLike) -> None:
        """Let vertices move only along a direction, each on the line through its position."""
        unit = checks.unit_vector(direction, f"{self.name}.constrain_to_line: direction")
        self._hold(vertices, LINE, unit, "constrain_to_line")

    def constrain_to_plane(self, vertices: ArrayLike, normal: ArrayLike) -> None:
        """Let vertices move only across a normal, each in the plane through its position."""
        unit = checks.unit_vector(normal, f"{self.name}.constrain_to_plane: normal")
        self._hold(vertices, PLANE, unit, "constrain_to_plane")

    def set_positions(self, positions: ArrayLike) -> None:
        """Start from these positions (n, 3) [m]; the mesh stays the shape at rest."""
        self.initial_positions = checks.vectors(positions, self.n_vertices, f"{self.name}.set_positions", "m")

    def set_velocities(self, velocities: ArrayLike) -> None:
        """Start with these velocities (n, 3) or one for all (3,) [m/s]."""
        what = f"{self.name}.set_velocities"
        try:
            is_one = np.shape(velocities) == (3,)
        except ValueError:  # ragged: the check below says so
            is_one = False
        one = checks.vectors(velocities, None, what, "m/s") if is_one else None
        each = velocities if one is None else np.tile(one, (self.n_vertices, 1))
        self.initial_velocities = checks.vectors(each, self.n_vertices, what, "m/s")

    def _hold(self, vertices: ArrayLike, subspace: int, direction: np.ndarray | None, how: str) -> None:
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.{how}")
        moved = np.concatenate([v for v, _ in self.motions]) if self.motions else np.empty(0, np.int64)
        held = np.isin(chosen, moved) | (
            (self.subspace[chosen] != FREE) & ((self.subspace[chosen] != FIXED) | (how != "pin"))
        )
        if held.any():
            raise SceneError(
                f"{self.name}.{how}: vertex {int(chosen[held][0])} is already pinned, moved or constrained; "
                "hold a vertex in one way."
            )
        self.subspace[chosen] = subspace
        if direction is not None:
            self.directions[chosen] = direction


class Scene:
    """Bodies under gravity. Build it, then give it to a Simulation."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)):
        self.gravity = gravity
        self.bodies: list[Body] = []

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
        material: SolidLaw,
        density: float = 1000.0,
        damping: float = 0.0,
        name: str | None = None,
    ) -> Body:
        """Add a solid.

        density: [kg/m^3] of the shape at rest.
        damping: k_d [s] of the VBD paper's Equations 10 and 11.  Each vertex is braked by k_d times the elastic
            stiffness it feels when only itself moves, [N s/m].  As the paper's, it brakes rigid motion too;
            `docs/decisions/0003-damping.md` says how much.
        name: used in messages and files; solid0, solid1, ... if not given.
        """
        names = {body.name for body in self.bodies}
        if name is None:
            name = next(f"solid{k}" for k in count() if f"solid{k}" not in names)
        if name in names:
            raise SceneError(f"the scene already has a body named {name!r}; choose another name.")
        if not isinstance(mesh, TetMesh):
            raise SceneError(
                f"{name}: the mesh is a {type(mesh).__name__}; a solid needs a TetMesh "
                "(TriMesh.tetrahedralize makes one)."
            )
        if not isinstance(material, SolidLaw):
            raise SceneError(
                f"{name}: the material is {_shown(material)}; give a law of solids such as "
                "pl.StableNeoHookean.from_young(1e6, 0.45)."
            )
        n = mesh.n_vertices
        body = Body(
            name,
            mesh,
            material,
            checks.number(density, f"{name}: density", "kg/m^3", positive=True),
            checks.number(damping, f"{name}: damping", "s"),
            np.array(mesh.points),
            np.zeros((n, 3)),
            np.full(n, FREE, np.int8),
            np.zeros((n, 3)),
        )
        self.bodies.append(body)
        return body


def _shown(value: Any) -> str:
    return f"the class {value.__name__}, not an object of it" if isinstance(value, type) else repr(value)
