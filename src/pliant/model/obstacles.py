"""Obstacles: analytic shapes and triangle meshes that bodies run into, at rest or moved by a function of time.

motion(t) gives a translation (3,) [m] and a rotation matrix (3, 3), applied to the obstacle where it was made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.geometry.mesh import TriMesh
from pliant.model import checks

ObstacleMotion = Callable[[float], tuple[ArrayLike, ArrayLike]]
ContactLoad = Callable[[], tuple[np.ndarray, np.ndarray]]  # net force (3,) [N] and torque (3,) [N m] of contacts

PLANE, SPHERE, BOX, CAPSULE, CYLINDER, CONTAINER, MESH = range(7)
KIND_NAMES = ("plane", "sphere", "box", "capsule", "cylinder", "container", "mesh")
# a shape's row of numbers: translation (3), rotation (9, row by row: local to world), sizes (3), friction; the sizes of
# a mesh are the address of its grid's table and the time that it is of
SIZES, TIME, FRICTION, ROW_LENGTH = 12, 13, 15, 16


class Placeable:
    """What a running simulation can be told to move between two steps."""

    _placement: Any = None  # in the simulation last built from the scene

    @property
    def position(self) -> np.ndarray:
        """(3,) [m]: of its centre now (a plane's point, a capsule's middle, the mean of a mesh's vertices), in the
        simulation last built from the scene.
        """
        return self._placed_in_simulation("position").pose()[0].copy()

    @property
    def orientation(self) -> np.ndarray:
        """(4,) unit quaternion (w, x, y, z): how it is turned now, away from how it was made."""
        return rotations.from_matrix(self._placed_in_simulation("orientation").pose()[1])

    def set_pose(
        self, position: ArrayLike | None = None, orientation: ArrayLike | None = None, seconds: float | None = None
    ) -> None:
        """Move it at a constant velocity to a pose, where it then stays. What it touches feels this velocity. The
        command replaces its `motion` until `sim.reset()`.

        position: (3,) [m] of its centre, as the property `position` gives it; None: unchanged.
        orientation: quaternion (w, x, y, z) or matrix (3, 3), as the property `orientation`; None: unchanged.
        seconds: how long it takes [s]; 0: one step. None: the next call, a frame of `sim.advance()` or a step of
        `sim.step()`.
        """
        self._placed_in_simulation("set_pose").set_pose(position, orientation, seconds)

    def set_velocity(
        self, velocity: ArrayLike = (0.0, 0.0, 0.0), angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        """Move it from where it is at a velocity (3,) [m/s] of its centre and an angular velocity (3,) [rad/s], until
        the next command. This replaces its `motion` until `sim.reset()`.
        """
        self._placed_in_simulation("set_velocity").set_velocity(velocity, angular_velocity)

    def _placed_in_simulation(self, what: str) -> Any:
        """Its place in the simulation last built from the scene."""
        if self._placement is None:
            raise SceneError(
                f"{type(self).__name__}.{what}: no simulation has been built from its scene; build the Simulation "
                "first, or say where it is when you add it."
            )
        return self._placement


@dataclass(frozen=True, eq=False)
class Obstacle(Placeable):
    """What all obstacles have: a friction coefficient and, if it moves, a motion."""

    friction: float = field(default=0.0, kw_only=True)
    motion: ObstacleMotion | None = field(default=None, kw_only=True)
    _contact_load: ClassVar[Any] = None  # ContactLoad

    def __post_init__(self) -> None:
        checks.number(self.friction, f"{type(self).__name__}: friction", "1")

    def watch(self, contact_load: ContactLoad, placement: Any) -> None:
        """Take `contact_force`, `contact_torque` and where it is from a simulation."""
        object.__setattr__(self, "_contact_load", contact_load)
        object.__setattr__(self, "_placement", placement)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles keep: not the simulation."""
        return {name: value for name, value in vars(self).items() if name not in ("_contact_load", "_placement")}

    @property
    def contact_force(self) -> np.ndarray:
        """(3,) [N]: net force of all contacts on it in the last step of the simulation last built from the scene."""
        return np.zeros(3) if self._contact_load is None else self._contact_load()[0].copy()

    @property
    def contact_torque(self) -> np.ndarray:
        """(3,) [N m]: net torque of all contacts on it in the last step, about its position."""
        return np.zeros(3) if self._contact_load is None else self._contact_load()[1].copy()

    def pose(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Translation (3,) and rotation (3, 3) at a time [s], checked: the function is the user's."""
        if self.motion is None:
            return np.zeros(3), np.eye(3)
        return checked_pose(self.motion, time, type(self).__name__)

    def _check_position(self, name: str) -> np.ndarray:
        """A field as a vector (3,) [m], put back in place of what was given."""
        value = checks.vectors(getattr(self, name), None, f"{type(self).__name__}: {name}", "m")
        object.__setattr__(self, name, value)
        return value

    def _check_length(self, name: str) -> None:
        checks.number(getattr(self, name), f"{type(self).__name__}: {name}", "m", positive=True)

    def _check_size(self) -> None:
        size = self._check_position("size")
        if (size <= 0).any():
            raise SceneError(f"{type(self).__name__}: size is {size.tolist()}: give three positive lengths [m].")


@dataclass(frozen=True, eq=False)
class Shape(Obstacle, ABC):
    """An obstacle with a formula: what `Scene.add_plane`, `add_box`, `add_sphere` and the like return."""

    kind: ClassVar[int]

    @abstractmethod
    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        """Position (3,) and rotation (3, 3) of the shape's own axes where it was made."""

    @abstractmethod
    def sizes(self, time: float = 0.0) -> tuple[float, float, float]:
        """The shape's lengths [m] at a `time` [s]."""

    def deformed(self, points: np.ndarray, time: float) -> np.ndarray:
        """Points (n, 3) [m] of its surface, in its own axes, at a time [s]."""
        return points

    def held(self, time: float) -> object:
        """What must stay alive as long as the numbers of that time [s] are used."""
        return None

    def row(self, time: float) -> np.ndarray:
        """The numbers a kernel needs, at a time [s]; not to be changed."""
        return self.placed(*self.pose(time), time) if self.moves else self._at_rest

    @property
    def moves(self) -> bool:
        """Whether it does not always stay where and as it is."""
        return self.motion is not None

    @cached_property
    def _frame(self) -> tuple[np.ndarray, np.ndarray]:
        return self.frame()

    @cached_property
    def _at_rest(self) -> np.ndarray:
        return self.placed(*self.pose(0.0), 0.0)

    def placed(self, translation: np.ndarray, rotation: np.ndarray, time: float) -> np.ndarray:
        """The numbers at a time [s] with the shape moved by a translation (3,) [m] and a rotation (3, 3)."""
        position, axes = self._frame
        return np.concatenate(
            [rotation @ position + translation, (rotation @ axes).ravel(), self.sizes(time), [self.friction]]
        )


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """The half-space behind a plane through `point` [m]; `normal` points to the free side."""

    kind: ClassVar[int] = PLANE
    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_position("point")
        object.__setattr__(self, "normal", checks.unit_vector(self.normal, "Plane: normal"))

    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.point), _axes_along(np.asarray(self.normal))

    def sizes(self, time: float = 0.0) -> tuple[float, float, float]:
        return (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball around `centre` [m]."""

    kind: ClassVar[int] = SPHERE
    centre: ArrayLike = (0.0, 0.0, 0.0)
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_position("centre")
        self._check_length("radius")

    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.centre), np.eye(3)

    def sizes(self, time: float = 0.0) -> tuple[float, float, float]:
        return (self.radius, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A block of edge lengths `size` [m] around `centre` [m]; turn it with a motion."""

    kind: ClassVar[int] = BOX
    centre: ArrayLike = (0.0, 0.0, 0.0)
    size: ArrayLike = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_position("centre")
        self._check_size()

    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.centre), np.eye(3)

    def sizes(self, time: float = 0.0) -> tuple[float, float, float]:
        a, b, c = (0.5 * float(s) for s in np.asarray(self.size))
        return (a, b, c)


@dataclass(frozen=True, eq=False)
class Container(Box):
    """A cavity of edge lengths `size` around `centre` [m] with floor and walls, open at the top (z).

    The walls are thick without end, so nothing is pushed through them; what comes down on them rests on them. Only
    vertices touch it: at the rim of the cavity an edge sinks in between its vertices.
    """

    kind: ClassVar[int] = CONTAINER


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """All points nearer than `radius` to the segment from `start` to `end` [m]."""

    kind: ClassVar[int] = CAPSULE
    start: ArrayLike = (0.0, 0.0, -0.5)
    end: ArrayLike = (0.0, 0.0, 0.5)
    radius: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        start, end = self._check_position("start"), self._check_position("end")
        self._check_length("radius")
        if np.array_equal(start, end):
            raise SceneError(
                f"{type(self).__name__}: start and end are both {start.tolist()}: move them apart, or use a Sphere."
            )

    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        start, end = np.asarray(self.start), np.asarray(self.end)
        return 0.5 * (start + end), _axes_along((end - start) / np.linalg.norm(end - start))

    def sizes(self, time: float = 0.0) -> tuple[float, float, float]:
        return (self.radius, 0.5 * float(np.linalg.norm(np.asarray(self.end) - np.asarray(self.start))), 0.0)


@dataclass(frozen=True, eq=False)
class Cylinder(Capsule):
    """A cylinder of a radius [m] with flat ends at `start` and `end` [m]."""

    kind: ClassVar[int] = CYLINDER


@dataclass(frozen=True, eq=False)
class MeshObstacle(Obstacle):
    """A triangle mesh, closed or open.

    Its vertices join those of the bodies, moved by the motion: vertices, edges and faces of both sides are seen.
    """

    mesh: TriMesh

    def positions(self, time: float) -> np.ndarray:
        """Vertices (n, 3) [m] at a time [s]."""
        translation, rotation = self.pose(time)
        return self.mesh.points @ rotation.T + translation


def checked_pose(motion: ObstacleMotion, time: float, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Translation (3,) [m] and rotation (3, 3) of a motion at a time [s], checked: the function is the user's."""
    what = f"{name}: motion at t = {time:g} s"
    translation, rotation = motion(time)
    translation = checks.vectors(translation, None, f"{what}: translation", "m")
    rotation = checks.vectors(rotation, 3, f"{what}: rotation", "1")
    error = np.abs(rotation @ rotation.T - np.eye(3)).max()
    if error > 1e-6 or np.linalg.det(rotation) < 0:
        raise SceneError(f"{what}: {rotation.tolist()} is not a rotation (R R^T differs from 1 by {error:.1e}).")
    return translation, rotation


def _axes_along(direction: np.ndarray) -> np.ndarray:
    """A rotation whose third column is a unit vector."""
    helper = np.eye(3)[np.argmin(np.abs(direction))]
    first = np.cross(helper, direction)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(direction, first), direction])
