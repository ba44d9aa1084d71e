"""Joints of a rigid body with another one, the world or vertices of a soft body: links, ropes and directions of
elements.joint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import is_one_of
from pliant.elements.joint import RATIO, JointDots, JointLinks, JointRopes
from pliant.elements.joint_drive import JointDrives
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import FIXED, Body
from pliant.model.joint_coordinates import angles_of, coordinate_of
from pliant.model.joint_drives import Drive, make_drive
from pliant.model.joint_points import add_points, axes_of
from pliant.model.joint_stops import Stop, check_stops
from pliant.model.motors import Motor
from pliant.model.rigid import RigidBody

KINDS = ("ball", "hinge", "slider", "fixed", "universal", "distance")
WITH_AXIS = ("hinge", "slider", "universal")
WITH_VERTICES = ("ball", "hinge", "slider", "fixed", "distance")


class WorldPoints(Body):
    """Points of the world that joints hold bodies at. They touch nothing and are not drawn."""

    kind = "world"

    def __init__(self, name: str, points: ArrayLike = ()):
        super().__init__(name, np.asarray(points, float).reshape(-1, 3), 0.0)
        self.subspace[:], self.touches_nothing[:] = FIXED, True

    def point(self, position: np.ndarray) -> int:
        """Its vertex at a place (3,) [m]; it is added."""
        WorldPoints.__init__(self, self.name, np.concatenate([self.initial_positions, position[None]]))
        return self.n_vertices - 1

    def blocks(self, first: int) -> list[Block]:
        return []

    @property
    def masses(self) -> np.ndarray:
        return np.zeros(self.n_vertices)

    def ingredients(self) -> dict[str, Any]:
        return {"points": self.initial_positions}


@dataclass(eq=False)
class Joint:
    """A joint of a scene. Made by Scene.add_joint; stiffness [N/m], inf: 10 m / h^2 with the larger mass.

    Of the simulation last built from the scene: `position` and `speed` of a hinge [rad], a slider or a distance [m],
    `angles` of a ball or a universal, `force` on its first body [N], `is_broken`. `motor` may be set between two steps.
    """

    kind: str
    body_a: RigidBody
    body_b: Body | None  # None: the world
    point: np.ndarray  # (3,) [m] when the scene starts
    axis: np.ndarray | None  # (3,) unit vector
    stiffness: float
    length: float | None = None  # of a distance [m]; None: what drives it holds it
    other_point: np.ndarray | None = None  # (3,) [m] on the second side of a distance
    one_sided: bool = True
    vertices: list[int] | None = None  # of its second body, if that is soft
    cone: float | None = None  # of a ball [rad]
    twist: tuple[float, float] | None = None  # limits of a ball or a universal about its axis [rad]
    bend: tuple[float, float] | None = None  # of a universal across its axis [rad]
    links: list[tuple[int, int]] = field(default_factory=list)  # vertices of both sides
    dots: list[tuple[tuple[int, int], ...]] = field(default_factory=list)  # four (side, vertex) each
    drive: Drive | None = None
    corners: list[tuple[int, int]] = field(default_factory=list)  # (side, vertex) of the drive's rows
    stops: list[Stop] = field(default_factory=list)  # of cone, twist and bend
    break_force: float = math.inf  # [N] above which it breaks
    starts_broken: bool = False  # in a checkpoint after it broke

    def __post_init__(self) -> None:
        self._force: Callable[[], np.ndarray] | None = None
        self.is_broken = self.starts_broken  # in the simulation last built from the scene

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles keep: not the simulation."""
        return {**vars(self), "_force": None}

    @property
    def motor(self) -> Motor | None:
        """What drives it; None without a motor."""
        return None if self.drive is None else self.drive.motor

    @motor.setter
    def motor(self, motor: Motor) -> None:
        checks.instance(motor, Motor, f"{self.name}: motor", "pl.Motor(speed=..., max_torque=...)")
        if self.drive is None or self.drive.motor is None:
            raise SceneError(f"{self.name} has no motor: give it one in add_joint, such as motor=pl.Motor(torque=0.0).")
        self.drive.motor = motor

    @property
    def name(self) -> str:
        """The joint as messages call it."""
        return f"the {self.kind} of {self.body_a.name} and {'the world' if self.body_b is None else self.body_b.name}"

    @property
    def position(self) -> float:
        """Angle of a hinge [rad], within half a turn, or way of a slider [m], of its first body from where the scene
        starts, seen from the second; length of a distance [m]. With vertices, the way of the first one along the axis
        of the rigid body.
        """
        return coordinate_of(self).position

    @property
    def speed(self) -> float:
        """Of its first body about the axis [rad/s] or along it [m/s], seen from the second; of a distance [m/s]."""
        return coordinate_of(self).speed

    @property
    def angles(self) -> tuple[float, float]:
        """Of a ball: between the axes of both bodies, and the twist; of a universal: bend and twist [rad]."""
        return angles_of(self)

    @property
    def force(self) -> np.ndarray:
        """(3,) [N] with which it held its first body in the last step: links, directions and drive; zero before."""
        return np.zeros(3) if self._force is None else self._force()

    @property
    def _moving(self) -> list[RigidBody]:
        """Its rigid bodies that may move; the first one if none may."""
        rigid = [body for body in (self.body_a, self.body_b) if isinstance(body, RigidBody)]
        return [body for body in rigid if not body.is_held] or [self.body_a]

    @property
    def mass(self) -> float:
        """[kg] of the heaviest of its bodies and vertices that may move."""
        masses = [body.mass for body in self._moving]
        if self.vertices is not None and self.body_b is not None:
            is_free = self.body_b.subspace[self.vertices] != FIXED
            masses += list((self.body_b.masses[self.vertices])[is_free])
        return max(masses)

    @property
    def reach(self) -> float:
        """[m] the length of its directions: a radius of gyration."""
        return math.sqrt(float(np.trace(self.body_a.inertia)) / (2 * self.body_a.mass))

    def made_of(self, first_a: int, first_b: int) -> list[Block]:
        """Its elements; first_a, first_b: the scene's numbers of the bodies' vertices 0."""
        is_rigid = math.isinf(self.stiffness) and not self.starts_broken
        k = 0.0 if self.starts_broken else RATIO * self.mass if is_rigid else self.stiffness
        first = (first_a, first_b)
        blocks: list[Block] = []
        pairs = np.array([(a + first_a, b + first_b) for a, b in self.links], np.int64).reshape(-1, 2)
        flags, weights = np.full(len(pairs), is_rigid), np.full(len(pairs), k)
        if self.kind == "distance":
            one = np.full(len(pairs), 0.0 if self.one_sided else 1.0)
            blocks.append(JointRopes(pairs, np.full(len(pairs), self.length), weights, one, flags))
        elif len(pairs):
            blocks.append(JointLinks(pairs, weights, flags))
        if self.dots:
            corners = np.array([[vertex + first[side] for side, vertex in ends] for ends in self.dots])
            own = np.full(len(corners), k / self.reach**2)
            blocks.append(JointDots(corners, own, np.full(len(corners), is_rigid)))
        for stop in self.stops:
            corners = np.array([vertex + first[side] for side, vertex in stop.corners])
            blocks.append(self._driven(Drive(stop.limits), stop.coordinate, corners, stop.lines))
        if self.drive is not None:
            corners = np.array([vertex + first[side] for side, vertex in self.corners])
            blocks.append(self._driven(self.drive, self.kind, corners, (0,)))
        return blocks

    def _driven(self, drive: Drive, coordinate: str, corners: np.ndarray, lines: tuple[int, ...]) -> JointDrives:
        """Rows of a drive at corners of the scene, about some of the joint's directions.

        A row far stiffer than what it turns takes in a step would alternate between pressing and not: the inertia is
        that about these directions, of the heavier side.
        """
        stiffness = 0.0 if self.starts_broken else self.stiffness
        if coordinate == "distance" or self.kind == "slider":
            return drive.block(coordinate, corners, stiffness, self.mass)
        axes = axes_of(self)
        inertia = min(max(body.inertia_about(self.point, axes[k]) for body in self._moving) for k in lines)
        if coordinate == "slider":  # a cone's torque is its force times an arm
            assert self.cone is not None
            inertia /= (self.reach * math.sin(self.cone)) ** 2
            return drive.block(coordinate, corners, stiffness, inertia)
        return drive.block(coordinate, corners, stiffness * self.reach**2, inertia)


def make_joint(
    kind: str, a: Any, b: Any, world: WorldPoints | None, point: ArrayLike | None, axis: ArrayLike | None,
    stiffness: float, length: float | None, other_point: ArrayLike | None, one_sided: bool,
    vertices: ArrayLike | None, cone: float | None, twist: Any, drive: dict[str, Any], break_force: float,
) -> Joint:  # fmt: skip
    """Check what a user gives, and add the points that the joint holds to its bodies; world: without a second body."""
    if not is_one_of(kind, KINDS):
        raise SceneError(f"add_joint: kind is {kind!r}: choose one of {', '.join(KINDS)}.")
    what = f"add_joint: {kind}"
    chosen = None if vertices is None else _vertices(kind, b, vertices, what)
    place = _place(kind, b, chosen, point, what)
    needs_axis = (kind in WITH_AXIS and (kind != "hinge" or chosen is None)) or cone is not None or twist is not None
    if needs_axis and axis is None:
        raise SceneError(f"{what}: the axis is missing: give a direction such as axis=(0, 0, 1).")
    with_axis = axis is not None and kind in (*WITH_AXIS, "ball")
    direction = checks.unit_vector(axis, f"{what}: axis") if axis is not None and with_axis else None
    if not checks.is_infinite(stiffness):
        checks.number(stiffness, f"{what}: stiffness", "N/m", positive=True)
    if chosen is not None and kind == "distance":
        other_point = b.initial_positions[chosen[0]]
    elif kind != "distance" and (other_point is not None or length is not None):
        raise SceneError(f"{what}: other_point and length belong to a distance; leave them out.")
    other = place if other_point is None else checks.vectors(other_point, None, f"{what}: other_point", "m")
    start = float(np.linalg.norm(other - place)) if kind == "distance" else 0.0
    bend = drive.pop("limits") if kind == "universal" else None
    stops = check_stops(what, kind, cone, twist, bend)
    if not checks.is_infinite(break_force):
        checks.number(break_force, f"{what}: break_force", "N", positive=True)
    joint = Joint(kind, a, b, place, direction, float(stiffness), None, other, one_sided, chosen, *stops)
    joint.drive, joint.break_force = make_drive(what, kind, start, **{"limits": None, **drive}), float(break_force)
    if kind == "distance":
        joint.length = _length(what, length, start, joint.drive)
    if joint.drive is not None and chosen is not None and (kind == "hinge" or len(chosen) > 1):
        raise SceneError(
            f"{what}: limits, spring, damping and motor need a slider or a distance of one vertex; attach a rigid body "
            "to the vertices and join that one."
        )
    add_points(joint, (a, world if b is None else b))
    return joint


def _length(what: str, length: float | None, start: float, drive: Drive | None) -> float | None:
    """Of a rope or rod [m]; None where limits, a spring, a damper or a motor hold the distance."""
    if length is None and drive is not None:
        return None
    if length is not None and drive is not None and drive.limits is not None:
        raise SceneError(f"{what}: length and limits are both given; leave length out, it is the upper limit.")
    return checks.number(start if length is None else length, f"{what}: length", "m", positive=True)


def _vertices(kind: str, body: Any, vertices: ArrayLike, what: str) -> list[int]:
    """Vertices of a soft body that a joint holds."""
    if body is None or isinstance(body, RigidBody):
        raise SceneError(f"{what}: vertices are those of a soft body as the second one; leave them out.")
    if kind not in WITH_VERTICES:
        raise SceneError(f"{what}: vertices have no directions to hold; choose one of {', '.join(WITH_VERTICES)}.")
    chosen = [int(v) for v in checks.selection(vertices, body.n_vertices, f"{what}: vertices of {body.name}")]
    if not chosen or (kind in ("ball", "distance") and len(chosen) > 1) or (kind == "hinge" and len(chosen) < 2):
        wanted = {"ball": "one", "distance": "one", "hinge": "two or more, on the axis,"}.get(kind, "one or more")
        raise SceneError(f"{what}: {len(chosen)} vertices of {body.name} are given; give {wanted}.")
    if kind == "hinge":
        _check_line(body.initial_positions[chosen], chosen, f"{what}: vertices of {body.name}")
    return chosen


def _check_line(places: np.ndarray, vertices: list[int], what: str) -> None:
    """Refuse places (k, 3) [m] that are not on a line."""
    arms = places - places.mean(axis=0)
    _, sizes, directions = np.linalg.svd(arms, full_matrices=False)
    off = np.linalg.norm(arms - np.outer(arms @ directions[0], directions[0]), axis=1)
    if sizes[0] == 0 or off.max() > 1e-3 * np.abs(arms).max():
        k = int(np.argmax(off))
        raise SceneError(
            f"{what}: a hinge turns about the line on which they lie, and vertex {vertices[k]} is {off[k]:g} m off it; "
            'choose others, or kind "fixed".'
        )


def _place(kind: str, body: Any, vertices: list[int] | None, point: ArrayLike | None, what: str) -> np.ndarray:
    """(3,) [m] where a joint is; of vertices, their mean, unless it is a distance from a point."""
    if vertices is not None and kind != "distance":
        if point is not None:
            raise SceneError(f"{what}: point and vertices are both given; leave point out, the vertices are held.")
        return body.initial_positions[vertices].mean(axis=0)
    if point is None:
        raise SceneError(f"{what}: the point is missing: give a place [m] such as point=(0, 0, 1).")
    return checks.vectors(point, None, f"{what}: point", "m")
