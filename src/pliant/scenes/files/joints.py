"""Joints of a scene as tables of a scene file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.model import Joint, RigidBody, Scene


def points_to_attach(scene: Scene, body: RigidBody) -> np.ndarray:
    """Vertices of a rigid body that were added to attach something; joints add their own again."""
    taken: set[int] = set()
    for joint in scene.joints:
        sides = (joint.body_a is body, joint.body_b is body)
        ends = [(side, vertex) for link in joint.links for side, vertex in enumerate(link)]
        ends += [*(end for dot in joint.dots for end in dot), *joint.corners]
        ends += [end for stop in joint.stops for end in stop.corners]
        taken |= {vertex for side, vertex in ends if sides[side]}
    return np.array([vertex for vertex in body.anchors if vertex not in taken], np.int64)


def describe_joint(scene: Scene, joint: Joint) -> dict[str, Any]:
    """Its table, with None for keys that are left out."""
    bodies = [body.name for body in (joint.body_a, joint.body_b) if body is not None]
    about: dict[str, Any] = {"kind": joint.kind, "bodies": bodies, "vertices": joint.vertices}
    about["point"] = joint.point.tolist() if joint.vertices is None or joint.kind == "distance" else None
    about |= {"cone": joint.cone, "twist": joint.twist, "limits": joint.bend}
    about["axis"] = None if joint.axis is None else joint.axis.tolist()
    about["stiffness"] = None if math.isinf(joint.stiffness) else joint.stiffness
    if joint.kind == "distance":
        other = np.asarray(joint.other_point).tolist() if joint.vertices is None else None
        about |= {"length": joint.length, "other_point": other, "one_sided": joint.one_sided}
    if joint.drive is not None:
        motor = joint.drive.motor
        about |= {**vars(joint.drive), "motor": None if motor is None else motor.options()}
    about["break_force"] = None if math.isinf(joint.break_force) else joint.break_force
    about["collide"] = joint.body_b is None or not {tuple(bodies), tuple(bodies[::-1])} & scene.apart
    return about
