"""A rigid body: a shape whose points one pose carries (see model.carried)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER
from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import CARRIED, FIXED, Body
from pliant.model.carried import frame_of, mass_points
from pliant.model.motions import RigidMotion
from pliant.model.obstacles import ObstacleMotion, Placeable, checked_pose
from pliant.model.rigid_shapes import CORE, SLIDING_POINTS, MeshShape, rigid_shape

if TYPE_CHECKING:
    from pliant.model.model import Model

logger = logging.getLogger("pliant")

MASS_POINTS = 4
UNIT = 1e-4  # how far from 1 the length of a quaternion may be before a note is made of it

RigidForce = Callable[[np.ndarray, np.ndarray, float], ArrayLike]
RigidState = Callable[[], tuple[np.ndarray, np.ndarray]]  # pose (7,) and twist (6,)


class RigidBody(Placeable, Body):
    """A rigid body in a scene.

    Its vertices are those of the mesh it touches with, points that slide over it to wherever a round one touches, four
    points that carry its mass, and points at which joints and attachments hold it. All but the first touch nothing by
    themselves and belong to no triangle.

    The shape is in the body's own axes; its centre of mass is at `position`.
    """

    kind = "rigid"
    element_names = ("triangle", "triangles")
    settings = ("gravity", "air_damping")

    def __init__(
        self, name: str, shape: object, density: float = 1000.0, position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0), velocity: ArrayLike = (0, 0, 0), angular_velocity: ArrayLike = (0, 0, 0),
        restitution: float = 0.0, anchors: ArrayLike = (), sliding: int = 0,
    ):  # fmt: skip
        self.shape = rigid_shape(shape, name)
        self.density = checks.number(density, f"{name}: density", "kg/m^3", positive=True)
        self.restitution = checks.number(restitution, f"{name}: restitution", "1")
        if self.restitution > 1:
            raise SceneError(f"{name}: restitution is {self.restitution:g}: give a number from 0 to 1.")
        properties = self.shape.mass_properties
        self.mass = self.density * properties.volume  # [kg]
        self.inertia = self.density * (np.trace(properties.moments) * np.eye(3) - properties.moments)
        points, self._triangles = self.shape.touching_surface
        feature = self.shape.round_feature
        slides = np.zeros((0 if feature is None else SLIDING_POINTS[feature.kind], 3))
        self.sliding = np.arange(len(points), len(points) + len(slides))  # vertices that slide to where it touches
        self.core_ends = self.sliding[:0]  # those that stay at the ends of its core
        if feature is not None and feature.kind == CORE:
            slides[-2:] = feature.start, feature.end  # where spheres of grains see its core
            self.sliding, self.core_ends = self.sliding[:-2], self.sliding[-2:]
        self.mass_vertices = np.arange(MASS_POINTS) + len(points) + len(slides)
        held = np.asarray(anchors, float).reshape(-1, 3)
        masses = mass_points(self.mass, self.density * properties.moments)
        self.anchors = np.arange(len(held)) + self.mass_vertices[-1] + 1  # vertices where something is attached
        self.offsets = np.concatenate([points, slides, masses, held])
        turn = _unit_quaternion(orientation, f"{name}: orientation")
        self.pose = np.concatenate([checks.vectors(position, None, f"{name}: position", "m"), turn])
        arms = self._arms()
        super().__init__(name, self.pose[:3] + arms, 0.0)
        spin = checks.vectors(angular_velocity, None, f"{name}: angular_velocity", "rad/s")
        self.twist = np.concatenate([checks.vectors(velocity, None, f"{name}: velocity", "m/s"), spin])
        self.initial_velocities = self.twist[:3] + np.cross(spin, arms)
        self.subspace[:] = CARRIED
        self.touches_nothing[len(points) :] = True
        self._motion: ObstacleMotion | None = None  # that leads it
        self._state: RigidState | None = None
        self.provide_sliding(sliding)

    def _arms(self) -> np.ndarray:
        return self.offsets @ rotations.matrices(self.pose[3:]).T

    # --- how it is and moves ----------------------------------------------------------------------------------------

    @property
    def position(self) -> np.ndarray:
        """(3,) [m] of its centre of mass, in the simulation last built from the scene or as it will start."""
        return self._now()[0][:3].copy()

    @property
    def orientation(self) -> np.ndarray:
        """(4,) unit quaternion (w, x, y, z) from its own axes to the world's."""
        return self._now()[0][3:].copy()

    @property
    def velocity(self) -> np.ndarray:
        """(3,) [m/s] of its centre of mass."""
        return self._now()[1][:3].copy()

    @property
    def angular_velocity(self) -> np.ndarray:
        """(3,) [rad/s] in world axes."""
        return self._now()[1][3:].copy()

    @property
    def kinetic_energy(self) -> float:
        """[J], of translation and rotation."""
        pose, twist = self._now()
        spin = rotations.matrices(pose[3:]).T @ twist[3:]
        return float(0.5 * self.mass * twist[:3] @ twist[:3] + 0.5 * spin @ self.inertia @ spin)

    def _now(self) -> tuple[np.ndarray, np.ndarray]:
        return (self.pose, self.twist) if self._state is None else self._state()

    @property
    def positions(self) -> np.ndarray:
        """(k, 3) [m] of the vertices of its surface, as drawn: see `Body.positions`."""
        pose = self._now()[0]
        return self.shape.surface[0] @ rotations.matrices(pose[3:]).T + pose[:3]

    # --- how it is held ---------------------------------------------------------------------------------------------

    def pin(
        self,
        vertices: ArrayLike | None = None,
        until: float | None = None,
        components: str = "xyz",
        clamped: bool = False,
    ) -> None:
        """Hold it where it starts, as a whole and for good: vertices, until, components and clamped, as of Body.pin,
        are refused.
        """
        if components != "xyz":
            raise SceneError(
                f"{self.name}.pin: components is {components!r}; a rigid body is held as a whole. Leave it out; "
                'scene.add_joint("slider", ...) lets one slide.'
            )
        if clamped:
            self.neighbours(self.mass_vertices)  # refuses: it has none
        self._hold_whole(vertices, until, "pin")

    def move(self, motion: ObstacleMotion | None = None, *rest: Any) -> None:  # type: ignore[override]
        """Prescribe its motion: motion(t) gives a translation (3,) [m] and a rotation (3, 3) away from where it
        starts, as of obstacles. The motions of `pliant.motions` (Slide.rigid and so on) can be kept in files; other
        functions cannot.
        """
        if not callable(motion) or rest:
            raise SceneError(
                f"{self.name}.move: the motion is {motion!r}; a rigid body moves as a whole: give a function of the "
                "time [s] that returns a translation (3,) [m] and a rotation (3, 3)."
            )
        self._hold_whole(None, None, "move")
        self._motion = motion
        self._lead(motion)

    def _lead(self, motion: ObstacleMotion) -> None:
        """Let its vertices, as many as there are now, follow a motion."""
        own: Any = _LedPoints(self.name, motion, self.initial_positions)
        if isinstance(motion, RigidMotion):
            own = motion.of_points(self.initial_positions)
        self.motions = [(np.arange(self.n_vertices), own)]

    def _check_settable(self, name: str) -> None:
        if name in ("velocity", "angular_velocity") and not self.is_held:
            raise SceneError(
                f"{self.name}: {name!r} can be read only: give it to scene.add_rigid(..., {name}=...), or push it "
                "with add_force or a motor."
            )
        super()._check_settable(name)

    def _placed_in_simulation(self, what: str) -> Any:
        if not self.is_held:
            raise SceneError(
                f"{self.name}.{what}: it moves freely; hold it with {self.name}.pin() before you build the Simulation, "
                "or push it with add_force or a motor."
            )
        return super()._placed_in_simulation(what)

    def _hold_whole(self, vertices: ArrayLike | None, until: float | None, how: str) -> None:
        if vertices is not None or until is not None:
            raise SceneError(f"{self.name}.{how}: a rigid body is held as a whole and for good: give no vertices.")
        if self.is_held:
            raise SceneError(f"{self.name}.{how}: it is already pinned or moved; hold a body in one way.")
        self.subspace[:] = FIXED
        self.initial_velocities[:] = 0.0

    @property
    def is_held(self) -> bool:
        """Whether it is pinned or its motion is prescribed."""
        return bool((self.subspace == FIXED).all())

    def free(self, vertices: ArrayLike | None = None) -> None:
        """Undo what holds it; give no vertices, as it is held as a whole."""
        if vertices is not None:
            raise SceneError(f"{self.name}.free: a rigid body is held as a whole: give no vertices.")
        self.subspace[:], self.motions, self._motion = CARRIED, [], None
        self.initial_velocities = self.twist[:3] + np.cross(self.twist[3:], self._arms())

    def add_force(self, force: RigidForce) -> None:  # type: ignore[override]
        """Let force(position (3,) [m], velocity (3,) [m/s], time [s]) give the force (3,) [N] at its centre of mass, or
        force and torque (2, 3) [N] and [N m], in world axes. It is called once per step, with the state at its start.
        """
        super().add_force(force)  # type: ignore[arg-type]

    def set_positions(self, positions: ArrayLike) -> NoReturn:
        raise SceneError(f"{self.name}: a rigid body starts where position= and orientation= of add_rigid put it.")

    def set_velocities(self, velocities: ArrayLike) -> NoReturn:
        raise SceneError(f"{self.name}: a rigid body starts with velocity= and angular_velocity= of add_rigid.")

    def constrain_to_line(self, vertices: ArrayLike, direction: ArrayLike) -> NoReturn:
        raise SceneError(f"{self.name}: a rigid body is guided by joints: scene.add_joint('slider', ...).")

    def constrain_to_plane(self, vertices: ArrayLike, normal: ArrayLike) -> NoReturn:
        raise SceneError(f"{self.name}: vertices of a rigid body cannot be held one by one.")

    def point(self, position: ArrayLike) -> int:
        """Number of its vertex at a position (3,) [m] of the world as it starts, for Scene.attach; it is added."""
        place = checks.vectors(position, None, f"{self.name}.point", "m")
        if self.motions:
            raise SceneError(f"{self.name}.point: add points before you call move, which moves only those there are.")
        return self.add_point((place - self.pose[:3]) @ rotations.matrices(self.pose[3:]))

    def add_point(self, own: np.ndarray) -> int:
        """Number of a new vertex; own: its place (3,) [m] in the body's own axes."""
        first = int(self.mass_vertices[-1]) + 1
        self.sliding = self.sliding[self.sliding < first]  # those behind come again when a simulation is built
        self._set_last(first, np.concatenate([self.offsets[self.anchors], own[None]]))
        self.anchors = np.arange(first, len(self.offsets))
        return len(self.offsets) - 1

    def provide_sliding(self, count: int) -> None:
        """Have at least `count` vertices that slide over a round surface, if it has any; new ones come last."""
        lacking, first = count - len(self.sliding), len(self.offsets)
        if lacking > 0 and len(self.sliding):
            self._set_last(first, np.zeros((lacking, 3)))
            self.sliding = np.concatenate([self.sliding, np.arange(first, len(self.offsets))])
            if self._motion is not None:
                self._lead(self._motion)

    def _set_last(self, first: int, own: np.ndarray) -> None:
        """Let its vertices from `first` on be these, own (k, 3) [m] in the body's axes, which touch nothing."""
        self.offsets = np.concatenate([self.offsets[:first], own])
        arms, k = self._arms(), len(self.offsets)
        self.initial_positions = self.pose[:3] + arms
        is_moving = 0.0 if self.is_held else 1.0
        self.initial_velocities = is_moving * (self.twist[:3] + np.cross(self.twist[3:], arms))
        self.subspace = np.full(k, self.subspace[-1])
        self.directions = np.zeros((k, 3))
        self.touches_nothing = np.concatenate([self.touches_nothing[:first], np.ones(len(own), bool)])

    def inertia_about(self, point: ArrayLike, axis: ArrayLike) -> float:
        """[kg m^2] about an axis (3,), a unit vector, through a point (3,) [m] of the world, as it starts."""
        axis = checks.unit_vector(axis, f"{self.name}.inertia_about: axis")
        point = checks.vectors(point, None, f"{self.name}.inertia_about: point", "m")
        own, arm = rotations.matrices(self.pose[3:]).T @ axis, np.cross(axis, point - self.pose[:3])
        return float(own @ self.inertia @ own + self.mass * arm @ arm)

    # --- what it is made of -----------------------------------------------------------------------------------------

    def blocks(self, first: int) -> list[Block]:
        return []

    @property
    def masses(self) -> np.ndarray:
        masses = np.zeros(self.n_vertices)
        masses[self.mass_vertices] = self.mass / MASS_POINTS
        return masses

    def ingredients(self) -> dict[str, Any]:
        shape = self.shape.mesh if isinstance(self.shape, MeshShape) else self.shape
        return {"shape": shape, "density": self.density, "position": self.pose[:3], "orientation": self.pose[3:],
                "velocity": self.twist[:3], "angular_velocity": self.twist[3:], "restitution": self.restitution,
                "anchors": self.offsets[self.anchors], "sliding": len(self.sliding)}  # fmt: skip

    @property
    def surface(self) -> np.ndarray:
        return self._triangles


@dataclass(frozen=True)
class _LedPoints:
    """Points of a body that a function moves as a whole."""

    name: str
    motion: ObstacleMotion
    points: np.ndarray  # (k, 3) where they start [m]

    def __call__(self, time: float) -> np.ndarray:
        translation, rotation = checked_pose(self.motion, time, self.name)
        return self.points @ rotation.T + translation


@dataclass(frozen=True)
class RigidForceField:
    """A function's force and torque on a rigid body, as accelerations of the points that carry its mass."""

    body: RigidBody
    vertices: np.ndarray  # (4,) mass points
    function: RigidForce

    def add_to(self, forces: np.ndarray, x: np.ndarray, v: np.ndarray, time: float) -> None:
        """Forces of sum f and torque: m_i (f / m + alpha x r_i) with the angular acceleration I alpha = torque."""
        points, mass = x[self.vertices], self.body.mass / MASS_POINTS
        given = np.asarray(self.function(points.mean(axis=0), v[self.vertices].mean(axis=0), time))
        pair = np.stack([given, np.zeros(3)]) if given.shape == (3,) else given
        force, torque = checks.vectors(pair, 2, f"{self.body.name}: force at t = {time:g} s", "N, N m")
        arms = points - points.mean(axis=0)
        moments = mass * arms.T @ arms
        turning = np.linalg.solve(np.trace(moments) * np.eye(3) - moments, torque)
        forces[self.vertices] += force / MASS_POINTS + mass * np.cross(turning, arms)


def _unit_quaternion(given: ArrayLike, what: str) -> np.ndarray:
    try:
        turn = np.asarray(given, float)
    except NO_NUMBER:
        turn = np.zeros(0)
    if turn.shape != (4,) or not np.isfinite(turn).all() or not np.linalg.norm(turn) > 0:
        raise SceneError(f"{what} is {given!r}: give a quaternion (w, x, y, z) that is not zero.")
    length = np.linalg.norm(turn)
    if abs(length - 1) > UNIT:
        logger.info("%s has the length %g; it is divided by it.", what, length)
    return turn if abs(length - 1) <= 4 * np.finfo(float).eps else turn / length


def initial_poses(model: Model, bodies: Sequence[Body]) -> dict[str, Any]:
    """Poses and twists with which a simulation starts, for its State."""
    if model.carried is None:
        return {}
    twists = [body.twist for body in bodies if isinstance(body, RigidBody) and not body.is_held]
    return {"poses": model.carried.poses.copy(), "twists": np.stack(twists)}


def held_state(body: RigidBody, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pose (7,) and twist (6,) of a body that is pinned or moved, from its vertices at x and their velocities v."""
    points, speeds = x[body.mass_vertices], v[body.mass_vertices]
    arms, motion = points - points.mean(axis=0), speeds - speeds.mean(axis=0)
    moments = arms.T @ arms
    spin = np.linalg.solve(np.trace(moments) * np.eye(3) - moments, np.cross(arms, motion).sum(axis=0))
    twist = np.concatenate([speeds.mean(axis=0), spin])
    return pose_of(points, body.offsets[body.mass_vertices]), twist


def pose_of(points: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Pose (7,) at which a body carries four mass points, at offsets (4, 3) in its axes, to points (4, 3) [m]."""
    turn = rotations.from_matrix(frame_of(points) @ np.linalg.inv(frame_of(offsets)))
    return np.concatenate([points.mean(axis=0), turn])


def show_poses(bodies: Sequence[Body], state: Callable[[], Any], vertices: Callable[[int], np.ndarray]) -> None:
    """Let rigid bodies look up how they are in a simulation's state; vertices: of a body by its number."""
    free = 0
    for k, body in enumerate(bodies):
        if isinstance(body, RigidBody) and body.is_held:
            body._state = lambda body=body, k=k: held_state(body, state().x[vertices(k)], state().v[vertices(k)])
        elif isinstance(body, RigidBody):
            body._state = lambda b=free: (state().poses[b], state().twists[b])
            free += 1
