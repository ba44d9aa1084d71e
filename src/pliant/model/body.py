"""What a scene is made of: bodies, how they start and how they are held."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.forces import Force

FREE, PLANE, LINE, FIXED = 3, 2, 1, 0  # dimension of the space a vertex moves in

Motion = Callable[[float], ArrayLike]


class Body(ABC):
    """Something in a scene that has vertices. A kind of body adds what it is made of."""

    kind: ClassVar[str]  # in names and files

    def __init__(self, name: str, points: np.ndarray, damping: float):
        n = len(points)
        self.name = name
        self.damping = damping  # k_d [s]
        self.initial_positions = np.array(points)  # (n, 3) [m]
        self.initial_velocities = np.zeros((n, 3))  # [m/s]
        self.subspace = np.full(n, FREE, np.int8)  # (n,) FREE, PLANE, LINE or FIXED
        self.directions = np.zeros((n, 3))  # unit normal of the plane or direction of the line
        self.motions: list[tuple[np.ndarray, Motion]] = []
        self.forces: list[Force] = []
        self._gravity: np.ndarray | None = None
        self._air_damping = 0.0
        self._simulated: Callable[[], np.ndarray] | None = None

    @abstractmethod
    def blocks(self, first: int) -> list[Block]:
        """Its elements; `first` is the scene's number of its vertex 0."""

    @abstractmethod
    def masses(self) -> np.ndarray:
        """(n,) [kg]."""

    @abstractmethod
    def ingredients(self) -> dict[str, Any]:
        """What its class takes beside the name, so that a file can keep it: meshes, laws, arrays, numbers and words."""

    @property
    def surface(self) -> np.ndarray:
        """(k, 3) triangles of its surface, outward where there is an outside."""
        return np.empty((0, 3), np.int64)

    @property
    def n_vertices(self) -> int:
        return len(self.subspace)

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m]: in the simulation last built from the scene, or as they will be when it starts."""
        return self.initial_positions.copy() if self._simulated is None else self._simulated()

    @property
    def gravity(self) -> np.ndarray | None:
        """(3,) [m/s^2] of this body; None: the scene's."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike | None) -> None:
        self._gravity = None if value is None else checks.vectors(value, None, f"{self.name}: gravity", "m/s^2")

    @property
    def air_damping(self) -> float:
        """c [1/s]: the air brakes a vertex of mass m by c m v (Wang and Yang, Equation 20), so that a falling body
        reaches the speed g / c.

        Deviation: the paper's coefficient is one number a vertex [kg/s]; in proportion to the mass it does not depend
        on the mesh.
        """
        return self._air_damping

    @air_damping.setter
    def air_damping(self, value: float) -> None:
        self._air_damping = checks.number(value, f"{self.name}: air_damping", "1/s")

    def add_force(self, force: Force) -> None:
        """Let force(positions (n, 3) [m], velocities (n, 3) [m/s], time [s]) give forces (n, 3) [N] on its vertices.

        It is called once a step, with the state at its start.
        """
        if not callable(force):
            raise SceneError(
                f"{self.name}.add_force: the force is {force!r}; give a function of positions, velocities and time "
                "that returns forces [N]."
            )
        self.forces.append(force)

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
