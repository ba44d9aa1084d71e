"""How far a joint has turned or slid, and how fast, from the poses of its bodies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.errors import SceneError
from pliant.geometry import rotations
from pliant.model.joint_points import axes_of
from pliant.model.rigid import RigidBody

if TYPE_CHECKING:
    from pliant.model.joints import Joint

WORLD = np.array([0.0, 0, 0, 1, 0, 0, 0])
NO_TURN = WORLD[3:]


class Coordinate(NamedTuple):
    """Of a joint's first body, seen from its second."""

    position: float  # [rad] or [m] from where the scene starts
    speed: float  # [rad/s] or [m/s]; nan of vertices


def coordinate_of(joint: Joint) -> Coordinate:
    """The coordinate of a hinge, slider or distance in the simulation last built from the scene, or as it will
    start.
    """
    if joint.kind not in ("hinge", "slider", "distance") or (joint.kind == "hinge" and joint.vertices is not None):
        raise SceneError(f"{joint.name}: hinges, sliders and distances of rigid bodies have a position and a speed.")
    a, b = joint.body_a, joint.body_b
    if b is not None and not isinstance(b, RigidBody):
        return _of_vertex(joint)
    if joint.kind == "distance":
        return _distance(joint, b)
    start_a, start_b = a.pose, WORLD if b is None else b.pose
    turn_a, turn_b = _turn(a), NO_TURN if b is None else _turn(b)
    axis = rotations.matrices(turn_b) @ joint.axis
    spin_b = np.zeros(3) if b is None else b.angular_velocity
    if joint.kind == "hinge":
        w, *vector = rotations.products(rotations.inverses(turn_b), turn_a)
        angle = 2 * math.atan2(float(np.array(vector) @ joint.axis), float(w))
        return Coordinate(math.pi - (math.pi - angle) % (2 * math.pi), float((a.angular_velocity - spin_b) @ axis))
    place_a = a.position + rotations.matrices(turn_a) @ (joint.point - start_a[:3])
    centre = np.zeros(3) if b is None else b.position
    place_b = centre + rotations.matrices(turn_b) @ (joint.point - start_b[:3])
    velocity = a.velocity + np.cross(a.angular_velocity, place_a - a.position)
    velocity -= (np.zeros(3) if b is None else b.velocity) + np.cross(spin_b, place_a - centre)
    return Coordinate(float((place_a - place_b) @ axis), float(velocity @ axis))


def angles_of(joint: Joint) -> tuple[float, float]:
    """Swing and twist of a ball, or bend and twist of a universal [rad]: of its first body, seen from the second."""
    if joint.kind not in ("ball", "universal") or joint.axis is None or joint.vertices is not None:
        raise SceneError(f"{joint.name}: angles are those of universals, and of balls with an axis, of rigid bodies.")
    b = joint.body_b
    turn_b = _turn(b) if isinstance(b, RigidBody) else NO_TURN
    R = rotations.matrices(rotations.products(rotations.inverses(turn_b), _turn(joint.body_a)))
    axis, one, two = axes_of(joint)
    tip = R @ axis
    if joint.kind == "universal":
        seen = R.T @ one
        return math.atan2(-float(two @ tip), float(axis @ tip)), -math.atan2(float(two @ seen), float(one @ seen))
    swing = math.atan2(float(np.linalg.norm(np.cross(axis, tip))), float(axis @ tip))
    return swing, math.atan2(float(two @ R @ one), float(one @ R @ one))


def _distance(joint: Joint, b: RigidBody | None) -> Coordinate:
    place_a, velocity_a = _moving_point(joint.body_a, joint.point)
    place_b, velocity_b = (joint.other_point, np.zeros(3)) if b is None else _moving_point(b, joint.other_point)
    r = place_a - place_b
    length = float(np.linalg.norm(r))
    return Coordinate(length, float((velocity_a - velocity_b) @ r) / max(length, 1e-30))


def _moving_point(body: RigidBody, start: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Place [m] and velocity [m/s] of a point (3,) of a body that the scene starts with."""
    arm = rotations.matrices(_turn(body)) @ (start - body.pose[:3])
    return body.position + arm, body.velocity + np.cross(body.angular_velocity, arm)


def _of_vertex(joint: Joint) -> Coordinate:
    """Of the first vertex of a soft body, whose velocity scenes do not show."""
    body, other = joint.body_a, joint.body_b
    assert other is not None
    assert joint.vertices is not None
    if joint.kind == "distance":
        way = other.positions[joint.vertices[0]] - _moving_point(body, joint.point)[0]
        return Coordinate(float(np.linalg.norm(way)), math.nan)
    start = other.initial_positions[joint.vertices[0]]
    way = other.positions[joint.vertices[0]] - _moving_point(body, start)[0]
    return Coordinate(float(way @ (rotations.matrices(_turn(body)) @ joint.axis)), math.nan)


def _turn(body: RigidBody) -> np.ndarray:
    """Quaternion (4,) by which a body has turned, in world axes."""
    return rotations.products(body.orientation, rotations.inverses(body.pose[3:]))
