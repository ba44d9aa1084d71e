"""Joints between two rigid bodies, or a rigid body and the world: links, ropes and directions of elements.joint."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.elements.joint import RATIO, JointDots, JointLinks, JointRopes
from pliant.elements.joint_drive import JointDrives
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.body import FIXED, Body
from pliant.model.joint_coordinates import coordinate_of
from pliant.model.joint_drives import Drive, make_drive
from pliant.model.motors import Motor
from pliant.model.rigid import RigidBody

KINDS = ("ball", "hinge", "slider", "fixed", "universal", "distance")
WITH_AXIS = ("hinge", "slider", "universal")


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

    Of the simulation last built from the scene: `position` and `speed` of a hinge [rad] or a slider [m], `force` on
    its first body [N], `is_broken`. `motor` may be set between two steps.
    """

    kind: str
    body_a: RigidBody
    body_b: RigidBody | None  # None: the world
    point: np.ndarray  # (3,) [m] when the scene starts
    axis: np.ndarray | None  # (3,) unit vector
    stiffness: float
    length: float | None = None  # of a distance [m]
    other_point: np.ndarray | None = None  # (3,) [m] on the second side of a distance
    one_sided: bool = True
    links: list[tuple[int, int]] = field(default_factory=list)  # vertices of both sides
    dots: list[tuple[tuple[int, int], ...]] = field(default_factory=list)  # four (side, vertex) each
    drive: Drive | None = None
    corners: list[tuple[int, int]] = field(default_factory=list)  # (side, vertex) of the drive's rows
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
        starts, seen from the second.
        """
        return coordinate_of(self).position

    @property
    def speed(self) -> float:
        """Of its first body about the axis [rad/s] or along it [m/s], seen from the second."""
        return coordinate_of(self).speed

    @property
    def force(self) -> np.ndarray:
        """(3,) [N] with which it held its first body in the last step: links, directions and drive; zero before."""
        return np.zeros(3) if self._force is None else self._force()

    @property
    def mass(self) -> float:
        """[kg] of the heavier of its bodies that may move."""
        bodies = [body for body in (self.body_a, self.body_b) if body is not None and not body.is_held]
        return max((body.mass for body in bodies), default=self.body_a.mass)

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
        if self.drive is not None:
            blocks.append(self._driven(np.array([vertex + first[side] for side, vertex in self.corners])))
        return blocks

    def _driven(self, corners: np.ndarray) -> JointDrives:
        """Rows of its drive at corners (4,) of the scene."""
        assert self.drive is not None
        assert self.axis is not None
        stiffness = 0.0 if self.starts_broken else self.stiffness
        if self.kind == "slider":
            return self.drive.block(self.kind, corners, stiffness, self.mass)
        moving = [body for body in (self.body_a, self.body_b) if body is not None and not body.is_held]
        inertia = max(body.inertia_about(self.point, self.axis) for body in moving or [self.body_a])
        return self.drive.block(self.kind, corners, stiffness * self.reach**2, inertia)


def make_joint(
    kind: str, a: Any, b: Any, world: WorldPoints | None, point: ArrayLike, axis: ArrayLike | None, stiffness: float,
    length: float | None, other_point: ArrayLike | None, one_sided: bool, drive: dict[str, Any], break_force: float,
) -> Joint:  # fmt: skip
    """Check what a user gives, and add the points that the joint holds to its bodies; world: without a second body."""
    if kind not in KINDS:
        raise SceneError(f"add_joint: kind is {kind!r}: choose one of {', '.join(KINDS)}.")
    what = f"add_joint: {kind}"
    place = checks.vectors(point, None, f"{what}: point", "m")
    if kind in WITH_AXIS and axis is None:
        raise SceneError(f"{what}: the axis is missing: give a direction such as axis=(0, 0, 1).")
    direction = None if axis is None or kind not in WITH_AXIS else checks.unit_vector(axis, f"{what}: axis")
    if stiffness != math.inf:
        checks.number(stiffness, f"{what}: stiffness", "N/m", positive=True)
    other = place if other_point is None else checks.vectors(other_point, None, f"{what}: other_point", "m")
    if kind == "distance":
        length = float(np.linalg.norm(other - place)) if length is None else length
        checks.number(length, f"{what}: length", "m", positive=True)
    elif other_point is not None or length is not None:
        raise SceneError(f"{what}: other_point and length belong to a distance; leave them out.")
    if break_force != math.inf:
        checks.number(break_force, f"{what}: break_force", "N", positive=True)
    joint = Joint(kind, a, b, place, direction, float(stiffness), length, other, one_sided)
    joint.drive, joint.break_force = make_drive(what, kind, **drive), float(break_force)
    sides: tuple[Any, Any] = (a, world if b is None else b)
    if kind == "distance":
        joint.links.append((a.point(place), sides[1].point(other)))
        return joint
    for offset in _link_offsets(joint):
        joint.links.append((a.point(place + offset), sides[1].point(place + offset)))
    _add_dots(joint, sides)
    if joint.drive is not None:
        _add_corners(joint, sides)
    return joint


def _axes(joint: Joint) -> np.ndarray:
    """(3, 3) rows: its axis, and two across it."""
    axis = np.array([0.0, 0.0, 1.0]) if joint.axis is None else joint.axis
    one = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    one /= np.linalg.norm(one)
    return np.stack([axis, one, np.cross(axis, one)])


def _link_offsets(joint: Joint) -> list[np.ndarray]:
    """Where (3,) [m], from its point, both sides stay together."""
    axis, one, two = joint.reach * _axes(joint)
    if joint.kind == "hinge":
        return [axis, -axis]
    if joint.kind == "fixed":
        return [one, -0.5 * one + math.sqrt(0.75) * two, -0.5 * one - math.sqrt(0.75) * two]
    return [] if joint.kind == "slider" else [np.zeros(3)]


def _add_dots(joint: Joint, sides: tuple[Any, Any]) -> None:
    axis, one, two = joint.reach * _axes(joint)

    def direction(side: int, offset: np.ndarray) -> tuple[tuple[int, int], ...]:
        return tuple((side, sides[side].point(joint.point + end)) for end in (np.zeros(3), offset))

    if joint.kind == "universal":
        joint.dots.append((*direction(0, axis), *direction(1, one)))
    if joint.kind == "slider":
        for mine, theirs in ((one, two), (one, axis), (two, axis)):
            joint.dots.append((*direction(0, mine), *direction(1, theirs)))
        for across in (one, two):
            apart = ((0, sides[0].point(joint.point)), (1, sides[1].point(joint.point)))
            joint.dots.append((*apart, *direction(1, across)))


def _add_corners(joint: Joint, sides: tuple[Any, Any]) -> None:
    """The points of its coordinate (elements.joint_drive)."""
    axis, one, _ = _axes(joint)
    if joint.kind == "slider":
        places = [(0, np.zeros(3)), (1, np.zeros(3)), (1, np.zeros(3)), (1, axis)]
    else:
        places = [(1, -joint.reach * axis), (1, joint.reach * axis), (1, joint.reach * one), (0, joint.reach * one)]
    joint.corners += [(side, sides[side].point(joint.point + offset)) for side, offset in places]
