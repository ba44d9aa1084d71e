"""How far a hinge has turned or a slider has slid, and how fast, from the poses of its bodies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.errors import SceneError
from pliant.geometry import rotations

if TYPE_CHECKING:
    from pliant.model.joints import Joint
    from pliant.model.rigid import RigidBody

WORLD = np.array([0.0, 0, 0, 1, 0, 0, 0])


class Coordinate(NamedTuple):
    """Of a joint's first body, seen from its second."""

    position: float  # [rad] or [m] from where the scene starts
    speed: float  # [rad/s] or [m/s]


def coordinate_of(joint: Joint) -> Coordinate:
    """The coordinate of a hinge or a slider in the simulation last built from the scene, or as it will start."""
    if joint.kind not in ("hinge", "slider"):
        raise SceneError(f"{joint.name}: position and speed are those of hinges and sliders.")
    a, b = joint.body_a, joint.body_b
    start_a, start_b = a.pose, WORLD if b is None else b.pose
    turn_a, turn_b = _turn(start_a, a), np.array([1.0, 0, 0, 0]) if b is None else _turn(start_b, b)
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


def _turn(start: np.ndarray, body: RigidBody) -> np.ndarray:
    """Quaternion (4,) by which a body has turned, in world axes."""
    return rotations.products(body.orientation, rotations.inverses(start[3:]))
